"""mx.test_utils: tools for tests of networks and operators.

``tolerance`` and ``compare`` judge arrays, ``draw``, ``sparse_arrays`` and ``matrices`` make them,
``gradients``, ``consistency`` and ``compared_optimizers`` try symbols and optimizers, ``statistics`` random
generators, ``surroundings`` arranges what a test runs in, ``files`` fetches data.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import json
import logging
import numbers
import os
import platform
import struct
import sys
import time
import traceback
import zipfile
from collections import OrderedDict
from contextlib import contextmanager
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

import numpy as np
from numpy import random as rnd

from ..base import decides
from ..context import Context, current_context
from ..ndarray import array
from ..runtime import Features
from ..symbol import Symbol
from ..util import get_cuda_compute_capability, getenv, setenv, use_np
from .compare import (
    almost_equal,
    assert_allclose,
    assert_almost_equal,
    assert_almost_equal_ignore_nan,
    assert_almost_equal_with_err,
    checkShapes,
    compare_ndarray_tuple,
    locationError,
    same,
    same_array,
    same_symbol_structure,
)
from .compared_optimizers import compare_optimizer
from .consistency import check_consistency, check_gluon_hybridize_consistency, check_speed
from .draw import (
    DummyIter,
    assign_each,
    assign_each2,
    collapse_sum_like,
    create_2d_tensor,
    create_vector,
    np_reduce,
    rand_coord_2d,
    rand_shape_2d,
    rand_shape_3d,
    rand_shape_nd,
    random_arrays,
    random_sample,
    random_uniform_arrays,
)
from .files import (
    download,
    download_model,
    get_bz2_data,
    get_cifar10,
    get_im2rec_path,
    get_mnist,
    get_mnist_iterator,
    get_mnist_pkl,
    get_mnist_ubyte,
    get_zip_data,
)
from .gradients import (
    check_numeric_gradient,
    check_symbolic_backward,
    check_symbolic_forward,
    numeric_grad,
    simple_forward,
)
from .matrices import (
    get_identity_mat,
    get_identity_mat_batch,
    new_matrix_with_real_eigvals_2d,
    new_matrix_with_real_eigvals_nd,
    new_orthonormal_matrix_2d,
    new_sym_matrix_with_real_eigvals_2d,
    new_sym_matrix_with_real_eigvals_nd,
)
from .sparse_arrays import (
    create_sparse_array,
    create_sparse_array_zd,
    rand_ndarray,
    rand_sparse_ndarray,
    shuffle_csr_column_indices,
)
from .statistics import (
    chi_square_check,
    gen_buckets_probs_with_ppf,
    mean_check,
    var_check,
    verify_generator,
)
from .surroundings import (
    assert_exception,
    default_context,
    discard_stderr,
    environment,
    has_tvm_ops,
    is_aarch64_run,
    is_cd_run,
    is_op_runnable,
    list_gpus,
    np_symbol,
    retry,
    set_default_context,
)
from .tolerance import (
    default_atols,
    default_dtype,
    default_numeric_eps,
    default_rtols,
    effective_dtype,
    get_atol,
    get_etol,
    get_rtol,
    get_tolerance,
    get_tols,
)

if _TYPE_CHECKING:
    mx: _ModuleType  # refimpl/__init__.py puts it here
    npt: _ModuleType
    ss: _ModuleType | None


@decides("test_utils/star")
def _attribute(name: str) -> _Any:
    """The modules that take long to import, when they are asked for: NumPy's tests, and SciPy's statistics or None."""
    if name == "npt":
        return np.testing
    if name == "ss":
        try:
            import scipy.stats  # type: ignore[import-untyped]  # optional
        except ImportError:
            return None
        return scipy.stats
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


globals()["__getattr__"] = _attribute  # not a def: a type checker would then take any name

__all__ = [
    "Context", "DummyIter", "Features", "OrderedDict", "Symbol", "almost_equal", "array",
    "assert_allclose", "assert_almost_equal", "assert_almost_equal_ignore_nan",
    "assert_almost_equal_with_err", "assert_exception", "assign_each", "assign_each2", "bz2",
    "checkShapes", "check_consistency", "check_gluon_hybridize_consistency", "check_numeric_gradient",
    "check_speed", "check_symbolic_backward", "check_symbolic_forward", "chi_square_check",
    "collapse_sum_like", "compare_ndarray_tuple", "compare_optimizer", "contextmanager",
    "create_2d_tensor", "create_sparse_array", "create_sparse_array_zd", "create_vector",
    "current_context", "default_atols", "default_context", "default_dtype", "default_numeric_eps",
    "default_rtols", "discard_stderr", "download", "download_model", "effective_dtype", "environment",
    "errno", "gen_buckets_probs_with_ppf", "get_atol", "get_bz2_data", "get_cifar10",
    "get_cuda_compute_capability", "get_etol", "get_identity_mat", "get_identity_mat_batch",
    "get_im2rec_path", "get_mnist", "get_mnist_iterator", "get_mnist_pkl", "get_mnist_ubyte",
    "get_rtol", "get_tolerance", "get_tols", "get_zip_data", "getenv", "gzip", "has_tvm_ops",
    "is_aarch64_run", "is_cd_run", "is_op_runnable", "json", "list_gpus", "locationError", "logging",
    "mean_check", "mx", "new_matrix_with_real_eigvals_2d", "new_matrix_with_real_eigvals_nd",
    "new_orthonormal_matrix_2d", "new_sym_matrix_with_real_eigvals_2d",
    "new_sym_matrix_with_real_eigvals_nd", "np", "np_reduce", "np_symbol", "npt", "numbers",
    "numeric_grad", "os", "platform", "rand_coord_2d", "rand_ndarray", "rand_shape_2d", "rand_shape_3d",
    "rand_shape_nd", "rand_sparse_ndarray", "random_arrays", "random_sample", "random_uniform_arrays",
    "retry", "rnd", "same", "same_array", "same_symbol_structure", "set_default_context", "setenv",
    "shuffle_csr_column_indices", "simple_forward", "ss", "struct", "sys", "time", "traceback",
    "use_np", "var_check", "verify_generator", "zipfile",
]
