"""mx.sym.random: graphs that draw random numbers, from the same distributions as mx.nd.random.

Parameters are numbers, for a value of ``shape`` (inferred where it is not given), or symbols, each element
of which makes a block of ``shape``. ``name`` and ``attr`` are the name and the attributes of the node.

Every function raises AssertionError for numbers mixed with symbols and ValueError for parameters of other types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..base import decides, dtype_of, refusal
from ..kernels.foundation import get
from ..ndarray.random import parameter_kind
from . import operators
from .symbol import Symbol

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..op_registry.argument_types import NodeKeywords


@decides("random/graph")
def _draw(name: str, parameters: dict[str, Any], shape: Any, dtype: Any, more: Mapping[str, Any]) -> Symbol:
    attrs = dict(more)
    if dtype is not None and dtype != "None":
        attrs["dtype"] = dtype_of(dtype).name
    if shape is not None:
        attrs["shape"] = shape
    if parameter_kind(parameters, Symbol) is Symbol:
        function = operators.make_function(get(f"_sample_{name}"), f"_sample_{name}")
        return function(*parameters.values(), **attrs)
    return operators.make_function(get(f"_random_{name}"), f"_random_{name}")(**parameters, **attrs)


def uniform(
    low: Any = 0, high: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Unpack[NodeKeywords],
) -> Symbol:
    """Numbers of [low, high).

    Args:
        low: the least number, or a symbol of least numbers.
        high: the bound that no number reaches, or a symbol.
        shape: the shape of the value, or of the block for each element of a parameter; inferred where it is None.
        dtype: the type of the numbers; None for float32.
        **kwargs: ``name`` and ``attr`` of the node.
    """
    return _draw("uniform", {"low": low, "high": high}, shape, dtype, kwargs)


def normal(
    loc: Any = 0, scale: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Unpack[NodeKeywords],
) -> Symbol:
    """Normal numbers with mean ``loc`` and standard deviation ``scale``.

    Args:
        loc: the mean, or a symbol of means.
        scale: the standard deviation, or a symbol.
        shape: the shape of the value, or of the block for each element of a parameter; inferred where it is None.
        dtype: the type of the numbers; None for float32.
        **kwargs: ``name`` and ``attr`` of the node.
    """
    return _draw("normal", {"loc": loc, "scale": scale}, shape, dtype, kwargs)


def randn(*shape: int, **kwargs: Any) -> Symbol:
    """Normal numbers of the given shape; ``loc``, ``scale`` and ``dtype`` are given by name."""
    if "shape" in kwargs:
        raise refusal("random/randn", "randn takes its shape as positional arguments only", TypeError)
    return normal(kwargs.pop("loc", 0), kwargs.pop("scale", 1), shape, **kwargs)


def poisson(lam: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Unpack[NodeKeywords]) -> Symbol:
    """Numbers of the Poisson distribution with mean ``lam``.

    Args:
        lam: the mean, or a symbol of means.
        shape: the shape of the value, or of the block for each element of a parameter; inferred where it is None.
        dtype: the type of the numbers; None for float32.
        **kwargs: ``name`` and ``attr`` of the node.
    """
    return _draw("poisson", {"lam": lam}, shape, dtype, kwargs)


def exponential(scale: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Unpack[NodeKeywords]) -> Symbol:
    """Numbers of the exponential distribution with mean ``scale``.

    Args:
        scale: the mean.
        shape: the shape of the value, or of the block for each element of a parameter; inferred where it is None.
        dtype: the type of the numbers; None for float32.
        **kwargs: ``name`` and ``attr`` of the node.
    """
    parameter_kind({"scale": scale}, Symbol)
    return _draw("exponential", {"lam": 1.0 / scale}, shape, dtype, kwargs)


def gamma(
    alpha: Any = 1, beta: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Unpack[NodeKeywords],
) -> Symbol:
    """Numbers of the gamma distribution with shape ``alpha`` and scale ``beta``.

    Args:
        alpha: the distribution's shape, or a symbol.
        beta: the distribution's scale, or a symbol.
        shape: the shape of the value, or of the block for each element of a parameter; inferred where it is None.
        dtype: the type of the numbers; None for float32.
        **kwargs: ``name`` and ``attr`` of the node.
    """
    return _draw("gamma", {"alpha": alpha, "beta": beta}, shape, dtype, kwargs)


def negative_binomial(
    k: Any = 1, p: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Unpack[NodeKeywords],
) -> Symbol:
    """The number of failures before ``k`` successes, each of which has probability ``p``.

    Args:
        k: the number of successes, or a symbol.
        p: the probability of a success, or a symbol.
        shape: the shape of the value, or of the block for each element of a parameter; inferred where it is None.
        dtype: the type of the numbers; None for float32.
        **kwargs: ``name`` and ``attr`` of the node.
    """
    return _draw("negative_binomial", {"k": k, "p": p}, shape, dtype, kwargs)


def generalized_negative_binomial(
    mu: Any = 1, alpha: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Unpack[NodeKeywords]
) -> Symbol:
    """Whole numbers with mean ``mu`` and variance ``mu + alpha * mu**2``.

    Args:
        mu: the mean, or a symbol of means.
        alpha: the dispersion, or a symbol.
        shape: the shape of the value, or of the block for each element of a parameter; inferred where it is None.
        dtype: the type of the numbers; None for float32.
        **kwargs: ``name`` and ``attr`` of the node.
    """
    return _draw("generalized_negative_binomial", {"mu": mu, "alpha": alpha}, shape, dtype, kwargs)


def randint(low: Any, high: Any, shape: Any = None, dtype: Any = None, **kwargs: Unpack[NodeKeywords]) -> Symbol:
    """Whole numbers of ``low`` .. ``high`` - 1; numbers only.

    Args:
        low: the least number.
        high: the bound that no number reaches.
        shape: the shape of the value; inferred where it is None.
        dtype: the type of the numbers; None for int32.
        **kwargs: ``name`` and ``attr`` of the node.
    """
    parameters = {"low": low, "high": high}
    if parameter_kind(parameters, Symbol) is Symbol:
        raise refusal("random/randint", "randint takes low and high as numbers, not as symbols", ValueError)
    return _draw("randint", parameters, shape, dtype, kwargs)


def multinomial(
    data: Symbol, shape: Any = None, get_prob: bool = True, dtype: Any = "int32", **kwargs: Any
) -> Symbol:
    """Classes drawn with the probabilities along the last axis of ``data``, and by default their log-probabilities.

    Args:
        data: probabilities, of which each row along the last axis sums to 1.
        shape: the shape of the draws from each row; None for one draw.
        get_prob: whether the log-probabilities are a second output.
        dtype: the type of the classes.
        **kwargs: ``name`` and ``attr`` of the node.
    """
    if shape is not None:
        kwargs["shape"] = shape
    function = operators.make_function(get("_sample_multinomial"), "_sample_multinomial")
    return function(data, get_prob=get_prob, dtype=dtype_of(dtype).name, **kwargs)


def shuffle(data: Symbol, **kwargs: Any) -> Symbol:
    """The rows of ``data`` in a random order."""
    return operators.make_function(get("_shuffle"), "_shuffle")(data, **kwargs)


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
