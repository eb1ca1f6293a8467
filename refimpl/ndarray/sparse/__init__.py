"""mx.nd.sparse: row_sparse and csr arrays, and the operators that know them."""

from __future__ import annotations

from ...op_registry.storage_rules import Rule, rules
from .. import dispatch  # noqa: F401  # what the table of rules is for
from ..convert import copy_into
from ..sparse_tape import cast as tostype
from ..sparse_tape import stand_in
from . import op, rules_elementwise, rules_products, rules_rows  # noqa: F401  # they fill the table of rules
from .arithmetic import add, divide, multiply, subtract
from .base import BaseSparseNDArray, NotSupportedForSparseNDArray, from_parts
from .creation import array, csr_matrix, empty, row_sparse_array, zeros
from .csr import CSRNDArray, is_scipy
from .op import *  # noqa: F403  # the operators that sparse arrays have a form of
from .row_sparse import RowSparseNDArray, put, stored_as

__all__ = [
    "BaseSparseNDArray", "CSRNDArray", "NotSupportedForSparseNDArray", "RowSparseNDArray", "Rule",
    "add", "array", "copy_into", "csr_matrix", "divide", "empty", "from_parts", "is_scipy",
    "multiply", "put", "row_sparse_array", "rules", "stand_in",
    "stored_as", "subtract", "tostype", "zeros",
]
__all__ += op.__all__
