"""Matrices of known structure, for tests of linear algebra."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from ..ndarray import NDArray, array


def get_identity_mat(size: int) -> NDArray:
    """The identity, (size, size), float32."""
    return array(np.identity(size))


def get_identity_mat_batch(size: int) -> NDArray:
    """Two identities, (2, size, size), float32."""
    return array(np.stack([np.identity(size)] * 2))


def new_orthonormal_matrix_2d(n: int) -> np.ndarray:
    """A random matrix whose rows have length 1 and are at right angles."""
    return np.linalg.qr(np.random.uniform(-1, 1, (n, n)))[0].T


def new_matrix_with_real_eigvals_2d(n: int) -> np.ndarray:
    """A random matrix with real eigenvalues, unequal and at least 1 apart from each other."""
    basis = new_orthonormal_matrix_2d(n)
    shear = basis @ (np.identity(n) + np.triu(np.random.uniform(-0.5, 0.5, (n, n)), 1))
    return shear @ np.diag(_apart(n)) @ np.linalg.inv(shear)


def new_sym_matrix_with_real_eigvals_2d(n: int) -> np.ndarray:
    """A random symmetric matrix, whose eigenvalues are at least 1 apart from each other."""
    basis = new_orthonormal_matrix_2d(n)
    matrix = basis.T @ np.diag(_apart(n)) @ basis
    return (matrix + matrix.T) / 2


def _apart(n: int) -> np.ndarray:
    steps = 1 + np.random.uniform(0, 1, n)
    return np.cumsum(steps) - steps.sum() / 2


def new_matrix_with_real_eigvals_nd(shape: tuple[int, ...]) -> np.ndarray:
    """Such matrices in the last two axes of ``shape``."""
    return _stack(new_matrix_with_real_eigvals_2d, shape)


def new_sym_matrix_with_real_eigvals_nd(shape: tuple[int, ...]) -> np.ndarray:
    """Such symmetric matrices in the last two axes of ``shape``."""
    return _stack(new_sym_matrix_with_real_eigvals_2d, shape)


def _stack(make: Callable[[int], np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    *outer, _, side = shape
    return np.array([make(side) for _ in range(prod(outer))]).reshape(shape)
