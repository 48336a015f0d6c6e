"""Every kernel path compiles for the CPUs it is meant for, to the instructions it is there for.

This machine runs some of the paths (test_kernels.py); the code of the others is read here.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from llvmlite import binding, ir

from engine.kernels import avx2, avx512vnni, avxvnni, dispatch, neon
from engine.kernels.simd import emit_tile
from engine.kernels.vectors import I64

KERNEL_TESTS = Path(__file__).with_name("test_kernels.py")
X86, ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"
TARGETS = {
    "avx512vnni": (avx512vnni, X86, "icelake-server", r"vpdpbusd\s.*%zmm"),
    "avxvnni": (avxvnni, X86, "alderlake", r"\{vex\}\s+vpdpbusd\s.*%ymm"),
    "avx2": (avx2, X86, "haswell", r"vpmaddubsw\s.*%ymm"),
    "neon": (neon, ARM, "cortex-a76", r"sdot\s+v\d+\.4s"),
}


@pytest.fixture(scope="module", autouse=True)
def _all_targets():
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()


def assembly(dot, triple, cpu, bits, columns, width):
    """What a tile kernel becomes on a CPU."""
    module = ir.Module("kernel")
    module.triple = triple
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [I64] * 7), "tile")
    builder = ir.IRBuilder(function.append_basic_block())
    emit_tile(builder, bits, columns, width, dot, list(function.args))
    builder.ret_void()
    machine = binding.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=3)
    parsed = binding.parse_assembly(str(module))
    parsed.verify()
    options = binding.PipelineTuningOptions(speed_level=3)
    passes = binding.create_pass_builder(machine, options)
    passes.getModulePassManager().run(parsed, passes)
    return machine.emit_assembly(parsed)


@pytest.mark.parametrize("path", TARGETS)
@pytest.mark.parametrize("bits", [4, 5, 6, 8])
@pytest.mark.parametrize(("columns", "width"), [(1, 1), (4, 8), (8, 8)])
def test_a_block_is_multiplied_by_the_instruction_of_the_path(path, bits, columns, width):
    """As often as its 512 weights need, and with no call into a library."""
    module, triple, cpu, instruction = TARGETS[path]
    text = assembly(module.DOT, triple, cpu, bits, columns, width)
    found = re.findall(instruction, text)
    bytes_at_once = {"avx512vnni": 64, "neon": 16}.get(path, 32)
    assert len(found) >= columns * 512 // bytes_at_once
    assert not re.search(r"\b(callq?|bl)\b", text)


def as_on(cpu, features, path, tmp_path):
    """Run the products of test_kernels.py in a process that knows no more than an older CPU."""
    environment = os.environ | {
        "NUMBA_CPU_NAME": cpu,
        "NUMBA_CPU_FEATURES": ",".join(f"+{feature}" for feature in features.split()),
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    chosen = "from engine.kernels.dispatch import available_paths; print(available_paths()[0])"
    found = subprocess.run(
        [sys.executable, "-c", chosen], env=environment, check=True, capture_output=True, text=True
    )
    assert found.stdout.strip() == path
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(KERNEL_TESTS)]
    wanted = f"test_one_row_is_computed_like_many and {path} or test_matmul and {path} and 5-"
    subprocess.run([*command, "-k", wanted], env=environment, check=True, timeout=300)


@pytest.mark.skipif("avx2" not in dispatch.available_paths(), reason="this CPU has no AVX2")
def test_products_as_on_a_cpu_without_avx512(tmp_path):
    """The AVX2 path, and everything around it, in 32-byte registers."""
    haswell = "avx avx2 fma f16c bmi bmi2 lzcnt popcnt sse sse2 sse3 ssse3 sse4.1 sse4.2 movbe"
    as_on("haswell", haswell, "avx2", tmp_path)
