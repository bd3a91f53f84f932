"""LLVM IR → machine code, by llvmlite.

llvmlite is loaded here, with the first program that is compiled.
"""

from __future__ import annotations

import ctypes
import platform
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..form.target import Target
from ..vector_math.vector_functions import Vectors, called_in, text_of
from ..vector_math.vector_words import Shape
from .cache import cached

LEVEL = 3
LONG = 6000
"""Modules of more lines are compiled at a lower level and without unrolling loops: splitting their loops by
conditions that no turn changes takes ten times as long as all else."""


class Machine(NamedTuple):
    """What code is made for: the processor of this machine, and what it can do.

    Attributes:
        binding: `llvmlite.binding`.
        cpu: the name that LLVM has for the processor.
        features: what it can do, as LLVM writes that.
        vectors: what it has for vectors.
        versions: what took part in making code.
    """

    binding: Any
    cpu: str
    features: str
    vectors: Vectors
    versions: tuple[str, ...]


@cache
def machine() -> Machine:
    """The machine we are on.

    Raises:
        ImportError: llvmlite is not installed.
    """
    llvm = import_module("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    versions = (
        import_module("llvmlite").__version__,
        str(llvm.llvm_version_info),
        platform.python_version(),
        platform.platform(),
    )
    for name, address in blas().items():
        llvm.add_symbol(name, address)
    return Machine(
        binding=llvm,
        cpu=llvm.get_host_cpu_name(),
        features=features.flatten(),
        vectors=Vectors(_shapes(llvm, features), _libmvec(llvm, features)),
        versions=versions,
    )


_ROUTINES = ("gesv", "trtrs", "trtri", "getrf", "potrf", "syevd", "gesdd", "geqrf", "orgqr")


@cache
def _libraries() -> list[Any]:
    """The BLAS that NumPy brings, where its wheel does."""
    found: list[Any] = []
    for path in Path(np.__file__).parent.parent.glob("numpy.libs/libscipy_openblas64_*"):
        with suppress(OSError):
            found.append(ctypes.CDLL(str(path)))
    return found


@cache
def blas() -> dict[str, int]:
    """The products of matrices of the BLAS that NumPy brings, where its wheel does; by our names.

    Its routines of LAPACK as well.
    """
    for library in _libraries():
        names = {"wg_f64_gemm": "scipy_cblas_dgemm64_", "wg_f32_gemm": "scipy_cblas_sgemm64_"}
        for routine in _ROUTINES:
            names |= {f"wg_{c}_{routine}": f"scipy_{p}{routine}_64_" for c, p in _PRECISIONS}
        if all(hasattr(library, name) for name in names.values()):
            found = {ours: getattr(library, name) for ours, name in names.items()}
            return {n: ctypes.cast(f, ctypes.c_void_p).value or 0 for n, f in found.items()}
    return {}


def target() -> Target:
    """What lowering asks about the machine we are on."""
    return Target(has_blas=bool(blas()))


_PRECISIONS = (("f64", "d"), ("f32", "s"))


def _libmvec(llvm: Any, features: Any) -> tuple[tuple[str, int], ...]:
    """The widths of libmvec's functions that this machine can call."""
    try:
        library = ctypes.CDLL("libmvec.so.1")
    except OSError:
        return ()
    if not hasattr(library, "_ZGVdN4v_erf"):  # since glibc 2.35 all of them are there
        return ()
    llvm.load_library_permanently("libmvec.so.1")
    found = [("d", 4)] if features.get("avx2") else []
    return tuple([*found, ("e", 8)] if features.get("avx512f") else found)


def _shapes(llvm: Any, features: Any) -> tuple[Shape, ...]:
    """The vectors that loops are made of on this processor, if it rounds a product and a sum together."""
    architecture = llvm.get_process_triple().split("-")[0]
    if architecture in ("aarch64", "arm64"):
        return Shape("f64", 2), Shape("f32", 4)
    if not (features.get("fma") and features.get("avx2")):
        return ()
    narrow = Shape("f64", 4), Shape("f32", 4), Shape("f32", 8)
    return (*narrow, Shape("f64", 8), Shape("f32", 16)) if features.get("avx512f") else narrow


class Code:
    """Machine code; it stays as long as this object does."""

    def __init__(self, engine: Any):
        self.engine = engine
        self._called: list[Any] = []

    def address(self, name: str) -> int:
        """Where a function is."""
        return self.engine.get_function_address(name)

    def connect(self, name: str, function: Any) -> None:
        """Have a variable hold the `address` of a function, which stays as long as the code does."""
        place = ctypes.c_void_p.from_address(self.engine.get_global_value_address(name))
        place.value = function.address
        self._called.append(function)


def compiled(text: str, more: tuple[str, ...] = (), level: int = LEVEL) -> Code:
    """The machine code of a module, compiled or from the cache.

    Args:
        text: the module, in which what is made for this processor has the attributes #0.
        more: what its meaning depends on beside its text.
        level: how much it is worth to make it better; 0 if it is as good as it gets.
    """
    m = machine()
    text += f'\nattributes #0 = {{ "target-cpu"="{m.cpu}" "target-features"="{m.features}" }}\n'
    parts = (text, str(level), *m.versions, *more)
    code = cached(parts, lambda: _object_code(text, level))
    for name in called_in(code):
        _vector_function(name)
    engine = m.binding.create_mcjit_compiler(m.binding.parse_assembly(""), _target())
    engine.add_object_file(m.binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return Code(engine)


@cache
def _vector_function(name: str) -> None:
    """From now on, code that is compiled finds an elementary function of vectors."""
    m = machine()
    code = compiled(text_of(name), level=0)
    m.binding.add_symbol(name, code.address("vector"))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))  # programs call it as long as they live


def _object_code(text: str, level: int) -> bytes:
    llvm, target = machine().binding, _target()
    module = llvm.parse_assembly(text)
    module.verify()
    if level:
        _improve(module, target, level, is_long=text.count("\n") > LONG)
    return target.emit_object(module)


def _improve(module: Any, target: Any, level: int, *, is_long: bool) -> None:
    llvm = machine().binding
    options = llvm.create_pipeline_tuning_options(speed_level=level - is_long)
    options.loop_vectorization = options.loop_interleaving = True
    options.slp_vectorization = True
    options.loop_unrolling = not is_long
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)


def _target() -> Any:
    """A target machine: an engine owns the one it is made with."""
    m = machine()
    target = m.binding.Target.from_default_triple()
    return target.create_target_machine(cpu=m.cpu, features=m.features, opt=LEVEL, jit=True)
