"""The base of operator pages. Loops and formulas that pages share are in ``loops``, ``walks``, ``pairs``."""

from .buffer import SLACK, Buffer, allocate, as_buffer, reserving, scratch, size_of
from .contract import (
    REGISTRY,
    Case,
    Op,
    distinct,
    get,
    register,
)
from .facts import ALWAYS, Sources, ZeroWhen, inputs_only, outputs_only
from .loop import LOOPS, Loop, plain_kernels
from .params import REQUIRED, AtLeast, AtMost, Count, Floats, Long, NoParams, Shape, keeps, whole_part
from .refusal import MXNetError, decides, printable, refusal, require
from .shapes import (
    UNKNOWN,
    agree,
    axes_of,
    broadcast,
    either,
    known,
    merge,
    merge_all,
    normal_axis,
    require_some,
    same_shape,
    same_type,
    strides_of,
    told,
)
from .texts import formula_for, items, scalar, steps

__all__ = [
    "ALWAYS", "LOOPS", "REGISTRY", "REQUIRED", "SLACK", "UNKNOWN", "AtLeast", "AtMost", "Buffer",
    "Case", "Count", "Floats", "Long", "Loop", "MXNetError", "NoParams", "Op", "Shape", "Sources",
    "ZeroWhen", "agree", "allocate", "as_buffer", "axes_of", "broadcast", "decides", "distinct",
    "either", "formula_for", "get", "inputs_only", "items", "keeps", "known", "merge", "merge_all",
    "normal_axis", "outputs_only", "plain_kernels", "printable", "refusal", "register", "require",
    "require_some", "reserving", "same_shape", "same_type", "scalar", "scratch", "size_of",
    "steps", "strides_of", "told", "whole_part",
]
