"""mx.sym: graphs, and every operator as a function on them."""

from __future__ import annotations

import builtins as _builtins
from collections.abc import Callable as _Callable
from collections.abc import Iterable as _Iterable
from math import hypot as _hypot
from pathlib import Path as _Path
from typing import Any as _Any

from ..base import decides
from ..base import numeric_types as _numeric_types
from ..base import refusal as _refusal
from ..files.reading import read_file as _read_file
from ..kernels.foundation import get as _get
from ..op_registry import known as _known
from . import json_format as _json_format
from .op import *  # noqa: F403  # every operator; imports below replace some

# isort: split
from . import _internal, contrib, image, linalg, op, operators, random, sparse  # noqa: F401  # _internal: MXNet's too
from .calls import split_parameters as _split_parameters
from .operators import variable as Variable  # noqa: N812  # MXNet's name
from .symbol import Symbol

var = Variable


def Group(symbols: _Iterable[Symbol], create_fn: _Callable[..., _Any] = Symbol) -> _Any:  # noqa: N802  # MXNet's name
    """One symbol with the outputs of several symbols, in order; ``create_fn`` makes it from a list of entries.

    Raises:
        TypeError: an element is not a Symbol, or there is none.
    """
    given = list(symbols)
    if not given or any(not isinstance(s, Symbol) for s in given):
        raise _refusal("Symbol/group", "Expected a list of symbols as input", TypeError)
    return create_fn([entry for symbol in given for entry in symbol.entries])


def load_json(json_str: str) -> Symbol:
    """Read a graph from JSON text.

    Raises:
        MXNetError: the text is not a symbol file.
        TypeError: ``json_str`` is not a string.
    """
    if not isinstance(json_str, str):
        raise _refusal("Symbol/load-json", "fname required to be string", TypeError)
    return Symbol(_json_format.from_json(json_str))


def load(fname: str) -> Symbol:
    """Read a graph from a file.

    Raises:
        MXNetError: the file is missing or not a symbol file; the message has the file's name.
        TypeError: ``fname`` is not a string or path.
    """
    if not isinstance(fname, (str, _Path)):
        raise _refusal("Symbol/load-name", "fname need to be string", TypeError)
    try:
        text = _read_file(fname).decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refusal("symbol-file/readable", f"cannot read {fname}: {error}") from None
    except OSError as error:
        raise _refusal("symbol-file/readable", f"cannot read {fname}: {error.strerror}") from None
    return Symbol(_json_format.from_json(text, str(fname)))


def zeros(shape: _Any, dtype: _Any = None, **kwargs: _Any) -> Symbol:
    """A symbol of zeros, of float32 where ``dtype`` is None."""
    return _internal._zeros(shape=shape, dtype="float32" if dtype is None else dtype, **kwargs)


def ones(shape: _Any, dtype: _Any = None, **kwargs: _Any) -> Symbol:
    """A symbol of ones, of float32 where ``dtype`` is None."""
    return _internal._ones(shape=shape, dtype="float32" if dtype is None else dtype, **kwargs)


def full(shape: _Any, val: float, dtype: _Any = None, **kwargs: _Any) -> Symbol:
    """A symbol filled with ``val``.

    Args:
        shape: the shape.
        val: the number.
        dtype: the type of the elements; None for float32.
        **kwargs: ``name`` and ``attr`` of the node.
    """
    return _internal._full(shape=shape, value=val, dtype="float32" if dtype is None else dtype, **kwargs)


def arange(
    start: float, stop: float | None = None, step: float = 1.0, repeat: int = 1,
    infer_range: bool = False, name: str | None = None, dtype: _Any = None,
) -> Symbol:
    """A symbol of evenly spaced values.

    Args:
        start: the first number; without ``stop`` the bound of 0, 1, 2 ...
        stop: the bound that no number reaches.
        step: the distance between two numbers.
        repeat: how often each number comes.
        infer_range: whether to infer ``stop`` from the requested shape.
        name: the node's name; None for an automatic name.
        dtype: the type of the numbers; None for float32.
    """
    return _internal._arange(
        start=start, stop=stop, step=step, repeat=repeat, infer_range=infer_range, name=name,
        dtype="float32" if dtype is None else dtype,
    )


def eye(N: int, M: int = 0, k: int = 0, dtype: _Any = None, **kwargs: _Any) -> Symbol:  # noqa: N803  # MXNet's names
    """A symbol of a matrix of ``N`` rows and ``M`` columns with ones on diagonal ``k``, zeros elsewhere.

    Args:
        N: the number of rows.
        M: the number of columns; 0 means ``N``.
        k: the diagonal: 0 is the main diagonal, positive numbers are above it.
        dtype: the type of the elements; None for float32.
        **kwargs: ``name`` and ``attr`` of the node.
    """
    dtype = "float32" if dtype is None else dtype
    return _internal._eye(N=N, M=M, k=k, dtype=dtype, **kwargs)


