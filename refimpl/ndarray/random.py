"""mx.nd.random: arrays of random numbers from many distributions.

Each function takes the parameters of its distribution as numbers, for one array of ``shape`` (default
(1,)), or as arrays of one shape, each element of which makes a block of ``shape``: the result then has
the parameters' shape followed by ``shape``. ``dtype`` is the dtype of the result (default float32, or the dtype of
``out``), ``ctx`` its context; ``out`` receives the result. spec/reference/arrays/random.md has the rules.

Every function raises AssertionError for numbers mixed with arrays, ValueError for parameters of other types, and
MXNetError, when the result is read, for parameters outside their range.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..base import decides, numeric_types, refusal
from ..kernels.foundation import get
from . import operators
from .ndarray import NDArray

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..op_registry.argument_types import Named


def as_shape(shape: Any) -> tuple[int, ...]:
    """A shape as a tuple, from a tuple, a list or one number."""
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)


def parameter_kind(parameters: dict[str, Any], array: type) -> type:
    """``array`` (the class of arrays) if all parameters are arrays, ``float`` if all are numbers.

    Raises:
        AssertionError: some parameters are arrays and some numbers.
        ValueError: a parameter is neither.
    """
    first, *others = parameters.values()
    kinds: dict[type, Any] = {array: array, float: numeric_types}
    found = next((kind for kind, accepted in kinds.items() if isinstance(first, accepted)), None)
    if found is None:
        raise refusal(
            "random/arrays-or-numbers",
            f"Distribution parameters must be either {array.__name__} or numbers, but got {type(first)}", ValueError,
        )
    for other in others:
        if not isinstance(other, kinds[found]):
            raise refusal(
                "random/arrays-or-numbers",
                "Distribution parameters must all have the same type, but got both"
                f" {type(first)} and {type(other)}", AssertionError,
            )
    return found


@decides("random/result")
def _draw(
    name: str, parameters: dict[str, Any], shape: Any, dtype: Any, ctx: Any, out: Any, more: Mapping[str, Any]
) -> NDArray:
    attrs = {key: value for key, value in more.items() if key != "name"}
    if dtype is not None and dtype != "None":
        attrs["dtype"] = operators.dtype_of(dtype).name
    if shape is not None:
        attrs["shape"] = as_shape(shape)
    if parameter_kind(parameters, NDArray) is NDArray:
        return operators.call(f"_sample_{name}", *parameters.values(), out=out, **attrs)
    if shape is None:
        attrs["shape"] = (1,) if out is None else out.shape
    return operators.call(f"_random_{name}", out=out, ctx=ctx, **parameters, **attrs)


def uniform(
    low: Any = 0, high: Any = 1, shape: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None,
    **kwargs: Unpack[Named],
) -> NDArray:
    """Draw from [low, high).

    ``shape``, ``dtype``, ``ctx`` and ``out`` say what the result is: see the top of this module.
    """
    return _draw("uniform", {"low": low, "high": high}, shape, dtype, ctx, out, kwargs)


def normal(
    loc: Any = 0, scale: Any = 1, shape: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None,
    **kwargs: Unpack[Named],
) -> NDArray:
    """Draw from the normal distribution with mean ``loc`` and standard deviation ``scale``.

    ``shape``, ``dtype``, ``ctx`` and ``out`` say what the result is: see the top of this module.
    """
    return _draw("normal", {"loc": loc, "scale": scale}, shape, dtype, ctx, out, kwargs)


def randn(*shape: int, **kwargs: Any) -> NDArray:
    """Draw normal numbers of this shape; ``loc``, ``scale``, ``dtype``, ``ctx`` and ``out`` are given by name."""
    if "shape" in kwargs:
        raise refusal("random/randn", "randn takes its shape as positional arguments only", TypeError)
    return normal(kwargs.pop("loc", 0), kwargs.pop("scale", 1), shape, **kwargs)


def poisson(
    lam: Any = 1, shape: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None, **kwargs: Unpack[Named]
) -> NDArray:
    """Draw from the Poisson distribution with mean ``lam``.

    ``shape``, ``dtype``, ``ctx`` and ``out`` say what the result is: see the top of this module.
    """
    return _draw("poisson", {"lam": lam}, shape, dtype, ctx, out, kwargs)


def exponential(
    scale: Any = 1, shape: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None, **kwargs: Unpack[Named]
) -> NDArray:
    """Draw from the exponential distribution with mean ``scale``; a scale of 0 raises ZeroDivisionError.

    ``shape``, ``dtype``, ``ctx`` and ``out`` say what the result is: see the top of this module.
    """
    parameter_kind({"scale": scale}, NDArray)
    return _draw("exponential", {"lam": 1.0 / scale}, shape, dtype, ctx, out, kwargs)


def gamma(
    alpha: Any = 1, beta: Any = 1, shape: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None,
    **kwargs: Unpack[Named],
) -> NDArray:
    """Draw from the gamma distribution with shape ``alpha`` and size ``beta``: its mean is their product.

    ``shape``, ``dtype``, ``ctx`` and ``out`` say what the result is: see the top of this module.
    """
    return _draw("gamma", {"alpha": alpha, "beta": beta}, shape, dtype, ctx, out, kwargs)


def negative_binomial(
    k: Any = 1, p: Any = 1, shape: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None,
    **kwargs: Unpack[Named],
) -> NDArray:
    """Draw the number of failures before ``k`` successes, each of which has probability ``p``.

    ``shape``, ``dtype``, ``ctx`` and ``out`` say what the result is: see the top of this module.
    """
    return _draw("negative_binomial", {"k": k, "p": p}, shape, dtype, ctx, out, kwargs)


def generalized_negative_binomial(
    mu: Any = 1, alpha: Any = 1, shape: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None,
    **kwargs: Unpack[Named],
) -> NDArray:
    """Draw whole numbers with mean ``mu`` and variance ``mu + alpha * mu**2``.

    ``shape``, ``dtype``, ``ctx`` and ``out`` say what the result is: see the top of this module.
    """
    parameters = {"mu": mu, "alpha": alpha}
    return _draw("generalized_negative_binomial", parameters, shape, dtype, ctx, out, kwargs)


def randint(
    low: Any, high: Any, shape: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None, **kwargs: Unpack[Named]
) -> NDArray:
    """Draw whole numbers of ``low`` .. ``high`` - 1, int32 unless ``dtype`` says int64. Numbers only.

    ``shape``, ``dtype``, ``ctx`` and ``out`` say what the result is: see the top of this module.
    """
    parameters = {"low": low, "high": high}
    if parameter_kind(parameters, NDArray) is NDArray:
        raise refusal("random/randint", "randint takes low and high as numbers, not as arrays", ValueError)
    return _draw("randint", parameters, shape, dtype, ctx, out, kwargs)


def _checked(data: Any) -> NDArray:
    if not isinstance(data, NDArray):
        raise refusal("nd/input", f"Argument data must have NDArray type, but got {data!r}", AssertionError)
    return data


def multinomial(
    data: NDArray, shape: Any = None, get_prob: bool = False, out: Any = None, dtype: Any = "int32", **kwargs: Any
) -> Any:
    """Draw classes 0, 1, ... with the probabilities along the last axis of ``data``.

    The result has the shape of ``data`` without its last axis, followed by ``shape``. With ``get_prob``
    a second array holds the logarithm of each class's probability; it can be differentiated. ``dtype`` is the type
    of the classes; ``out`` receives the result.
    """
    attrs = {**kwargs, "get_prob": get_prob, "dtype": operators.dtype_of(dtype).name}
    if shape is not None:
        attrs["shape"] = as_shape(shape)
    attrs.pop("name", None)
    return operators.call("_sample_multinomial", _checked(data), out=out, **attrs)


def shuffle(data: NDArray, **kwargs: Any) -> NDArray:
    """Return the rows of ``data`` in a random order."""
    kwargs.pop("name", None)
    return operators.call("_shuffle", _checked(data), **kwargs)


def _like(operator: str) -> Any:
    return operators.make_function(get(operator), operator.removeprefix("_random_"))


exponential_like = _like("_random_exponential_like")
gamma_like = _like("_random_gamma_like")
generalized_negative_binomial_like = _like("_random_generalized_negative_binomial_like")
negative_binomial_like = _like("_random_negative_binomial_like")
normal_like = _like("_random_normal_like")
poisson_like = _like("_random_poisson_like")
uniform_like = _like("_random_uniform_like")

__all__ = [
    "exponential", "exponential_like", "gamma", "gamma_like", "generalized_negative_binomial",
    "generalized_negative_binomial_like", "multinomial", "negative_binomial", "negative_binomial_like", "normal",
    "normal_like", "poisson", "poisson_like", "randint", "randn", "shuffle", "uniform", "uniform_like",
]
