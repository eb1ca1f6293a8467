"""Hardware with an arithmetic of its own, emulated in NumPy or in this library's loops; each declares what it does.

The oracle must report no cause for an emulation that computes as it declares, and must report one that computes worse.
``declaring`` gives an emulation the declaration of another one.

    refimpl oracle check refimpl.oracle.backends.emulations:tf32

==================  =====================================================================================
bfloat16, float16,  operands of matrix products in this type, sums in single precision; every operator
tf32, tf32_cut      (``tf32_cut`` drops bits)
daz                 subnormal operands and results are zero; every operator
bfloat16_sums,      operands and sums of matrix products in this type; the operators of ``variants``
float16_sums
double_sums         sums of matrix products in double precision
separate,           products and additions round each by itself, or (``contracted``) once in sums of products
contracted
webgpu              division and exp as wrong as WGSL allows, subnormals flushed
ordered             the reference, which has its own bits
wide                every loop in double precision, its results rounded once; every operator, nothing declared
==================  =====================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from ...kernels.foundation import Buffer, Loop, as_buffer
from ...kernels.foundation.loop import plain_kernels
from ..bounds import Declared
from ..bounds.matrix_products import FACTOR, role_of
from .declaring import Declaring, declaring
from .ours import Ours
from .variants import WAYS, Operators, backend_of

Array = np.ndarray
Change = Callable[[Array], Array]
DROPPED = {"tf32": 13, "bfloat16": 16}
"""Type -> bits of a single precision number that it lacks."""


def converted(x: Array, kind: str, *, cut: bool = False) -> Array:
    """Single precision numbers rounded to ``kind``: to the nearest, or with bits dropped where ``cut``."""
    if kind == "float16":
        return x.astype(np.float16).astype(x.dtype)
    if kind not in DROPPED:
        return x
    bits, low = x.astype(np.float32).view(np.uint32).astype(np.uint64), np.uint64(DROPPED[kind])
    half = np.uint64(0 if cut else (1 << (DROPPED[kind] - 1)) - 1)
    last = (bits >> low) & np.uint64(0 if cut else 1)
    kept = ((bits + half + last) >> low << low).astype(np.uint32).view(np.float32)
    return np.where(np.isfinite(x), kept, x).astype(x.dtype)


def flushed(x: Array) -> Array:
    """Zero with their sign in the place of subnormal numbers."""
    if x.dtype.kind != "f":
        return x
    return np.where(np.abs(x) < np.finfo(x.dtype).tiny, np.copysign(x.dtype.type(0), x), x)


# --- every operator: this library's loops, with other operands ---------------------------------------


Run = Callable[[Loop, tuple[Any, ...]], None]
"""Runs a loop over its arguments: buffers, numbers and geometries."""
_run: Callable[..., None] = Loop.__call__


def _with_factors(change: Change, loop: Loop, args: tuple[Any, ...]) -> None:
    """Run a loop; if it multiplies matrices, its factors are changed before."""
    roles = [role_of(loop.function, name) for name in signature(loop.function).parameters]
    _run(loop, *[
        as_buffer(change(x.to_numpy())) if role == FACTOR and x.dtype == np.float32 else x
        for role, x in zip(roles, args, strict=False)
    ])


def _with_flushing(loop: Loop, args: tuple[Any, ...]) -> None:
    """Run a loop between two passes that flush all of its arrays."""
    arrays = [x.flat for x in args if isinstance(x, Buffer)]
    for x in arrays:
        x[:] = flushed(x)
    _run(loop, *args)
    for x in arrays:
        x[:] = flushed(x)


def _in_doubles(loop: Loop, args: tuple[Any, ...]) -> None:
    """Run a loop on copies in double precision; those of the same memory are one."""
    narrow = {(x.flat.ctypes.data, x.size): x for x in args if isinstance(x, Buffer) and x.dtype == np.float32}
    copies = {at: as_buffer(x.flat.astype(np.float64)) for at, x in narrow.items()}
    _run(loop, *[
        copies[x.flat.ctypes.data, x.size].reshape(x.shape) if isinstance(x, Buffer) and x.dtype == np.float32 else x
        for x in args
    ])
    for at, x in narrow.items():
        x.flat[:] = copies[at].flat


@contextmanager
def _in_loops(run: Run) -> Iterator[None]:
    with plain_kernels(), np.errstate(all="ignore"):
        try:
            setattr(Loop, "__call__", lambda self, *args: run(self, args))  # noqa: B010  # mypy lets nobody assign it
            yield
        finally:
            setattr(Loop, "__call__", _run)  # noqa: B010


def looped(version: str, run: Run, **declared: Any) -> Declaring:
    """A backend that runs this library's loops by ``run``, and declares an arithmetic."""
    made = Ours("plain")
    made.block, made.version = partial(_in_loops, run), f"emulated {version}"
    return declaring(made, **declared)


