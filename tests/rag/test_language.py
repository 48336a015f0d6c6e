"""Language detection, index terms and full-text queries."""

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.language import MAX_QUERY_TERMS, detect, fts_query, query_terms, terms


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What does error E24 mean?", "en"),
        ("boiler pressure", "en"),
        ("How do I cook 红烧肉?", "en"),
        ("How do I make crème brûlée?", "en"),
        ("", "en"),
        ("42", "en"),
        ("WiFi密码是多少？", "zh"),
        ("热水器的压力应该是多少", "zh"),
        ("洗衣机 E18 是什么意思", "zh"),
        ("Wie lautet das WLAN-Passwort?", "other"),
        ("Wann wird der Müll abgeholt?", "other"),
        ("Où est le compteur d'eau ?", "other"),
        ("¿Cuál es la contraseña del wifi?", "other"),
        ("Quando scade la garanzia?", "other"),
        ("Wat is het wachtwoord?", "other"),
        ("Какой пароль от вайфая?", "other"),
        ("ワイファイのパスワードは何ですか", "other"),
        ("와이파이 비밀번호가 뭐예요", "other"),
    ],
)
def test_detects_the_language(text: str, language: str) -> None:
    assert detect(text) == language


def test_a_cjk_run_becomes_bigrams_and_its_last_character() -> None:
    assert terms("热水器").split() == ["热水", "水器", "器"]
    assert terms("压力1.5bar").split() == ["压力", "力", "1.5bar"]


def test_hyphenated_words_are_indexed_joined_too() -> None:
    assert terms("Wi-Fi is on").split() == ["Wi-Fi", "is", "on", "WiFi"]
    assert terms("error E-24").split() == ["error", "E-24", "E24"]


def test_full_width_letters_are_normalised() -> None:
    assert terms("ＷｉＦｉ") == "WiFi"


def test_function_words_are_dropped_unless_nothing_remains() -> None:
    assert query_terms("What is the boiler's pressure?") == ("boiler", "pressure")
    assert query_terms("Wie hoch ist der Druck?") == ("hoch", "druck")
    assert query_terms("who is it") == ("who", "is", "it")
    assert fts_query("?!… ---") == ""


def test_a_query_is_quoted_and_bounded() -> None:
    assert fts_query('NEAR("a" b) OR wi-fi*') == '"near" OR "b" OR "wi-fi" OR "wifi"'
    assert len(query_terms(" ".join(f"w{i}" for i in range(500)))) == MAX_QUERY_TERMS


@pytest.fixture(scope="module")
def index() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'porter unicode61')")
    for text in ("The Wi-Fi password is on the router.", "热水器压力", "请把水烧开", "Fehler E-24"):
        connection.execute("INSERT INTO t (x) VALUES (?)", (terms(text),))
    return connection


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("wifi passwords", {1}),
        ("wi-fi", {1}),
        ("水", {2, 3}),
        ("器", {2}),
        ("压力多少", {2}),
        ("E24?", {4}),
        ("qwertz", set()),
    ],
)
def test_queries_find_what_was_indexed(
    index: apsw.Connection, question: str, found: set[int]
) -> None:
    rows = index.execute("SELECT rowid FROM t WHERE t MATCH ?", (fts_query(question),))
    assert {row[0] for row in rows} == found


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_makes_a_valid_query(index: apsw.Connection, text: str) -> None:
    query = fts_query(text)
    if query:
        index.execute("SELECT count(*) FROM t WHERE t MATCH ?", (query,)).fetchall()
    detect(text)


@settings(deadline=None)
@given(st.text("abcäßéXYZ019 -'热水器テ한.", max_size=40))
def test_whatever_was_indexed_is_found_by_itself(text: str) -> None:
    """A query made of a text's own words matches that text, whatever its script."""
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'porter unicode61')")
    connection.execute("INSERT INTO t (x) VALUES (?)", (terms(text),))
    query = fts_query(text)
    if any(c.isascii() and c.isalnum() for c in query):
        assert connection.execute("SELECT count(*) FROM t WHERE t MATCH ?", (query,)).get == 1
