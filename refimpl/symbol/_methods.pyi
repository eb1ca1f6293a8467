"""The operators that Symbol has as methods: ``SymbolMethods`` exists for type checkers only."""

# Written by `python spec/stubs.py` from the registry of operators; do not edit.

from typing import Any, Literal, NoReturn

from typing_extensions import Unpack

from ..op_registry.argument_types import Attributes, Ends, Flag, GraphKeywords, Kind, Number, Sides, Whole
from .symbol import Symbol

class SymbolMethods:
    def abs(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def arccos(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def arccosh(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def arcsin(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def arcsinh(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def arctan(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def arctanh(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def argmax(
        self, axis: Whole | None = None, keepdims: Flag | None = False, *, name: str | None = None,
        attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def argmax_channel(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def argmin(
        self, axis: Whole | None = None, keepdims: Flag | None = False, *, name: str | None = None,
        attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def argsort(
        self, axis: Whole | None = -1, is_ascend: Flag | None = True, dtype: Kind | None = 'float32', *,
        name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def broadcast_axes(
        self, axis: Sides | None = (), size: Sides | None = (), *, name: str | None = None,
        attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def broadcast_like(
        self, rhs: Symbol | None = None, lhs_axes: Sides | None = None, rhs_axes: Sides | None = None, *,
        name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def broadcast_to(
        self, shape: Sides | None = (), *, name: str | None = None, attr: Attributes | None = None,
        **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def cbrt(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def ceil(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def clip(
        self, a_min: Number, a_max: Number, *, name: str | None = None, attr: Attributes | None = None,
        **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def cos(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def cosh(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def degrees(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def depth_to_space(
        self, block_size: Whole, *, name: str | None = None, attr: Attributes | None = None,
        **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def diag(
        self, k: Whole | None = 0, axis1: Whole | None = 0, axis2: Whole | None = 1, *, name: str | None = None,
        attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def exp(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def expand_dims(
        self, axis: Whole, inplace: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
        **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def expm1(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def fix(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def flatten(
        self, inplace: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
        **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def flip(
        self, axis: Sides, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def floor(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def log(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def log10(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def log1p(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def log2(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def log_softmax(
        self, axis: Whole | None = -1, temperature: Number | None = None, dtype: Kind | None = None,
        use_length: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
        **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def max(
        self, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
        name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def mean(
        self, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
        name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def min(
        self, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
        name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def nanprod(
        self, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
        name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def nansum(
        self, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
        name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def norm(
        self, ord: Whole | None = 2, axis: Sides | None = None,
        out_dtype: Literal['float16', 'float32', 'float64', 'int32', 'int64', 'int8'] | None = None,
        keepdims: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
        **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def one_hot(
        self, depth: Whole, on_value: Number | None = 1.0, off_value: Number | None = 0.0,
        dtype: Kind | None = 'float32', *, name: str | None = None, attr: Attributes | None = None,
        **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def ones_like(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def pad(
        self, mode: Literal['constant', 'edge', 'reflect'], pad_width: Sides, constant_value: Number | None = 0.0, *,
        name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def pick(
        self, index: Symbol | None = None, axis: Whole | None = -1, keepdims: Flag | None = False,
        mode: Literal['clip', 'wrap'] | None = 'clip', *, name: str | None = None, attr: Attributes | None = None,
        **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def prod(
        self, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
        name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def radians(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def rcbrt(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def reciprocal(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def relu(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def repeat(
        self, repeats: Whole, axis: Whole | None = None, *, name: str | None = None, attr: Attributes | None = None,
        **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def reshape(
        self, *sides: Sides, shape: Sides | None = None, reverse: Flag | None = False, name: str | None = None,
        attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def reshape_like(
        self, rhs: Symbol | None = None, lhs_begin: Whole | None = None, lhs_end: Whole | None = None,
        rhs_begin: Whole | None = None, rhs_end: Whole | None = None, *, name: str | None = None,
        attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def rint(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def round(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def rsqrt(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def shape_array(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def sigmoid(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def sign(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def sin(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def sinh(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def size_array(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def slice(
        self, begin: Ends, end: Ends, step: Ends | None = ..., *, name: str | None = None,
        attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def slice_axis(
        self, axis: Whole, begin: Whole, end: Whole | None, *, name: str | None = None, attr: Attributes | None = None,
        **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def slice_like(
        self, shape_like: Symbol | None = None, axes: Sides | None = (), *, name: str | None = None,
        attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def softmax(
        self, length: Symbol | None = None, axis: Whole | None = -1, temperature: Number | None = None,
        dtype: Kind | None = None, use_length: Flag | None = False, *, name: str | None = None,
        attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def softmin(
        self, axis: Whole | None = -1, temperature: Number | None = None, dtype: Kind | None = None,
        use_length: Flag | None = False, *, name: str | None = None, attr: Attributes | None = None,
        **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def sort(
        self, axis: Whole | None = -1, is_ascend: Flag | None = True, *, name: str | None = None,
        attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def space_to_depth(
        self, block_size: Whole, *, name: str | None = None, attr: Attributes | None = None,
        **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def split(
        self, num_outputs: Whole, axis: Whole | None = 1, squeeze_axis: Flag | None = False, *, name: str | None = None,
        attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def sqrt(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def square(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def squeeze(
        self, axis: Sides | None = None, inplace: Flag | None = False, *, name: str | None = None,
        attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def sum(
        self, axis: Sides | None = None, keepdims: Flag | None = False, exclude: Flag | None = False, *,
        name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def swapaxes(
        self, dim1: Whole | None = 0, dim2: Whole | None = 0, *, name: str | None = None,
        attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def take(
        self, indices: Symbol | None = None, axis: Whole | None = 0,
        mode: Literal['clip', 'raise', 'wrap'] | None = 'clip', *, name: str | None = None,
        attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def tan(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def tanh(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def tile(
        self, reps: Sides, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def topk(
        self, axis: Whole | None = -1, k: Whole | None = 1,
        ret_typ: Literal['both', 'indices', 'mask', 'value'] | None = 'indices', is_ascend: Flag | None = False,
        dtype: Kind | None = 'float32', *, name: str | None = None, attr: Attributes | None = None,
        **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def transpose(
        self, axes: Sides | None = (), *, name: str | None = None, attr: Attributes | None = None,
        **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def trunc(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def zeros_like(
        self, *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
    ) -> Symbol: ...
    def as_in_context(self, *args: Any, **kwargs: Any) -> NoReturn: ...
    def asnumpy(self, *args: Any, **kwargs: Any) -> NoReturn: ...
    def asscalar(self, *args: Any, **kwargs: Any) -> NoReturn: ...
    def backward(self, *args: Any, **kwargs: Any) -> NoReturn: ...
    def copy(self, *args: Any, **kwargs: Any) -> NoReturn: ...
    def detach(self, *args: Any, **kwargs: Any) -> NoReturn: ...
    def wait_to_read(self, *args: Any, **kwargs: Any) -> NoReturn: ...
