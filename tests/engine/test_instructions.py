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

from engine.formats.packed import SUPER, SUPER_BITS, SUPER_BLOCKS
from engine.kernels import armv8, avx2, avx512vnni, avxvnni, dispatch, neon
from engine.kernels.asking import ahead
from engine.kernels.byte_scores import emit_scores
from engine.kernels.byte_values import emit_values
from engine.kernels.byte_weights import emit_weights
from engine.kernels.panels import emit_panel
from engine.kernels.simd import emit_row, emit_tile
from engine.kernels.softmax import emit_softmax
from engine.kernels.vectors import I64

KERNEL_TESTS = Path(__file__).with_name("test_kernels.py")
X86, ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"
TARGETS = {
    "avx512vnni": (avx512vnni, X86, "icelake-server", r"vpdpbusd\s.*%zmm"),
    "avxvnni": (avxvnni, X86, "alderlake", r"\{vex\}\s+vpdpbusd\s.*%ymm"),
    "avx2": (avx2, X86, "haswell", r"vpmaddubsw\s.*%ymm"),
    "neon": (neon, ARM, "cortex-a76", r"sdot\s+v\d+\.4s"),
    "armv8": (armv8, ARM, "cortex-a72", r"sad(?:alp|dlp)\s+v\d+\.4s"),
}
BYTES_AT_ONCE = {"avx512vnni": 64, "neon": 16, "armv8": 16}
"""Of the instruction; 32 of others."""
FEW_REGISTERS = ["avxvnni", "avx2", "neon", "armv8"]


@pytest.fixture(scope="module", autouse=True)
def _all_targets():
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()


def assembly(emit_code, arguments, triple, cpu):
    """What the code of a kernel, of so many int64, becomes on a CPU."""
    module = ir.Module("kernel")
    module.triple = triple
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [I64] * arguments), "kernel")
    builder = ir.IRBuilder(function.append_basic_block())
    emit_code(builder, list(function.args))
    builder.ret_void()
    machine = binding.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=3)
    parsed = binding.parse_assembly(str(module))
    parsed.verify()
    options = binding.PipelineTuningOptions(speed_level=3)
    passes = binding.create_pass_builder(machine, options)
    passes.getModulePassManager().run(parsed, passes)
    return machine.emit_assembly(parsed)


@pytest.mark.parametrize("path", TARGETS)
@pytest.mark.parametrize("bits", [4, 5, 6, 8, *SUPER_BITS])
@pytest.mark.parametrize(("columns", "width"), [(1, 1), (4, 8), (8, 8)])
def test_a_block_is_multiplied_by_the_instruction_of_the_path(path, bits, columns, width):
    """As often as the 512 weights of each block need, and with no call into a library."""
    module, triple, cpu, instruction = TARGETS[path]

    def tile(builder, arguments):
        emit_tile(builder, bits, columns, width, module.DOT, arguments)

    text = assembly(tile, 7, triple, cpu)
    found = re.findall(instruction, text)
    bytes_at_once = BYTES_AT_ONCE.get(path, 32)
    assert len(found) >= columns * 512 // bytes_at_once
    assert not re.search(r"\b(callq?|bl)\b", text)


@pytest.mark.parametrize("path", FEW_REGISTERS)
@pytest.mark.parametrize("bits", [4, 5, 6, 8])
def test_weights_meet_four_columns_in_registers(path, bits):
    """Column after column, the code of a block of four reads the stack 51 to 97 times for the
    weights and sums that have no register, 192 to 200 without a dot product."""
    module, triple, cpu, _ = TARGETS[path]
    in_order, as_llvm_likes = (
        assembly(
            lambda builder, given, dot=dot: emit_tile(builder, bits, 4, 8, dot, given),
            7, triple, cpu,
        )
        for dot in (module.DOT, module.DOT._replace(few=None))
    )  # fmt: skip
    reads = r"\(%rsp\), %ymm|ld[rp]\s+q.*\[sp"
    few, many = (len(re.findall(reads, text)) for text in (in_order, as_llvm_likes))
    assert few < 0.8 * many


