"""The base of all initializers, which says what fills a parameter by its name, and the initializers without chance."""

from __future__ import annotations

import json
import reprlib
import warnings
from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

import numpy as np

from ..base import decides, described, refusal, require
from ..log import LOG
from ..ndarray import NDArray, operators
from ..registry import get_alias_func, get_create_func, get_register_func

# Suffix of a parameter's name -> the method that fills it; the first that fits wins.
SUFFIXES = (
    ("weight", "_init_weight"),
    ("bias", "_init_bias"),
    ("gamma", "_init_gamma"),
    ("beta", "_init_beta"),
    ("min", "_init_zero"),
    ("max", "_init_one"),
    ("weight_quantize", "_init_quantized_weight"),
    ("bias_quantize", "_init_quantized_bias"),
)

# (where in the name, text, method), for names that are plain strings and not an InitDesc.
LEGACY_NAMES = (
    (str.startswith, "upsampling", "_init_bilinear"),
    (lambda name, _: name.startswith("stn_loc") and name.endswith("weight"), "", "_init_zero"),
    (lambda name, _: name.startswith("stn_loc") and name.endswith("bias"), "", "_init_loc_bias"),
    (str.endswith, "bias", "_init_bias"),
    (str.endswith, "gamma", "_init_gamma"),
    (str.endswith, "beta", "_init_beta"),
    (str.endswith, "weight", "_init_weight"),
    (str.endswith, "moving_mean", "_init_zero"),
    (str.endswith, "moving_var", "_init_one"),
    (str.endswith, "moving_inv_var", "_init_zero"),
    (str.endswith, "moving_avg", "_init_zero"),
    (str.endswith, "min", "_init_zero"),
    (str.endswith, "max", "_init_one"),
)


class InitDesc(str):  # noqa: SLOT000  # scripts set attributes of their own on it
    """A parameter's name together with what its variable says about its first value.

    ``attrs`` are the variable's attributes (``__init__`` names an initializer for it alone);
    ``global_init`` is the initializer of the whole network.
    """

    attrs: dict[str, str]
    global_init: Initializer | None

    def __new__(
        cls, name: str, attrs: dict[str, str] | None = None, global_init: Initializer | None = None
    ) -> InitDesc:
        """Make one; ``attrs`` defaults to none."""
        made = super().__new__(cls, name)
        made.attrs = attrs or {}
        made.global_init = global_init
        return made


def _root_mean_square(array: NDArray) -> str:
    values = array.asnumpy().astype(np.float64)
    return str(float(np.sqrt(np.mean(values * values))))


class Initializer:
    """Base of all initializers: ``initializer(InitDesc(name, attrs), array)`` fills ``array`` in place.

    A subclass overrides ``_init_weight(name, array)``. Keyword arguments given here are what
    :meth:`dumps` writes.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs
        self._verbose = False
        self._print_func: Callable[[NDArray], str] = _root_mean_square

    def set_verbosity(
        self, verbose: bool = False, print_func: Callable[[NDArray], str] | None = None
    ) -> Initializer:
        """Log each array after filling it, summed up by ``print_func`` (root mean square by default)."""
        self._verbose = verbose
        self._print_func = print_func or _root_mean_square
        return self

    def __repr__(self) -> str:
        return described(self, lambda: ", ".join(f"{name} {value}" for name, value in self._kwargs.items()))

    @decides("Initializer/dumps")
    def dumps(self) -> str:
        """Return ``["name", {"argument": value}]``, from which :func:`create` makes an equal one."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._kwargs == other._kwargs  # type: ignore[attr-defined]  # one class

    __hash__ = None  # type: ignore[assignment]  # equal by value and mutable

    @decides("Initializer/suffixes")
    def __call__(self, desc: str, arr: NDArray) -> None:
        """Fill ``arr``.

        Raises:
            TypeError: ``desc`` is not a string.
            ValueError: no rule fits the name.
        """
        if not isinstance(desc, InitDesc):
            self._fill_by_plain_name(desc, arr)
            return
        if desc.global_init is None:
            desc.global_init = self
        own = desc.attrs.get("__init__", "")
        if own:
            _own_initializer(desc, own)._init_weight(desc, arr)
            self._log(desc, own, arr)
            return
        for suffix, method in SUFFIXES:
            if desc.endswith(suffix):
                getattr(self, method)(desc, arr)
                self._log(desc, suffix, arr)
                return
        self._init_default(desc, arr)

    @decides("Initializer/plain-names")
    def _fill_by_plain_name(self, name: str, arr: NDArray) -> None:
        require(
            "Initializer/name-type", isinstance(name, str), f"name is a str, not a {type(name).__name__}", TypeError
        )
        warnings.warn(
            "an initializer takes mx.init.InitDesc(name), and goes by the letters of a plain name",
            DeprecationWarning, stacklevel=3,
        )
        for fits, text, method in LEGACY_NAMES:
            if fits(name, text):
                getattr(self, method)(name, arr)
                return
        self._init_default(name, arr)

    def _log(self, desc: InitDesc, kind: str, arr: NDArray) -> None:
        if self._verbose:
            LOG.info("%s begins as %s: %s", desc, kind, self._print_func(arr))

    def _init_weight(self, name: str, arr: NDArray) -> None:
        raise NotImplementedError(f"{type(self).__name__} must override _init_weight (asked for {name})")

    def _init_default(self, name: str, arr: NDArray) -> None:  # subclasses may fill it
        raise refusal(
            "Initializer/unknown-name",
            f'no rule says how {name} begins. A name ends in "weight", "bias" (0),'
            ' "gamma" (1) or "beta" (0); give other parameters their own initializer with'
            " mx.sym.Variable(init=mx.init.*)",
            ValueError,
        )

    def _init_zero(self, name: str, arr: NDArray) -> None:  # one signature for all
        arr[:] = 0.0

    def _init_one(self, name: str, arr: NDArray) -> None:
        arr[:] = 1.0

    _init_bias = _init_beta = _init_quantized_bias = _init_zero
    _init_gamma = _init_one

    @decides("Initializer/suffixes")
    def _init_quantized_weight(self, name: str, arr: NDArray) -> None:
        # one number for the whole array, as in MXNet
        drawn = operators.call("_random_randint", low=-127, high=127, shape=(1,), dtype="int32")
        arr[:] = drawn.asscalar()

    def _init_bilinear(self, name: str, arr: NDArray) -> None:
        arr[:] = bilinear_kernel(arr.shape)

    def _init_loc_bias(self, name: str, arr: NDArray) -> None:
        require(
            "Initializer/affine-bias", arr.shape == (6,),
            f"{name} holds an affine transform, 6 numbers, but has shape {arr.shape}", AssertionError,
        )
        arr[:] = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0])


