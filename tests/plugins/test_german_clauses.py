"""German clauses become sentences and tasks; what is none, or not plain, stays as it was said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.german_clauses import main_clause, task


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("dass das Essen auf dem Tisch steht", "das Essen steht auf dem Tisch"),
        ("Dass das Essen fertig ist, kommt bitte", "das Essen ist fertig, kommt bitte"),
        ("dass wir gleich losfahren", "wir fahren gleich los"),
        ("das wir gleich losfahren", "wir fahren gleich los"),
        ("dass der Bus um acht abfährt", "der Bus fährt um acht ab"),
        ("dass das Spiel um acht anfängt", "das Spiel fängt um acht an"),
        ("dass Oma angerufen hat", "Oma hat angerufen"),
        ("dass Tante Gabi um drei anruft", "Tante Gabi ruft um drei an"),
        ("dass Anna nicht antwortet", "Anna antwortet nicht"),
        ("dass Opa seine Tabletten nehmen muss", "Opa muss seine Tabletten nehmen"),
        ("dass Lotte vom Reiten abgeholt werden muss", "Lotte muss vom Reiten abgeholt werden"),
        ("dass die Impfpässe in der Schublade liegen", "die Impfpässe liegen in der Schublade"),
        ("dass mein neuer Rasenmäher im Schuppen steht", "mein neuer Rasenmäher steht im Schuppen"),
        ("dass unser Ersatzschlüssel jetzt bei Familie Kruse liegt",
         "unser Ersatzschlüssel liegt jetzt bei Familie Kruse"),
        ("dass der Schlüssel vom Schuppen am Haken hängt",
         "der Schlüssel vom Schuppen hängt am Haken"),
        ("dass Oma und Opa am Sonntag kommen", "Oma und Opa kommen am Sonntag"),
        ("dass der Zähler auf 4711 steht", "der Zähler steht auf 4711"),
        ("dass die Müllabfuhr morgen kommt", "die Müllabfuhr kommt morgen"),
        ("dass es in zehn Minuten Essen gibt", "es gibt in zehn Minuten Essen"),
        ("dass gleich Besuch kommt", "gleich kommt Besuch"),
        ("dass morgen keine Schule ist", "morgen ist keine Schule"),
        ("dass heute Abend Gäste kommen", "heute Abend kommen Gäste"),
    ],
)  # fmt: skip
def test_a_clause_becomes_a_sentence(said, sentence):
    assert main_clause(said) == sentence


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("dass das essen fertig ist", "das essen fertig ist"),  # where its noun ends is not plain
        ("dass Oma kommt morgen", "Oma kommt morgen"),
        ("dass Essen kommt", "Essen kommt"),
        ("dass den Kindern nichts fehlt", "den Kindern nichts fehlt"),
        ("das Essen auf dem Tisch steht", "das Essen auf dem Tisch steht"),
        ("das Essen ist fertig", "das Essen ist fertig"),
        ("das WLAN-Passwort ist Sommer2024", "das WLAN-Passwort ist Sommer2024"),
        ("das ist der Code", "das ist der Code"),
        ("die Tabletten mit Wasser nehmen", "die Tabletten mit Wasser nehmen"),
        ("Code 4711", "Code 4711"),
        ("dass", "dass"),
        ("", ""),
    ],
)
def test_what_is_no_clause_or_not_plain_keeps_its_order(said, kept):
    assert main_clause(said) == kept


@pytest.mark.parametrize(
    ("said", "to_do"),
    [
        ("die Wäsche aufzuhängen", "die Wäsche aufhängen"),
        ("den Wasserfilter zu wechseln", "den Wasserfilter wechseln"),
        ("der Musikgesellschaft die Offerte zu schicken",
         "der Musikgesellschaft die Offerte schicken"),
        ("Oma abzuholen und den Tisch zu decken", "Oma abholen und den Tisch decken"),
        ("einzukaufen", "einkaufen"),
        ("das Fenster zuzumachen", "das Fenster zumachen"),
        ("dass ich Emil vom Bahnhof abholen muss", "Emil vom Bahnhof abholen"),
        ("dass wir den Ofen ausschalten sollen.", "den Ofen ausschalten"),
        ("dass ich mit dem Bazi zum Tierarzt muss", "mit dem Bazi zum Tierarzt"),
        ("dass ich die Wäsche aufhänge", "die Wäsche aufhängen"),
        ("dass ich in der Maske anruf", "in der Maske anrufen"),
        ("dass ich die Blumen füttere", "die Blumen füttern"),
        ("dass ich die Reifen wechsle", "die Reifen wechseln"),
        ("dass ich die Miete überweise", "die Miete überweisen"),
        ("dass Oma zum Augenarzt muss", "Oma muss zum Augenarzt"),
        ("dass ich morgen frei habe", "ich habe morgen frei"),
    ],
)  # fmt: skip
def test_what_is_to_be_done(said, to_do):
    assert task(said) == to_do


@pytest.mark.parametrize(
    "said",
    [
        "Milch kaufen", "Müll rausbringen", "zu Oma fahren", "das Fenster zumachen",
        "zur Post gehen", "Milch kaufen, um zu backen", "etwas zu essen", "Salz hinzuzufügen",
        "zuhören", "die Haustür zu machen", "die Einzugsermächtigung", "Zahnarzt", "",
    ],
)  # fmt: skip
def test_what_says_it_already_stays(said):
    assert task(said) == said


@given(st.text("dasich wreüß,.EO", max_size=60).map(lambda said: f"dass {said}"))
def test_no_word_is_lost(said):
    letters = sorted("".join(said[5:].split()))
    assert sorted("".join(main_clause(said).removeprefix("dass ").split())) in (
        letters, sorted("".join(said.split()))
    )  # fmt: skip
    task(said)
