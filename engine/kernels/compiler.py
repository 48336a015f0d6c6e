"""Compiles a kernel to an object file, with numba: the only module that a finished cache spares.

What numba makes of a function is called in numba's own way and brings along what Python would need
of it. Here it becomes one C function that depends on nothing but libc.
"""

import ctypes
import importlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

from llvmlite import binding as llvm
from numba import config, njit, types
from numba.core.codegen import get_host_cpu_features

from engine.errors import EngineError
from engine.kernels.processor import untold_features

_TILE_KERNELS = (
    "multiply_tile",
    "multiply_row",
    "multiply_rows",
    "multiply_panel",
    "multiply_columns",
    "attend_numbers",
    "attend_bytes",
)
_ARRAY = types.CPointer(types.int64)
_OPERATION = types.void(_ARRAY, _ARRAY, types.int64, types.int64)
_OPTIONS = {"error_model": "numpy", "boundscheck": False}


_OK, _OK_NONE = 0, -2
"""What numba's functions return when they have raised nothing (numba.core.callconv)."""
_MEMORY = "\n".join(
    f"define linkonce ptr @{name}() {{ call void @abort() unreachable }}"
    for name in ("NRT_Allocate", "NRT_Free", "NRT_MemInfo_call_dtor")
)
"""What numba calls to raise, and to free an array whose last reference is gone. A kernel that
raises ends the process, and its arrays are views of addresses, which have no owner."""


def compile_kernel(kernel: Callable[..., None], path: str, name: str) -> bytes:
    """Object code of a kernel with the tile kernels of a path, as the C function `name`.

    An operation becomes `void(int64*, int64*, int64, int64)`; other functions take int64 only.
    """
    assert isinstance(kernel, FunctionType)
    _complete_features()
    arguments = kernel.__code__.co_varnames[: kernel.__code__.co_argcount]
    integers = types.void(*[types.int64] * len(arguments))
    signature = _OPERATION if arguments[0] == "operands" else integers
    dispatcher = njit(signature, **_OPTIONS)(_bound(kernel, path))
    (compiled,) = dispatcher.overloads.values()
    return _object_code(compiled.library, compiled.fndesc.llvm_func_name, signature.args, name)


def _complete_features() -> None:
    """Let numba know what the paths are chosen by, before it first makes code for this CPU."""
    if config.CPU_FEATURES is None and untold_features():
        more = [f"+{feature}" for feature in sorted(untold_features())]
        config.CPU_FEATURES = ",".join([get_host_cpu_features(), *more])


def _bound(function: FunctionType, path: str) -> Callable[..., None]:
    """A copy of the function that sees the tile kernels of `path`."""
    module = importlib.import_module(f"engine.kernels.{path}")
    seen = {name: getattr(module, name) for name in _TILE_KERNELS}
    return FunctionType(function.__code__, {**function.__globals__, **seen}, function.__name__)


def _require_only_libc(module: Any, name: str) -> None:
    """EngineError for a kernel that calls what the process that loads it may not have: LLVM would
    end that."""
    libc = ctypes.CDLL(None)
    for function in module.functions:
        called = function.is_declaration and not function.name.startswith("llvm.")
        if called and not hasattr(libc, function.name):
            raise EngineError(f"the kernel {name} calls {function.name}, which is not libc's")


def _object_code(library: Any, native: str, arguments: Any, name: str) -> bytes:
    """The function `native` behind a C function, and nothing that this one does not need.

    numba's own functions take the places of a result and of an exception in front of the arguments
    (numba.core.callconv).
    """
    module = llvm.parse_bitcode(library._final_module.as_bitcode())
    kinds = ["i64" if argument == types.int64 else "ptr" for argument in arguments]
    given = ", ".join(f"{kind} %{index}" for index, kind in enumerate(kinds))
    module.link_in(
        llvm.parse_assembly(
            f"""
            declare i32 @"{native}"(ptr, ptr, {", ".join(kinds)})
            define void @"{name}"({given}) {{
              %result = alloca ptr
              %exception = alloca ptr
              %status = call i32 @"{native}"(ptr %result, ptr %exception, {given})
              switch i32 %status, label %raised [ i32 {_OK}, label %end i32 {_OK_NONE}, label %end ]
            raised:
              call void @abort()
              unreachable
            end:
              ret void
            }}
            declare void @abort()
            {_MEMORY}
            """
        )
    )
    for part in (*module.functions, *module.global_variables):
        if not part.is_declaration and part.name != name:
            part.linkage = "internal"
    machine = library._codegen._tm
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.PipelineTuningOptions()))
    module.verify()
    _require_only_libc(module, name)
    code: bytes = machine.emit_object(module)
    return code
