"""Functions that join and split arrays and move their axes: concatenate, moveaxis, split_v2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..base import integer_types, refusal
from ..kernels.foundation import get
from . import operators

if TYPE_CHECKING:
    from .ndarray import NDArray


def concatenate(arrays: Sequence[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """Join arrays along ``axis``; a single array is returned itself unless ``always_copy``."""
    if not arrays:
        raise refusal("NDArray/concatenate", "concatenate needs at least one array", AssertionError)
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    return operators.call("Concat", *arrays, dim=axis)


def moveaxis(tensor: NDArray, source: Any, destination: Any) -> NDArray:
    """Move the axes ``source`` to the positions ``destination``, as ``numpy.moveaxis`` does.

    Raises:
        ValueError: an axis is out of range or named twice, or there are not as many positions as axes.
    """
    sources = [source] if isinstance(source, int) else list(source)
    targets = [destination] if isinstance(destination, int) else list(destination)
    rank = tensor.ndim
    if not all(-rank <= axis < rank for axis in (*sources, *targets)):
        raise refusal(
            "NDArray/moveaxis", f"axes {sources} and {targets} must lie between {-rank} and {rank - 1}", ValueError
        )
    sources = [s % rank for s in sources]
    targets = [t % rank for t in targets]
    if not len(sources) == len(targets) == len(set(sources)) == len(set(targets)):
        raise refusal("NDArray/moveaxis", f"axes {sources} cannot go to {targets}: one place each", ValueError)
    rest = [axis for axis in range(rank) if axis not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        rest.insert(target, origin)
    return operators.call("transpose", tensor, axes=tuple(rest))


def split_v2(
    ary: NDArray, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False
) -> NDArray | list[NDArray]:
    """Cut ``ary`` along ``axis`` into a number of equal parts, or before each of a tuple of indices.

    ``indices_or_sections`` is the number of parts or the tuple of indices. With ``squeeze_axis`` parts of length 1
    lose the axis. Returns a list of arrays; a single part is returned itself.

    Raises:
        ValueError: the number of parts does not divide the dimension, or is neither a number nor a tuple.
        MXNetError: a part would be empty, or the axis is out of range.
    """
    if isinstance(indices_or_sections, integer_types):
        sections = int(indices_or_sections)
        side = ary.shape[axis] if -ary.ndim <= axis < ary.ndim else 0
        if sections < 1 or side % sections:
            raise refusal(
                "NDArray/split",
                f"array split does not result in an equal division: axis {axis} of {ary.shape} into {sections}",
                ValueError,
            )
        cuts: tuple[Any, ...] = ()
    elif isinstance(indices_or_sections, tuple):
        sections, cuts = 0, (0, *indices_or_sections)
    else:
        raise refusal(
            "NDArray/split",
            f"indices_or_sections must either int or tuple of ints, got {indices_or_sections!r}", ValueError,
        )
    split = operators.make_function(get("_split_v2"), "_split_v2")
    return split(ary, indices=cuts, axis=axis, squeeze_axis=squeeze_axis, sections=sections)