@pytest.mark.parametrize("path", TARGETS)
@pytest.mark.parametrize("bits", SUPER_BITS)
def test_a_row_asks_for_one_block_after_the_other(monkeypatch, path, bits):
    """The blocks of a super-block follow each other; what they ask for does not come first."""
    monkeypatch.setenv("NUMBA_CPU_NAME", "alderlake")
    module, triple, cpu, instruction = TARGETS[path]
    text = assembly(
        lambda builder, given: emit_row(builder, bits, module.DOT, given), 7, triple, cpu
    )
    bytes_at_once = BYTES_AT_ONCE.get(path, 32)
    found = [match.start() for match in re.finditer(instruction, text)]
    assert len(found) >= SUPER_BLOCKS * 512 // bytes_at_once
    asked = [match.start() for match in re.finditer(r"\b(prefetcht1|prfm)\b", text)]
    assert sum(at > found[len(found) // 2] for at in asked) >= len(asked) // 4 > 0
    assert not re.search(r"\b(callq?|bl)\b", text)


@pytest.mark.parametrize(
    ("processor", "bits", "columns", "distance"),
    [
        ("alderlake", 4, 1, 2048),
        ("znver4", 4, 1, 1024),
        ("znver3", SUPER + 5, 1, 0),
        ("znver3", 8, 8, 4096),
        ("sapphirerapids", SUPER + 5, 1, 2048),
        ("sapphirerapids", 8, 2, 4096),
    ],
)
def test_what_is_asked_for_goes_by_the_processor(monkeypatch, processor, bits, columns, distance):
    monkeypatch.setenv("NUMBA_CPU_NAME", processor)
    module, triple, cpu, _ = TARGETS["avx2"]

    def tile(builder, arguments):
        emit_tile(builder, bits, columns, 8, module.DOT, arguments)

    assert ahead(bits, columns) == distance
    assert ("prefetcht1" in assembly(tile, 7, triple, cpu)) == bool(distance)


@pytest.mark.parametrize("path", TARGETS)
@pytest.mark.parametrize("columns", [1, 3, 8])
def test_attention_multiplies_in_vectors(path, columns):
    """Sums stay in registers: a multiplication for each, and none of them goes to the stack."""
    _, triple, cpu, _ = TARGETS[path]
    text = assembly(lambda builder, given: emit_panel(builder, columns, 1, given), 9, triple, cpu)
    lanes = BYTES_AT_ONCE.get(path, 32) // 4
    found = re.findall(r"vfn?m\S+ps|fmla\s+v\d+\.4s", text)
    assert len(found) >= columns * 16 // lanes
    assert not re.search(r"\b(callq?|bl)\b", text)


@pytest.mark.parametrize("path", TARGETS)
@pytest.mark.parametrize("columns", [2, 3, 8])
def test_attention_to_bytes_multiplies_by_the_instruction_of_the_path(path, columns):
    """Keys and values, as often as a block's products of 32 numbers and 32 positions need."""
    module, triple, cpu, instruction = TARGETS[path]
    bytes_at_once = BYTES_AT_ONCE.get(path, 32)
    for emit, arguments in ((emit_scores, 14), (emit_values, 7)):

        def panel(builder, given, emit=emit):
            emit(builder, columns, module.DOT, given)

        text = assembly(panel, arguments, triple, cpu)
        assert len(re.findall(instruction, text)) >= columns * 1024 // bytes_at_once
        assert not re.search(r"\b(callq?|bl)\b", text)


@pytest.mark.parametrize("path", TARGETS)
@pytest.mark.parametrize(
    ("emit", "arguments", "steps"), [(emit_softmax, 5, 9), (emit_weights, 6, 10)]
)
def test_softmax_is_computed_in_vectors(path, emit, arguments, steps):
    """steps: of polynomials, and of what reduces to them."""
    _, triple, cpu, _ = TARGETS[path]
    text = assembly(emit, arguments, triple, cpu)
    found = re.findall(r"vfn?m\S+ps\s.*%[yz]mm|vmulps\s.*%[yz]mm|fm(?:l[as]|ul)\s+v\d+\.4s", text)
    assert len(found) >= steps
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
