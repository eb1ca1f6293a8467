"""mx.nd.linalg: the operators ``_linalg_...`` as functions on arrays."""

# Written by `python spec/stubs.py` from the registry of operators; do not edit.

from collections.abc import Sequence

from ..op_registry.argument_types import Flag, Number, Whole
from .ndarray import NDArray

_Out = NDArray | Sequence[NDArray]

__all__ = [
    "det", "extractdiag", "extracttrian", "gelqf", "gemm", "gemm2", "inverse", "makediag", "maketrian", "potrf",
    "potri", "slogdet", "sumlogdiag", "syevd", "syrk", "trmm", "trsm",
]

def det(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def extractdiag(
    A: NDArray, offset: Whole | None = 0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def extracttrian(
    A: NDArray, offset: Whole | None = 0, lower: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def gelqf(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> list[NDArray]: ...
def gemm(
    A: NDArray, B: NDArray, C: NDArray, transpose_a: Flag | None = False, transpose_b: Flag | None = False,
    alpha: Number | None = 1.0, beta: Number | None = 1.0, axis: Whole | None = -2, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def gemm2(
    A: NDArray, B: NDArray, transpose_a: Flag | None = False, transpose_b: Flag | None = False,
    alpha: Number | None = 1.0, axis: Whole | None = -2, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def inverse(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def makediag(A: NDArray, offset: Whole | None = 0, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def maketrian(
    A: NDArray, offset: Whole | None = 0, lower: Flag | None = True, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def potrf(A: NDArray, lower: Flag | None = True, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def potri(A: NDArray, lower: Flag | None = True, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def slogdet(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> list[NDArray]: ...
def sumlogdiag(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def syevd(A: NDArray, *, out: _Out | None = None, name: str | None = None) -> list[NDArray]: ...
def syrk(
    A: NDArray, transpose: Flag | None = False, alpha: Number | None = 1.0, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def trmm(
    A: NDArray, B: NDArray, transpose: Flag | None = False, rightside: Flag | None = False, lower: Flag | None = True,
    alpha: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def trsm(
    A: NDArray, B: NDArray, transpose: Flag | None = False, rightside: Flag | None = False, lower: Flag | None = True,
    alpha: Number | None = 1.0, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