register = get_register_func(Initializer, "initializer")
alias = get_alias_func(Initializer, "initializer")
create = get_create_func(Initializer, "initializer")


@decides("Initializer/bilinear")
def bilinear_kernel(shape: Sequence[int]) -> np.ndarray:
    """Weights of bilinear upsampling for every (filter, channel) of ``shape`` = (N, C, H, W).

    The tent's width comes from W alone; rows use the same tent.
    """
    require(
        "Initializer/bilinear-rank", len(shape) == 4,
        f"a bilinear kernel needs a shape of four sides, got {tuple(shape)}", IndexError,
    )
    height, width = shape[2], shape[3]
    factor = ceil(width / 2.0)
    centre = (2 * factor - 1 - factor % 2) / (2.0 * factor)
    row = 1 - np.abs(np.arange(height) / factor - centre)
    column = 1 - np.abs(np.arange(width) / factor - centre)
    return np.broadcast_to(np.outer(row, column).astype(np.float32), shape)


def _own_initializer(name: str, text: str) -> Initializer:
    """The initializer that a variable's attribute describes."""
    try:
        return create(text)
    except (TypeError, ValueError, OverflowError) as error:
        if hasattr(error, "clause"):
            raise
        raise refusal(
            "Initializer/own-attribute", f"the __init__ of {name}, {reprlib.repr(text)}, makes no initializer: {error}",
            ValueError,
        ) from None


# --- initializers without chance -----------------------------------------------------------------------


@register
@alias("zeros")
class Zero(Initializer):
    """Every weight 0."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = 0


@register
@alias("ones")
class One(Initializer):
    """Every weight 1."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = 1


@register
@decides("Initializer/constants")
class Constant(Initializer):
    """Every weight ``value``: a number, or an array or list that broadcasts to the weight."""

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = self.value

    def dumps(self) -> str:
        """As :meth:`Initializer.dumps`, with an array written as a list."""
        value = self.value.asnumpy() if isinstance(self.value, NDArray) else self.value
        plain = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
        return json.dumps([type(self).__name__.lower(), {"value": plain}])

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.dumps() == other.dumps()  # type: ignore[attr-defined]  # one class

    __hash__ = None  # type: ignore[assignment]  # equal by value and mutable


@register
class Bilinear(Initializer):
    """The kernel of bilinear upsampling, for Deconvolution weights (N, C, H, W)."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        self._init_bilinear(name, arr)


@register
@decides("Initializer/lstm-bias")
class LSTMBias(Initializer):
    """0, but ``forget_bias`` in the second quarter, which an LSTM reads as its forget gate."""

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name: str, arr: NDArray) -> None:
        quarter = arr.shape[0] // 4
        arr[:] = 0.0
        arr[quarter : 2 * quarter] = self.forget_bias


__all__ = [
    "Bilinear", "Constant", "InitDesc", "Initializer", "LSTMBias", "One", "Zero", "alias", "bilinear_kernel", "create",
    "register",
]
