"""mx.sym.sparse: the operators that MXNet has in mx.nd.sparse, as functions on symbols."""

# Written by `python spec/stubs.py` from the registry of operators; do not edit.

from collections.abc import Sequence
from typing import Literal, overload

from typing_extensions import Unpack

from ..op_registry.argument_types import Attributes, Ends, Flag, GraphKeywords, Kind, Number, Sides, Whole
from .symbol import Symbol

__all__ = [
    "ElementWiseSum", "Embedding", "FullyConnected", "LinearRegressionOutput", "LogisticRegressionOutput",
    "MAERegressionOutput", "abs", "adagrad_update", "adam_update", "add_n", "arccos", "arccosh", "arcsin", "arcsinh",
    "arctan", "arctanh", "broadcast_add", "broadcast_div", "broadcast_minus", "broadcast_mul", "broadcast_plus",
    "broadcast_sub", "cast_storage", "cbrt", "ceil", "clip", "concat", "cos", "cosh", "degrees", "dot", "elemwise_add",
    "elemwise_div", "elemwise_mul", "elemwise_sub", "exp", "expm1", "fix", "floor", "ftrl_update", "gamma", "gammaln",
    "log", "log10", "log1p", "log2", "make_loss", "mean", "negative", "norm", "radians", "relu", "retain", "rint",
    "round", "rsqrt", "sgd_mom_update", "sgd_update", "sigmoid", "sign", "sin", "sinh", "slice", "sqrt", "square",
    "stop_gradient", "sum", "tan", "tanh", "trunc", "where", "zeros_like",
]

