"""Initializers: the first values of parameters, chosen by the end of the parameter's name.

``mx.init`` and ``mx.initializer`` are this module. The rules are in ``spec/initializer.md``.
"""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from math import ceil, prod, sqrt
from typing import Any

import numpy as np

from . import random
from .base import refusal, require
from .ndarray import NDArray, load, operators
from .registry import get_alias_func, get_create_func, get_register_func

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


class InitDesc(str):
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

    def dumps(self) -> str:
        """Return the JSON text ``["name", {"argument": value}]``, from which :func:`create` makes an equal one."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._kwargs == other._kwargs  # type: ignore[attr-defined]  # one class

    __hash__ = None  # type: ignore[assignment]  # equal by value and mutable

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
            create(own)._init_weight(desc, arr)
            self._log(desc, own, arr)
            return
        for suffix, method in SUFFIXES:
            if desc.endswith(suffix):
                getattr(self, method)(desc, arr)
                self._log(desc, suffix, arr)
                return
        self._init_default(desc, arr)

    def _fill_by_plain_name(self, name: str, arr: NDArray) -> None:
        require("Initializer/name-type", isinstance(name, str), "name must be string", TypeError)
        warnings.warn(
            "Calling initializer with init(str, NDArray) has been deprecated,"
            " use init(mx.init.InitDesc(...), NDArray) instead.",
            DeprecationWarning, stacklevel=3,
        )
        for fits, text, method in LEGACY_NAMES:
            if fits(name, text):
                getattr(self, method)(name, arr)
                return
        self._init_default(name, arr)

    def _log(self, desc: InitDesc, kind: str, arr: NDArray) -> None:
        if self._verbose:
            logging.info("Initialized %s as %s: %s", desc, kind, self._print_func(arr))

    def _init_weight(self, name: str, arr: NDArray) -> None:
        raise NotImplementedError(f"{type(self).__name__} must override _init_weight (asked for {name})")

    def _init_default(self, name: str, arr: NDArray) -> None:  # noqa: ARG002  # subclasses may fill it
        raise refusal(
            "Initializer/unknown-name",
            f'Unknown initialization pattern for {name}. A name must end in "weight", "bias" (0),'
            ' "gamma" (1) or "beta" (0); give other parameters their own initializer with'
            " mx.sym.Variable(init=mx.init.*)",
            ValueError,
        )

    def _init_zero(self, name: str, arr: NDArray) -> None:  # noqa: ARG002  # one signature for all
        arr[:] = 0.0

    def _init_one(self, name: str, arr: NDArray) -> None:  # noqa: ARG002
        arr[:] = 1.0

    _init_bias = _init_beta = _init_quantized_bias = _init_zero
    _init_gamma = _init_one

    def _init_quantized_weight(self, name: str, arr: NDArray) -> None:  # noqa: ARG002
        # one number for the whole array, as in MXNet
        drawn = operators.call("_random_randint", low=-127, high=127, shape=(1,), dtype="int32")
        arr[:] = drawn.asscalar()

    def _init_bilinear(self, name: str, arr: NDArray) -> None:  # noqa: ARG002
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


@register
@alias("zeros")
class Zero(Initializer):
    """Every weight 0."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:  # noqa: ARG002
        arr[:] = 0


