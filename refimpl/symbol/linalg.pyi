"""mx.sym.linalg: the operators ``_linalg_...`` as functions on symbols."""

# Written by `python spec/stubs.py` from the registry of operators; do not edit.


from typing_extensions import Unpack

from ..op_registry.argument_types import Attributes, Flag, GraphKeywords, Number, Whole
from .symbol import Symbol

__all__ = [
    "det", "extractdiag", "extracttrian", "gelqf", "gemm", "gemm2", "inverse", "makediag", "maketrian", "potrf",
    "potri", "slogdet", "sumlogdiag", "syevd", "syrk", "trmm", "trsm",
]

def det(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def extractdiag(
    A: Symbol | None = None, offset: Whole | None = 0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def extracttrian(
    A: Symbol | None = None, offset: Whole | None = 0, lower: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def gelqf(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def gemm(
    A: Symbol | None = None, B: Symbol | None = None, C: Symbol | None = None, transpose_a: Flag | None = False,
    transpose_b: Flag | None = False, alpha: Number | None = 1.0, beta: Number | None = 1.0, axis: Whole | None = -2, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def gemm2(
    A: Symbol | None = None, B: Symbol | None = None, transpose_a: Flag | None = False,
    transpose_b: Flag | None = False, alpha: Number | None = 1.0, axis: Whole | None = -2, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def inverse(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def makediag(
    A: Symbol | None = None, offset: Whole | None = 0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def maketrian(
    A: Symbol | None = None, offset: Whole | None = 0, lower: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def potrf(
    A: Symbol | None = None, lower: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def potri(
    A: Symbol | None = None, lower: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def slogdet(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sumlogdiag(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def syevd(
    A: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def syrk(
    A: Symbol | None = None, transpose: Flag | None = False, alpha: Number | None = 1.0, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def trmm(
    A: Symbol | None = None, B: Symbol | None = None, transpose: Flag | None = False, rightside: Flag | None = False,
    lower: Flag | None = True, alpha: Number | None = 1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def trsm(
    A: Symbol | None = None, B: Symbol | None = None, transpose: Flag | None = False, rightside: Flag | None = False,
    lower: Flag | None = True, alpha: Number | None = 1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
