"""What a CPU is found to be able to do, where LLVM does not tell all of it."""

import ctypes
import platform
from types import SimpleNamespace

import pytest

from engine.kernels import dispatch, processor


@pytest.fixture
def on_arm(monkeypatch):
    """``on_arm(bits)``: ARM, whose getauxval(3) tells of these features and LLVM of none."""

    def become(bits):
        monkeypatch.delenv("NUMBA_CPU_FEATURES", raising=False)
        monkeypatch.setattr(platform, "machine", lambda: "aarch64")
        libc = SimpleNamespace(getauxval=lambda _: bits)
        monkeypatch.setattr(ctypes, "CDLL", lambda _: libc)
        features = SimpleNamespace(flatten=lambda: "+fp-armv8,-sve")
        monkeypatch.setattr(processor.llvm, "get_host_cpu_features", lambda: features)

    for cached in (processor.cpu_features, processor.untold_features):
        cached.cache_clear()
    yield become
    monkeypatch.undo()
    for cached in (processor.cpu_features, processor.untold_features):
        cached.cache_clear()


@pytest.mark.parametrize(
    ("bits", "paths"),
    [
        (0x10_0002, ["neon", "armv8", "portable"]),  # asimddp, asimd: Raspberry Pi 5
        (0x00_0002, ["armv8", "portable"]),  # Raspberry Pi 4
        (0, ["portable"]),
    ],
)
def test_arm_tells_its_features_itself(on_arm, bits, paths):
    on_arm(bits)
    assert dispatch.available_paths() == paths


def test_what_is_chosen_by_hand_is_not_added_to(on_arm, monkeypatch):
    on_arm(0x10_0002)
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "+neon")
    assert dispatch.available_paths() == ["armv8", "portable"]