def ElementWiseSum(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., name: str | None = None, attr: Attributes | None = None,
    lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ..., force_mirroring: str = ...,
    mirror_stage: str = ..., __lr_mult__: Number | str = ..., __wd_mult__: Number | str = ..., __ctx_group__: str = ...,
    __force_mirroring__: str = ..., __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
@overload
def Embedding(
    data: Symbol | None = None, weight: Symbol | None = None, *, input_dim: Whole, output_dim: Whole,
    dtype: Kind | None = 'float32', sparse_grad: Flag | None = False, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def Embedding(
    data: Symbol | None, weight: Symbol | None, input_dim: Whole, output_dim: Whole, dtype: Kind | None = 'float32',
    sparse_grad: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def FullyConnected(
    data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None, *, num_hidden: Whole,
    no_bias: Flag | None = False, flatten: Flag | None = True, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def FullyConnected(
    data: Symbol | None, weight: Symbol | None, bias: Symbol | None, num_hidden: Whole, no_bias: Flag | None = False,
    flatten: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def LinearRegressionOutput(
    data: Symbol | None = None, label: Symbol | None = None, grad_scale: Number | None = 1.0, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def LogisticRegressionOutput(
    data: Symbol | None = None, label: Symbol | None = None, grad_scale: Number | None = 1.0, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def MAERegressionOutput(
    data: Symbol | None = None, label: Symbol | None = None, grad_scale: Number | None = 1.0, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def abs(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def adagrad_update(
    weight: Symbol | None = None, grad: Symbol | None = None, history: Symbol | None = None, *, lr: Number,
    epsilon: Number | None = 1e-07, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def adagrad_update(
    weight: Symbol | None, grad: Symbol | None, history: Symbol | None, lr: Number, epsilon: Number | None = 1e-07,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def adam_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mean: Symbol | None = None, var: Symbol | None = None, *,
    lr: Number, beta1: Number | None = 0.9, beta2: Number | None = 0.999, epsilon: Number | None = 1e-08,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0,
    lazy_update: Flag | None = True, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def adam_update(
    weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, lr: Number,
    beta1: Number | None = 0.9, beta2: Number | None = 0.999, epsilon: Number | None = 1e-08, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def add_n(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., name: str | None = None, attr: Attributes | None = None,
    lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ..., force_mirroring: str = ...,
    mirror_stage: str = ..., __lr_mult__: Number | str = ..., __wd_mult__: Number | str = ..., __ctx_group__: str = ...,
    __force_mirroring__: str = ..., __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def arccos(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def arccosh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def arcsin(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def arcsinh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def arctan(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def arctanh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_add(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_div(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_minus(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_mul(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_plus(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def broadcast_sub(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def cast_storage(
    data: Symbol | None = None, *, stype: Literal['default', 'row_sparse', 'csr'], name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def cast_storage(
    data: Symbol | None, stype: Literal['default', 'row_sparse', 'csr'], *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def cbrt(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def ceil(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def clip(
    data: Symbol | None = None, *, a_min: Number, a_max: Number, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def clip(
    data: Symbol | None, a_min: Number, a_max: Number, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def concat(
    *data: Symbol | Sequence[Symbol], num_args: Whole = ..., dim: Whole | None = 1, name: str | None = None,
    attr: Attributes | None = None, lr_mult: Number | str = ..., wd_mult: Number | str = ..., ctx_group: str = ...,
    force_mirroring: str = ..., mirror_stage: str = ..., __lr_mult__: Number | str = ...,
    __wd_mult__: Number | str = ..., __ctx_group__: str = ..., __force_mirroring__: str = ...,
    __mirror_stage__: str = ..., **named: Symbol
) -> Symbol: ...
def cos(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def cosh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def degrees(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def dot(
    lhs: Symbol | None = None, rhs: Symbol | None = None, transpose_a: Flag | None = False,
    transpose_b: Flag | None = False, forward_stype: Literal['None', 'default', 'csr', 'row_sparse'] | None = None, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def elemwise_add(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def elemwise_div(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def elemwise_mul(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def elemwise_sub(
    lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def exp(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def expm1(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def fix(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def floor(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def ftrl_update(
    weight: Symbol | None = None, grad: Symbol | None = None, z: Symbol | None = None, n: Symbol | None = None, *,
    lr: Number, lamda1: Number | None = 0.01, beta: Number | None = 1.0, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def ftrl_update(
    weight: Symbol | None, grad: Symbol | None, z: Symbol | None, n: Symbol | None, lr: Number,
    lamda1: Number | None = 0.01, beta: Number | None = 1.0, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def gamma(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def gammaln(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def log(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def log10(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def log1p(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def log2(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def make_loss(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def mean(
    data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def negative(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def norm(
    data: Symbol | None = None, ord: Whole | None = 2, axis: Sides | None = None,
    out_dtype: Literal['float16', 'float32', 'float64', 'int32', 'int64', 'int8'] | None = None,
    keepdims: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def radians(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def relu(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def retain(
    data: Symbol | None = None, indices: Symbol | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def rint(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def round(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def rsqrt(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def sgd_mom_update(
    weight: Symbol | None = None, grad: Symbol | None = None, mom: Symbol | None = None, *, lr: Number,
    momentum: Number | None = 0.0, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def sgd_mom_update(
    weight: Symbol | None, grad: Symbol | None, mom: Symbol | None, lr: Number, momentum: Number | None = 0.0,
    wd: Number | None = 0.0, rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0,
    lazy_update: Flag | None = True, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def sgd_update(
    weight: Symbol | None = None, grad: Symbol | None = None, *, lr: Number, wd: Number | None = 0.0,
    rescale_grad: Number | None = 1.0, clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def sgd_update(
    weight: Symbol | None, grad: Symbol | None, lr: Number, wd: Number | None = 0.0, rescale_grad: Number | None = 1.0,
    clip_gradient: Number | None = -1.0, lazy_update: Flag | None = True, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sigmoid(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sign(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sin(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sinh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def slice(
    data: Symbol | None = None, *, begin: Ends, end: Ends, step: Ends | None = ..., name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def slice(
    data: Symbol | None, begin: Ends, end: Ends, step: Ends | None = ..., *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sqrt(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def square(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def stop_gradient(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def sum(
    data: Symbol | None = None, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False,
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def tan(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def tanh(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def trunc(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def where(
    condition: Symbol | None = None, x: Symbol | None = None, y: Symbol | None = None, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def zeros_like(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