def linspace(
    start: float, stop: float, num: int, endpoint: bool = True, name: str | None = None, dtype: _Any = None
) -> Symbol:
    """A symbol of ``num`` evenly spaced numbers from ``start`` to ``stop``; ``stop`` is excluded unless ``endpoint``.

    Args:
        start: the first number.
        stop: the end of the interval.
        num: the number of numbers.
        endpoint: whether ``stop`` is the last number.
        name: the node's name; None for an automatic name.
        dtype: the type of the numbers; None for float32.
    """
    return _internal._linspace(
        start=start, stop=stop, num=num, endpoint=endpoint, name=name, dtype="float32" if dtype is None else dtype,
    )


def histogram(
    a: Symbol, bins: int | Symbol = 10, range: tuple[float, float] | None = None, **kwargs: _Any  # noqa: A002  # MXNet's
) -> Symbol:
    """The number of elements in each bin, and the edges of the bins.

    Args:
        a: the elements.
        bins: the number of bins of equal width, or a symbol of the edges.
        range: the ends of the first and the last bin, where ``bins`` is a number.
        **kwargs: ``name`` and ``attr`` of the node.

    Raises:
        ValueError: ``bins`` is neither a whole number nor a Symbol, or it is a number and ``range`` is missing.
    """
    if isinstance(bins, Symbol):
        return _internal._histogram(a, bins, **kwargs)
    if not isinstance(bins, int) or range is None:
        raise _refusal(
            "Symbol/histogram", f"bins must be a Symbol, or a whole number beside a range; got {bins!r}, {range!r}",
            ValueError,
        )
    return _internal._histogram(a, bin_cnt=bins, range=range, **kwargs)


def split_v2(ary: Symbol, indices_or_sections: _Any, axis: int = 0, squeeze_axis: bool = False) -> Symbol:
    """A symbol cut along ``axis`` into a number of parts, or before each of the given indices.

    Args:
        ary: the symbol.
        indices_or_sections: a number of equal parts, or the indices at which parts begin.
        axis: the axis that is cut.
        squeeze_axis: whether parts of length 1 lose the axis.

    Raises:
        ValueError: ``indices_or_sections`` is neither a number nor a tuple of numbers.
    """
    cut = _split_parameters(indices_or_sections, axis, squeeze_axis)
    return _internal._split_v2(ary, **cut)


def _alias(operator: str) -> str:
    """The name by which MXNet's Python calls a binary operator, the beginning of automatic node names."""
    return _get(operator).aliases[0]


@decides("Symbol/numbers")
def _two_ways(operator: str, reverse: str) -> _Any:
    """A function of two symbols or numbers; ``reverse`` is the operator for (number, symbol)."""

    def function(left: _Any, right: _Any) -> _Any:
        array_op, scalar_op = f"_{operator}", f"_{operator}_scalar"
        if isinstance(left, Symbol):
            return left._binary(right, array_op, _alias(array_op), scalar_op, _alias(scalar_op))
        if isinstance(right, Symbol):
            return right._binary(left, "", "", reverse, _alias(reverse))
        if not isinstance(left, _numeric_types) or not isinstance(right, _numeric_types):
            raise _refusal("Symbol/operand", f"types {type(left)} and {type(right)} not supported", TypeError)
        return _ON_NUMBERS[operator](left, right)

    return function


_ON_NUMBERS: dict[str, _Callable[[_Any, _Any], _Any]] = {
    "maximum": _builtins.max, "minimum": _builtins.min, "power": lambda left, right: left**right, "hypot": _hypot,
}
maximum = _two_ways("maximum", "_maximum_scalar")
minimum = _two_ways("minimum", "_minimum_scalar")
hypot = _two_ways("hypot", "_hypot_scalar")
_pow = _two_ways("power", "_rpower_scalar")


def pow(base: _Any, exp: _Any) -> _Any:  # noqa: A001  # MXNet's name
    """``base`` to the power of ``exp``: of two symbols, a symbol and a number, or two numbers.

    Raises:
        TypeError: an operand is neither a symbol nor a number.
    """
    return _pow(base, exp)


power = pow

globals()["__getattr__"] = _known.attributes(__name__)  # not a def: a type checker would then take any name

__all__ = [
    "Group", "Symbol", "Variable", "arange", "contrib", "eye", "full", "histogram", "hypot", "image",
    "linalg", "linspace", "load", "load_json", "maximum", "minimum", "ones", "pow", "power",
    "random", "sparse", "split_v2", "var", "zeros",
]
__all__ += op.__all__