@register
@alias("ones")
class One(Initializer):
    """Every weight 1."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:  # noqa: ARG002
        arr[:] = 1


@register
class Constant(Initializer):
    """Every weight ``value``: a number, or an array or list that broadcasts to the weight."""

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, name: str, arr: NDArray) -> None:  # noqa: ARG002
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
class Uniform(Initializer):
    """Weights drawn from the uniform distribution on [-scale, scale)."""

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name: str, arr: NDArray) -> None:  # noqa: ARG002
        random.uniform(-self.scale, self.scale, out=arr)


@register
class Normal(Initializer):
    """Weights drawn from the normal distribution with mean 0 and standard deviation ``sigma``."""

    def __init__(self, sigma: float = 0.01) -> None:
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, name: str, arr: NDArray) -> None:  # noqa: ARG002
        random.normal(0, self.sigma, out=arr)


@register
class Orthogonal(Initializer):
    """Orthonormal rows (or columns, whichever are fewer) times ``scale``.

    The weight is read as (first side, all others); it is the orthogonal factor of a matrix drawn
    uniformly from [-1, 1) (``rand_type="uniform"``) or from the standard normal (``"normal"``).
    """

    def __init__(self, scale: float = 1.414, rand_type: str = "uniform") -> None:
        super().__init__(scale=scale, rand_type=rand_type)
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, name: str, arr: NDArray) -> None:  # noqa: ARG002
        require(
            "Initializer/orthogonal-type", self.rand_type in ("uniform", "normal"),
            f'rand_type must be "uniform" or "normal", got {self.rand_type!r}', ValueError,
        )
        sides = (arr.shape[0], prod(arr.shape[1:]))
        drawn = (
            random.uniform(-1.0, 1.0, shape=sides) if self.rand_type == "uniform"
            else random.normal(0.0, 1.0, shape=sides)
        )
        left, _, right = np.linalg.svd(drawn.asnumpy(), full_matrices=False)
        factor = left if left.shape == sides else right
        arr[:] = (self.scale * factor).reshape(arr.shape)


@register
class Xavier(Initializer):
    """Weights whose spread keeps the size of signals: s = sqrt(magnitude / factor).

    A weight (out, in, k...) has fan-in ``in * prod(k)`` and fan-out ``out * prod(k)``; ``factor_type``
    "avg", "in" or "out" says which of them (or their mean) is the factor. ``rnd_type`` "uniform"
    draws from [-s, s), "gaussian" from the normal distribution with standard deviation s.
    """

    def __init__(
        self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3
    ) -> None:
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name: str, arr: NDArray) -> None:
        require(
            "Initializer/xavier-rank", len(arr.shape) >= 2,
            f"Xavier initializer cannot be applied to {name} of shape {arr.shape}: it needs at least"
            " two axes", ValueError,
        )
        receptive = prod(arr.shape[2:])
        fan_in, fan_out = arr.shape[1] * receptive, arr.shape[0] * receptive
        factors = {"avg": (fan_in + fan_out) / 2.0, "in": fan_in, "out": fan_out}
        require(
            "Initializer/xavier-factor", self.factor_type in factors,
            f'factor_type must be "avg", "in" or "out", got {self.factor_type!r}', ValueError,
        )
        require(
            "Initializer/xavier-distribution", self.rnd_type in ("uniform", "gaussian"),
            f'rnd_type must be "uniform" or "gaussian", got {self.rnd_type!r}', ValueError,
        )
        scale = sqrt(self.magnitude / factors[self.factor_type])
        if self.rnd_type == "uniform":
            random.uniform(-scale, scale, out=arr)
        else:
            random.normal(0, scale, out=arr)


@register
class MSRAPrelu(Xavier):
    """Xavier "gaussian" for networks of leaky rectifiers: magnitude 2 / (1 + slope^2)."""

    def __init__(self, factor_type: str = "avg", slope: float = 0.25) -> None:
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope**2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


@register
class Bilinear(Initializer):
    """The kernel of bilinear upsampling, for Deconvolution weights (N, C, H, W)."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        self._init_bilinear(name, arr)


@register
class LSTMBias(Initializer):
    """0, but ``forget_bias`` in the second quarter, which an LSTM reads as its forget gate."""

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name: str, arr: NDArray) -> None:  # noqa: ARG002
        quarter = arr.shape[0] // 4
        arr[:] = 0.0
        arr[quarter : 2 * quarter] = self.forget_bias


class Mixed:
    """Several initializers: the first whose regular expression matches the start of the name fills it.

    Raises:
        AssertionError: the lists differ in length.
    """

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Callable]) -> None:
        require(
            "Initializer/mixed-lengths", len(patterns) == len(initializers),
            f"{len(patterns)} patterns for {len(initializers)} initializers", AssertionError,
        )
        self.map = [(re.compile(p), i) for p, i in zip(patterns, initializers, strict=True)]

    def __call__(self, name: str, arr: NDArray) -> None:
        """Fill ``arr``.

        Raises:
            ValueError: no pattern matches.
        """
        for pattern, initializer in self.map:
            if pattern.match(name):
                initializer(name, arr)
                return
        raise refusal(
            "Initializer/mixed-no-match",
            f'parameter {name} did not match any pattern; add ".*" with a default at the end', ValueError,
        )


class Load:
    """Fills from arrays: a dict of name to array, or the name of a ``.params`` file.

    Prefixes ``arg:`` and ``aux:`` are dropped. ``default_init`` fills the names that are not there.
    """

    def __init__(
        self, param: str | Mapping[str, NDArray], default_init: Callable | None = None,
        verbose: bool = False,
    ) -> None:
        found = load(param) if isinstance(param, str) else param
        require(
            "Initializer/load-names", isinstance(found, Mapping),
            "Load needs named arrays: a dict, or a file that was saved from a dict", AssertionError,
        )
        self.param = {re.sub("^(arg|aux):", "", name): array for name, array in found.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name: str, arr: NDArray) -> None:
        """Fill ``arr``.

        Raises:
            AssertionError: the loaded shape differs, or the name is missing and there is no default.
        """
        found = self.param.get(name)
        if found is not None:
            require(
                "Initializer/load-shape", found.shape == arr.shape,
                f"parameter {name} cannot be initialized from loading: it has shape {arr.shape},"
                f" the loaded array {found.shape}", AssertionError,
            )
            arr[:] = found
        else:
            require(
                "Initializer/load-missing", self.default_init is not None,
                f"cannot initialize {name}: it is not among the loaded arrays"
                f" ({', '.join(self.param)}) and no default_init is given", AssertionError,
            )
            self.default_init(name, arr)  # type: ignore[misc]  # not None, as required above
        if self.verbose:
            logging.info("Initialized %s by %s", name, "default" if found is None else "loading")


__all__ = [
    "Bilinear", "Constant", "InitDesc", "Initializer", "LSTMBias", "Load", "MSRAPrelu", "Mixed",
    "Normal", "One", "Orthogonal", "Uniform", "Xavier", "Zero", "alias", "create", "register",
]
