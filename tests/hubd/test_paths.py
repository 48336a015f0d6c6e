"""Where the home is, by environment; directories private; socket paths short enough."""

import os
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubd.errors import HubError
from hubd.paths import SOCKET_PATH_LIMIT, create_directories, find_paths


def test_hubd_home_holds_everything(tmp_path):
    paths = find_paths({"HUBD_HOME": str(tmp_path / "h"), "STATE_DIRECTORY": "/elsewhere"})
    assert paths.config_file == tmp_path / "h" / "hubd.toml"
    assert paths.data == tmp_path / "h" / "data"
    assert paths.cache == tmp_path / "h" / "cache"
    assert paths.models == tmp_path / "h" / "models"


def test_under_systemd_its_directories_are_used():
    paths = find_paths(
        {
            "STATE_DIRECTORY": "/var/lib/hubd:/var/lib/other",
            "CACHE_DIRECTORY": "/var/cache/hubd",
            "RUNTIME_DIRECTORY": "/run/hubd",
            "CONFIGURATION_DIRECTORY": "/etc/hubd",
        }
    )
    assert paths.data == Path("/var/lib/hubd")
    assert paths.models == Path("/var/lib/hubd/models")
    assert paths.socket == Path("/run/hubd/hubd.sock")
    assert paths.config_file == Path("/etc/hubd/hubd.toml")


def test_otherwise_the_xdg_directories(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    paths = find_paths({})
    assert paths.data == tmp_path / "share" / "hubd"
    assert paths.config_file == tmp_path / "config" / "hubd" / "hubd.toml"


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=120))
def test_socket_paths_fit_for_every_home(name):
    paths = find_paths({"HUBD_HOME": f"/home/{name}"})
    assert len(os.fsencode(paths.socket)) <= SOCKET_PATH_LIMIT
    assert len(os.fsencode(paths.engine_socket)) <= SOCKET_PATH_LIMIT


def test_a_long_home_gets_one_private_runtime_directory_of_its_own(tmp_path):
    long, other = tmp_path / ("a" * 100), tmp_path / ("b" * 100)
    first, second = (find_paths({"HUBD_HOME": str(home)}) for home in (long, other))
    assert first.run == find_paths({"HUBD_HOME": str(long)}).run
    assert first.run != second.run


def test_directories_are_made_for_the_owner_alone(tmp_path):
    paths = find_paths({"HUBD_HOME": str(tmp_path / "h")})
    create_directories(paths)
    for directory in (paths.data, paths.cache, paths.models, paths.run):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_without_a_session_the_runtime_directory_is_private_and_always_the_same(tmp_path):
    environment = {"XDG_RUNTIME_DIR": str(tmp_path / "none"), "STATE_DIRECTORY": str(tmp_path)}
    assert find_paths(environment).run == find_paths(environment).run
    assert find_paths(environment).run.parent == Path(tempfile.gettempdir())


def test_a_home_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HubError, match="cannot create") as caught:
        create_directories(find_paths({"HUBD_HOME": str(tmp_path / "file")}))
    assert "HUBD_HOME" in caught.value.hint
