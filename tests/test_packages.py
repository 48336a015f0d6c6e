"""import-linter sees packages only: a folder without ``__init__.py`` would never be checked."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
LINTED = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]


def test_every_folder_of_modules_is_a_package():
    for package in LINTED["root_packages"]:
        folders = {file.parent for file in (ROOT / package).rglob("*.py")}
        assert folders
        assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []
