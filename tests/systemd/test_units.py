"""The units as systemd itself judges them, and the scripts that install and remove them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "systemd"
UNITS = sorted(path for path in FOLDER.iterdir() if path.suffix != ".sh")
SERVICES = [path for path in UNITS if path.suffix == ".service"]
EXPOSURE = 2.0
"""systemd's own score of what a broken-into service could reach, 0 (nothing) to 10."""

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed"
)


def run(*command, check=True):
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=60, check=check
    )


@pytest.fixture
def environment(tmp_path):
    """What looks like a Python environment with hubd in it."""
    program = tmp_path / "python" / "bin" / "hubd"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m hubd "$@"\n')
    program.chmod(0o755)
    return tmp_path / "python"


@needs_systemd
def test_systemd_finds_nothing_to_complain_about(tmp_path, environment):
    folder = tmp_path / "units"
    folder.mkdir()
    for unit in UNITS:
        text = unit.read_text().replace("/opt/hubd/bin/hubd", f"{environment}/bin/hubd")
        (folder / unit.name).write_text(text)
    found = run("systemd-analyze", "verify", *sorted(folder.iterdir()), check=False)
    assert (found.returncode, found.stderr) == (0, "")


@needs_systemd
@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.name)
def test_a_service_that_is_broken_into_reaches_little(unit):
    found = run("systemd-analyze", "security", "--offline=true", unit).stdout
    line = found.strip().splitlines()[-1]
    assert float(line.split(": ")[1].split()[0]) <= EXPOSURE, found


def test_what_the_units_run_is_a_command(environment):
    for unit in SERVICES:
        command = unit.read_text().split("ExecStart=/opt/hubd/bin/hubd ")[1].splitlines()[0]
        assert "Usage:" in run(environment / "bin" / "hubd", command.split()[0], "--help").stdout


def installed(root, environment):
    return run(FOLDER / "install.sh", "--root", root, "--environment", environment)


def test_installing_twice_is_installing_once(tmp_path, environment):
    root = tmp_path / "root"
    for _ in range(2):
        installed(root, environment)
        secret = root / "etc" / "hubd" / "credentials"
        assert secret.stat().st_mode & 0o777 == 0o700
        (secret / "HUBD_HTTP_TOKEN").write_text("kept")
    placed = {path.name for path in (root / "etc/systemd/system").iterdir()}
    assert placed == {unit.name for unit in UNITS}
    assert (root / "opt/hubd/bin/hubd").resolve() == environment / "bin" / "hubd"
    assert (secret / "HUBD_HTTP_TOKEN").read_text() == "kept"


def test_uninstalling_leaves_the_data_unless_told(tmp_path, environment):
    root = tmp_path / "root"
    installed(root, environment)
    data = root / "var/lib/private/hubd"
    data.mkdir(parents=True)
    (data / "hubd.db").write_text("the family's")
    for _ in range(2):
        said = run(FOLDER / "uninstall.sh", "--root", root).stdout
        assert "stays" in said
        assert not (root / "opt/hubd").exists()
        assert list((root / "etc/systemd/system").iterdir()) == []
        assert (data / "hubd.db").exists()
    assert (environment / "bin" / "hubd").exists()
    run(FOLDER / "uninstall.sh", "--root", root, "--data")
    assert not data.exists()
    assert not (root / "etc/hubd").exists()


def test_an_environment_without_hubd_is_refused(tmp_path):
    refused = run(FOLDER / "install.sh", "--root", tmp_path, "--environment", tmp_path, check=False)
    assert refused.returncode == 1
    assert "no bin/hubd" in refused.stderr


@pytest.mark.parametrize("script", ["install.sh", "uninstall.sh"])
def test_a_wrong_option_does_nothing_and_says_how_it_is_used(script):
    refused = run(FOLDER / script, "--rot", check=False)
    assert refused.returncode == 2
    assert "usage:" in refused.stderr