bfloat16, float16, tf32, tf32_cut = (
    looped(name, partial(_with_factors, partial(converted, kind=kind, cut=cut)), products=kind, truncated=cut)
    for name, kind, cut in (
        ("bfloat16", "bfloat16", False), ("float16", "float16", False), ("tf32", "tf32", False),
        ("tf32, cut", "tf32", True),
    )
)
daz = looped("flushing", _with_flushing, flushed="operands")
ordered = declaring(Ours("plain"), bits=True)
wide = looped("double precision in every loop", _in_doubles)


# --- the operators of ``variants``: other sums and functions -------------------------------------------


class Emulated(Operators):
    """Rules whose matrix products are of one type and whose sums of these products are of another.

    Args:
        products: the type of the operands.
        sums: the type of the sums.
        cut: whether conversions to both drop bits.
        backwards: whether to add from the last to the first.
        both: changes what every operator reads and writes.
        functions: rules in the place of others.
    """

    def __init__(
        self, products: str = "float32", sums: str = "float32", *, cut: bool = False, backwards: bool = False,
        both: Change | None = None, **functions: Any,
    ) -> None:
        super().__init__(WAYS["sequential"])
        self.kinds, self.cut, self.turn = (products, sums), cut, -1 if backwards else 1
        self.rules |= functions
        if both is not None:
            self.rules = {name: _around(both, rule) for name, rule in self.rules.items()}

    def matmul(self, a: Array, b: Array) -> Array:
        """The product of two matrices, or of stacks of them."""
        kind, kept = self.kinds
        a, b = (converted(x, kind, cut=self.cut) if x.dtype == np.float32 else x for x in (a, b))
        wide = np.broadcast_arrays(a[..., :, None, :], np.swapaxes(b, -1, -2)[..., None, :, :])
        total = np.zeros(wide[0].shape[:-1])
        for i in range(a.shape[-1])[:: self.turn]:
            total = total + wide[0][..., i].astype(np.float64) * wide[1][..., i]
            if kept != "float64":
                total = converted(total.astype(np.float32), kept, cut=self.cut).astype(np.float64)
        return total.astype(a.dtype)


def _around(change: Change, rule: Callable[..., Any]) -> Callable[..., Any]:
    """A rule whose inputs, outputs, head gradients and gradients are changed."""
    def changed(p: Any, *inputs: Array) -> Any:
        out, pull = rule(p, *map(change, inputs))
        return change(out), pull and (lambda g: [change(np.asarray(slope)) for slope in pull(change(g))])

    return changed


def _off(exact: Array, ulps: Any) -> Array:
    """Single precision numbers that are wrong by at most ``ulps`` units in the last place, up and down in turn."""
    near = exact.astype(np.float32)
    step = np.spacing(np.abs(near).astype(np.float32))
    signs = np.where(np.arange(near.size).reshape(near.shape) % 2, 1.0, -1.0)
    wrong = (near + signs * np.floor(ulps) * step).astype(np.float32)
    return np.where(np.isfinite(wrong) & (near != 0), wrong, near)


def inexact(division: float, least: float, slope: float) -> dict[str, Any]:
    """Rules of division, exp and tanh that are wrong by some units in the last place.

    Args:
        division: units of a quotient.
        least: units of exp at 0.
        slope: further units of exp for each unit of its argument's magnitude.
    """
    def over(a: Array, b: Array) -> Array:
        return _off(a.astype(np.float64) / b, division)

    def divide(p: Any, a: Array, b: Array) -> Any:
        return over(a, b), lambda g: [g * over(np.ones_like(b), b), -g * over(a, b * b)]

    def exp(p: Any, x: Array) -> Any:
        made = _off(np.exp(x.astype(np.float64)), least + slope * np.abs(x))
        return made, lambda g: [g * made]

    return {"elemwise_div": divide, "exp": exp}


def _numpy(version: str, declares: Declared, *args: Any, **options: Any) -> Any:
    made = backend_of(Emulated(*args, **options), f"emulated {version}")
    made.declares = declares
    return made


bfloat16_sums = _numpy("bfloat16", Declared("bfloat16", "bfloat16"), "bfloat16", "bfloat16")
float16_sums = _numpy("float16", Declared("float16", "float16"), "float16", "float16", backwards=True)
double_sums = _numpy("double sums", Declared(sums="float64"), sums="float64")
contracted = _numpy("fused products", Declared(fused="always"))
separate = declaring(backend_of(Operators(WAYS["sequential"]), "emulated separate products"), fused="never")
webgpu = _numpy(
    "WGSL", Declared(flushed="operands", ulps={"div": 2.5, "exp": "3+2|x|"}), both=flushed,
    **inexact(2.5, 3, 2),
)
