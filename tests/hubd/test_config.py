"""Configuration: what is allowed comes through, every kind of mistake is one line that helps."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.config import ConfigError, is_loopback, load_config
from hubd.settings import SECTIONS, Config

NOWHERE = Path("/nonexistent/hubd.toml")


@pytest.fixture
def write(tmp_path):
    file = tmp_path / "hubd.toml"

    def load(text, **environment):
        file.write_text(text, encoding="utf-8")
        return load_config(file, environment)

    load.file = file
    return load


def test_without_a_file_or_variables_everything_has_its_default(tmp_path):
    assert load_config(tmp_path / "hubd.toml", {}) == Config()
    assert Config().http.port == 8400
    assert Config().http.host == "127.0.0.1"


def test_the_file_is_read(write):
    config = write("[http]\nport = 9000\n[engine]\npreload = false\n[rag]\nidle_unload = 1.5\n")
    assert (config.http.port, config.engine.preload, config.rag.idle_unload) == (9000, False, 1.5)


def test_a_variable_wins_over_the_file(write):
    assert write("[http]\nport = 9000", HUBD_HTTP_PORT="9001").http.port == 9001


def test_short_names_stand_for_the_two_keys_that_tools_set(write):
    config = write("", HUBD_PORT="9002", HUBD_THREADS="3")
    assert (config.http.port, config.engine.threads) == (9002, 3)


def test_the_full_name_wins_over_the_short_one(write):
    assert write("", HUBD_PORT="9002", HUBD_HTTP_PORT="9003").http.port == 9003


def test_variables_of_others_are_left_alone(write):
    assert write("", HUBD_HOME="/x", HUBD_TEST_MODEL="y", PATH="z") == Config()


def test_a_list_in_a_variable_is_separated_by_commas(write):
    assert write("", HUBD_HTTP_NAMES="hub.lan, hub").http.names == ["hub.lan", "hub"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[http]\nprt = 1", ["unknown key 'prt' in [http]", "did you mean 'port'", "host, port"]),
        ("[htp]\nport = 1", ["unknown section [htp]", "did you mean 'http'", "engine"]),
        ("port = 1", ["unknown section port"]),
        ("http = 1", ["http: must be a section"]),
        ("[http]\nport = 65536", ["[http] port = 65536", "from 0 to 65535"]),
        ('[http]\nport = "8400"', ["[http] port = '8400'", "whole number"]),
        ("[engine]\npreload = 1", ["[engine] preload = 1", "true or false"]),
        ('[engine]\nurl = "ftp://x"', ["[engine] url", "http(s) address"]),
        ("[engine]\nthreads = 0", ["[engine] threads = 0", "from 1 to 1024"]),
        ("[rag]\nidle_unload = -1", ["[rag] idle_unload = -1", "seconds"]),
        ("[assistant]\ntemperature = nan", ["[assistant] temperature", "0 to 2"]),
        ('[assistant]\ntime_zone = "Mars/Base"', ["time_zone = 'Mars/Base'", "Europe/Berlin"]),
        ('[log]\nlevel = "loud"', ["[log] level = 'loud'", "debug, info, warning or error"]),
        ("[[[", ["not valid TOML"]),
    ],
)
def test_a_mistake_in_the_file_is_one_line_with_file_key_and_what_is_allowed(write, text, words):
    with pytest.raises(ConfigError) as caught:
        write(text)
    message = caught.value.message
    assert message.startswith(str(write.file))
    assert "\n" not in message
    assert [word for word in words if word not in message] == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("HUBD_PORT", "eighty", ["HUBD_PORT = 'eighty'", "from 0 to 65535"]),
        ("HUBD_ENGINE_PRELOAD", "maybe", ["HUBD_ENGINE_PRELOAD", "true or false"]),
        ("HUBD_HTTP_PRT", "1", ["HUBD_HTTP_PRT", "unknown key 'prt'", "did you mean 'port'"]),
    ],
)
def test_a_mistake_in_a_variable_names_the_variable(write, name, value, words):
    with pytest.raises(ConfigError) as caught:
        write("", **{name: value})
    assert [word for word in words if word not in caught.value.message] == []


def test_credentials_of_systemd_are_between_the_file_and_the_variables(write, tmp_path):
    folder = tmp_path / "credentials"
    folder.mkdir()
    (folder / "hubd_HUBD_HTTP_TOKEN").write_text("from a credential\n")
    (folder / "hubd_HUBD_HTTP_PORT").write_text("9002")
    (folder / "other").write_text("of another program")
    text = '[http]\ntoken = "from the file"\n'
    config = write(text, CREDENTIALS_DIRECTORY=str(folder), HUBD_HTTP_PORT="9001")
    assert (config.http.token, config.http.port) == ("from a credential", 9001)


def test_a_credential_that_is_not_text_is_told(write, tmp_path):
    (tmp_path / "hubd_HUBD_HTTP_TOKEN").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="credential"):
        write("", CREDENTIALS_DIRECTORY=str(tmp_path))


def test_a_secret_is_not_repeated(write):
    with pytest.raises(ConfigError) as caught:
        write("[http]\ntoken = 123456789")
    assert "123456789" not in caught.value.message


def test_a_file_that_is_not_utf8_is_told(write):
    write.file.write_bytes(b'[assistant]\nhousehold = "\xff"')
    with pytest.raises(ConfigError, match="not valid TOML"):
        load_config(write.file, {})


def test_other_machines_may_be_served(write):
    """Whoever calls shows a token of their own: nothing more has to be configured."""
    assert write('[http]\nhost = "0.0.0.0"').http.token == ""


@given(st.integers(-(10**6), 10**6))
def test_every_port_is_taken_or_refused_by_range(port):
    environment = {"HUBD_PORT": str(port)}
    if 0 <= port <= 65535:
        assert load_config(NOWHERE, environment).http.port == port
    else:
        with pytest.raises(ConfigError):
            load_config(NOWHERE, environment)


@given(
    st.sampled_from([(s, k) for s in SECTIONS for k in SECTIONS[s].__struct_fields__]), st.text()
)
def test_no_text_in_a_variable_does_more_than_set_the_key_or_be_refused(key, text):
    variable = f"HUBD_{key[0]}_{key[1]}".upper()
    with contextlib.suppress(ConfigError):
        assert isinstance(load_config(NOWHERE, {variable: text}), Config)


@given(st.text())
def test_is_loopback_decides_for_every_text(host):
    assert is_loopback(host) in (True, False)


def test_loopback_is_what_no_other_machine_reaches():
    assert all(map(is_loopback, ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "192.168.1.2", "hub.lan", ""]))
