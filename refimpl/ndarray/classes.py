"""The classes of arrays, for modules that these classes import.

A method such as ``a + b`` runs an operator, and operators make arrays. So that classes and operators need not import
each other, ``ndarray.py`` and the modules of ``sparse/`` enter their classes here when they are imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base import refusal

if TYPE_CHECKING:
    from .ndarray import NDArray
    from .sparse.base import BaseSparseNDArray

ndarray: type[NDArray]
"""The class of dense arrays, from which the classes of sparse arrays derive."""

SPARSE: dict[str, type[BaseSparseNDArray]] = {}
"""Sparse storage type -> class of arrays."""


def sparse_class(stype: Any) -> type[BaseSparseNDArray]:
    """The class of arrays of storage ``stype``.

    Raises:
        ValueError: there is no such sparse storage.
    """
    if stype not in SPARSE:
        raise refusal("Sparse/storage", f"unknown storage type {stype}, use row_sparse or csr", ValueError)
    return SPARSE[stype]
