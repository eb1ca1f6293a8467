"""mx.util, mx.runtime, mx.error, GPU memory, and the names that MXNet has in these modules and test_utils."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

import refimpl as mx
from refimpl import context, error, registry, runtime, test_utils, util

MODULES = {"util": util, "runtime": runtime, "registry": registry, "error": error, "test_utils": test_utils}

# MXNet 1.9.1: inspect.signature of everything public in these modules, parameter names only
SIGNATURES = {
    "util": """
        get_cuda_compute_capability(ctx)  get_gpu_count()  get_gpu_memory(gpu_dev_id)  getenv(name)
        is_np_array()  is_np_shape()  np_array(active)  np_shape(active)  np_ufunc_legal_option(key, value)
        reset_np()  set_module(module)  set_np(shape, array)  set_np_shape(active)  setenv(name, value)
        use_np(func)  use_np_array(func)  use_np_shape(func)  wrap_np_binary_func(func)
        wrap_np_unary_func(func)
    """,
    "runtime": """
        Feature  Features  feature_list()
    """,
    "registry": """
        get_alias_func(base_class, nickname)  get_create_func(base_class, nickname)
        get_register_func(base_class, nickname)  get_registry(base_class)
    """,
    "error": """
        MXNetError  register(func_name, cls)
    """,
    "test_utils": """
        Context  DummyIter  Features  Symbol  almost_equal(a, b, rtol, atol, equal_nan, use_broadcast)
        array(source_array, ctx, dtype)  assert_allclose(a, b, rtol, atol, equal_nan)
        assert_almost_equal(a, b, rtol, atol, names, equal_nan, use_broadcast, mismatches)
        assert_almost_equal_ignore_nan(a, b, rtol, atol, names)  assert_almost_equal_with_err(a, b, rtol,
        atol, etol, names, equal_nan, mismatches)  assert_exception(f, exception_type, *args, **kwargs)
        assign_each(the_input, function)  assign_each2(input1, input2, function)  checkShapes(a, b)
        check_consistency(sym, ctx_list, scale, grad_req, arg_params, aux_params, rtol, atol, raise_on_err,
        ground_truth, equal_nan, use_uniform, rand_type)  check_gluon_hybridize_consistency(net_builder,
        data_l, numpy_func, test_grad, rtol, atol)  check_numeric_gradient(sym, location, aux_states,
        numeric_eps, rtol, atol, grad_nodes, use_forward_train, ctx, grad_stype_dict, dtype)
        check_speed(sym, location, ctx, N, grad_req, typ, **kwargs)  check_symbolic_backward(sym, location,
        out_grads, expected, rtol, atol, aux_states, grad_req, ctx, grad_stypes, equal_nan, dtype)
        check_symbolic_forward(sym, location, expected, rtol, atol, aux_states, ctx, equal_nan, dtype)
        chi_square_check(generator, buckets, probs, nsamples)  collapse_sum_like(a, shape)
        compare_ndarray_tuple(t1, t2, rtol, atol)  compare_optimizer(opt1, opt2, shape, dtype, w_stype,
        g_stype, rtol, atol, compare_states, ntensors)  create_2d_tensor(rows, columns, dtype)
        create_sparse_array(shape, stype, data_init, rsp_indices, dtype, modifier_func, density,
        shuffle_csr_indices)  create_sparse_array_zd(shape, stype, density, data_init, rsp_indices, dtype,
        modifier_func, shuffle_csr_indices)  create_vector(size, dtype)  current_context()  default_atols()
        default_context()  default_dtype()  default_numeric_eps()  default_rtols()  discard_stderr()
        download(url, fname, dirname, overwrite, retries)  download_model(model_name, dst_dir, meta_info)
        effective_dtype(dat)  environment(*args)  gen_buckets_probs_with_ppf(ppf, nbuckets)  get_atol(atol,
        dtype)  get_bz2_data(data_dir, data_name, url, data_origin_name)  get_cifar10()
        get_cuda_compute_capability(ctx)  get_etol(etol)  get_identity_mat(size)
        get_identity_mat_batch(size)  get_im2rec_path(home_env)  get_mnist()  get_mnist_iterator(batch_size,
        input_shape, num_parts, part_index)  get_mnist_pkl()  get_mnist_ubyte()  get_rtol(rtol, dtype)
        get_tolerance(dat, tol, default_tol)  get_tols(x, y, rtol, atol)  get_zip_data(data_dir, url,
        data_origin_name)  getenv(name)  has_tvm_ops()  is_aarch64_run()  is_cd_run()  is_op_runnable()
        list_gpus()  locationError(a, b, index, names, maxError)  mean_check(generator, mu, sigma, nsamples)
        new_matrix_with_real_eigvals_2d(n)  new_matrix_with_real_eigvals_nd(shape)
        new_orthonormal_matrix_2d(n)  new_sym_matrix_with_real_eigvals_2d(n)
        new_sym_matrix_with_real_eigvals_nd(shape)  np_reduce(dat, axis, keepdims, numpy_reduce_func)
        np_symbol  numeric_grad(executor, location, aux_states, eps, use_forward_train, dtype)
        rand_coord_2d(x_low, x_high, y_low, y_high)  rand_ndarray(shape, stype, density, dtype,
        modifier_func, shuffle_csr_indices, distribution, ctx)  rand_shape_2d(dim0, dim1, allow_zero_size)
        rand_shape_3d(dim0, dim1, dim2, allow_zero_size)  rand_shape_nd(num_dim, dim, allow_zero_size)
        rand_sparse_ndarray(shape, stype, density, dtype, distribution, data_init, rsp_indices,
        modifier_func, shuffle_csr_indices, ctx)  random_arrays(*shapes)  random_sample(population, k)
        random_uniform_arrays(*shapes, **kwargs)  retry(n)  same(a, b)  same_array(array1, array2)
        same_symbol_structure(sym1, sym2)  set_default_context(ctx)  setenv(name, value)
        shuffle_csr_column_indices(csr)  simple_forward(sym, ctx, is_train, **inputs)  use_np(func)
        var_check(generator, sigma, nsamples)  verify_generator(generator, buckets, probs, nsamples,
        nrepeat, success_rate, alpha)
    """,
}


@pytest.mark.parametrize("name_of_module", MODULES)
def test_names_and_signatures(name_of_module) -> None:
    wanted = re.findall(r"(\w+)(?:\(([^)]*)\))?", SIGNATURES[name_of_module])
    assert len(wanted) == {"util": 19, "runtime": 3, "registry": 4, "error": 2, "test_utils": 92}[name_of_module]
    for name, parameters in wanted:
        thing = getattr(MODULES[name_of_module], name)
        if inspect.isclass(thing) or name == "array":  # mx.nd.array belongs to another module
            continue
        found = [
            {2: "*", 4: "**"}.get(int(p.kind), "") + p.name for p in inspect.signature(thing).parameters.values()
        ]
        assert found == [word for word in re.split(r",\s+", parameters) if word], name


@pytest.fixture(autouse=True)
def _switches():
    yield
    util.reset_np()


def switches() -> tuple[bool, bool]:
    return util.is_np_shape(), util.is_np_array()


def test_setting_switches() -> None:
    assert util.set_np_shape(1) is False
    assert util.set_np_shape(False) is True
    util.set_np()
    assert switches() == (True, True)
    util.set_np(shape=True, array=False)
    assert switches() == (True, False)
    util.reset_np()
    assert switches() == (False, False)


@pytest.mark.clause("util/array-needs-shape")
def test_arrays_need_shapes() -> None:
    with pytest.raises(ValueError, match="NumPy Shape semantics is required") as caught:
        util.set_np(shape=False, array=True)
    assert caught.value.clause == "util/array-needs-shape"
    assert switches() == (False, False)


def test_scopes_of_switches() -> None:
    scope = util.np_shape()
    with scope, util.np_array():
        assert switches() == (True, True)
        with util.np_shape(active=False), scope:
            assert switches() == (True, True)
        with pytest.raises(KeyError), util.np_array(active=False):
            raise KeyError
        assert switches() == (True, True)
    assert switches() == (False, False)


def test_switches_belong_to_a_thread() -> None:
    # MXNet 1.9.1: a thread started after set_np() sees (False, False)
    util.set_np()
    seen = []
    thread = threading.Thread(target=lambda: seen.append(switches()))
    thread.start()
    thread.join()
    assert seen == [(False, False)]


def test_decorated_functions() -> None:
    def look(n: int = 0) -> tuple[bool, bool]:
        """Look."""
        return switches()

    assert util.use_np_shape(look)() == (True, False)
    assert util.use_np_array(look)() == (False, True)
    assert util.use_np(look)(n=1) == (True, True)
    assert (util.use_np(look).__name__, util.use_np(look).__doc__) == ("look", "Look.")


def test_decorated_class() -> None:
    # MXNet 1.9.1: (True, True) for every member, also inherited ones; the base class stays as it was
    class Base:
        def inherited(self):
            return switches()

    @util.use_np
    class Net(Base):
        sides = 3

        def __init__(self):
            self.made = switches()

        def method(self):
            return super().inherited()

        @property
        def value(self):
            return switches()

        @value.setter
        def value(self, wanted):
            self.put = switches()

        @staticmethod
        def static():
            return switches()

        @classmethod
        def of_class(cls):
            return switches()

    net = Net()
    net.value = 1
    seen = [net.made, net.method(), net.value, net.put, net.static(), net.of_class(), net.inherited()]
    assert seen == [(True, True)] * 7
    assert (net.sides, Base().inherited(), switches()) == (3, (False, False), (False, False))


@pytest.mark.clause("util/decorates")
@pytest.mark.parametrize("decorator", [util.use_np, util.use_np_shape, util.use_np_array])
def test_what_cannot_be_decorated(decorator) -> None:
    with pytest.raises(TypeError, match="can only decorate classes and callable objects") as caught:
        decorator(3)
    assert caught.value.clause == "util/decorates"


# MXNet 1.9.1: np_ufunc_legal_option(key, value)
LEGAL = [
    ("where", False, True), ("where", 1, True), ("casting", "safe", True), ("casting", "foo", False),
    ("order", "Z", True), ("order", 3, False), ("subok", False, True), ("subok", 1, False),
    ("dtype", "int8", True), ("dtype", np.float64, True), ("dtype", np.dtype("float32"), False),
    ("dtype", "bool", False), ("dtype", "double", False), ("dtype", bool, False), ("dtype", None, False),
    ("out", 1, False), ("axis", 1, False),
]


@pytest.mark.parametrize(("key", "value", "legal"), LEGAL)
def test_legal_options(key, value, legal) -> None:
    assert util.np_ufunc_legal_option(key, value) is legal


@util.wrap_np_unary_func
def unary(x, out=None):
    return x, out


@util.wrap_np_binary_func
def binary(x1, x2, out=None):
    return x1, x2, out


@pytest.mark.clause("util/ufunc-options")
def test_wrapped_functions() -> None:
    assert unary(1, where=True, order="K", dtype=None, casting="same_kind", subok=True) == (1, None)
    assert unary(1, 3) == (1, 3)
    assert binary(1, 2, out=3, order="K") == (1, 2, 3)
    refused = [
        (NotImplementedError, {"where": False}), (NotImplementedError, {"casting": "safe"}),
        (NotImplementedError, {"dtype": "int8"}), (NotImplementedError, {"subok": False}),
        (TypeError, {"casting": "foo"}), (TypeError, {"axis": 3}), (TypeError, {"order": 3}),
    ]
    for kind, options in refused:
        for call in (lambda options=options: unary(1, **options), lambda options=options: binary(1, 2, **options)):
            with pytest.raises(kind) as caught:
                call()
            assert caught.value.clause == "util/ufunc-options"


def test_set_module() -> None:
    def function() -> None:
        """Nothing."""

    home = function.__module__
    assert util.set_module(None)(function).__module__ == home
    assert util.set_module("elsewhere")(function).__module__ == "elsewhere"


@pytest.mark.clause("util/environment-text")
def test_environment_variables(monkeypatch) -> None:
    monkeypatch.delenv("REFIMPL_TEST", raising=False)
    assert util.getenv("REFIMPL_TEST") is None
    util.setenv("REFIMPL_TEST", "x")
    assert util.getenv("REFIMPL_TEST") == os.environ["REFIMPL_TEST"] == "x"
    with pytest.raises(TypeError) as caught:
        util.setenv("REFIMPL_TEST", 3)
    assert caught.value.clause == "util/environment-text"
    util.setenv("REFIMPL_TEST", None)
    util.setenv("REFIMPL_TEST", None)
    assert "REFIMPL_TEST" not in os.environ


@pytest.mark.clause("util/gpu-context")
@pytest.mark.parametrize("ctx", [mx.cpu(0), 3])
def test_capability_of_what_is_no_gpu(ctx) -> None:
    with pytest.raises(ValueError, match="Expecting a gpu context") as caught:
        util.get_cuda_compute_capability(ctx)
    assert caught.value.clause == "util/gpu-context"


@pytest.mark.clause("Context/gpu-present")
@pytest.mark.parametrize("ask", [
    lambda absent: context.gpu_memory_info(absent), lambda absent: util.get_gpu_memory(absent),
    lambda absent: util.get_cuda_compute_capability(mx.gpu(absent)),
], ids=["info", "memory", "capability"])
def test_absent_gpu(ask) -> None:
    with pytest.raises(mx.MXNetError) as caught:
        ask(util.get_gpu_count())
    assert caught.value.clause == "Context/gpu-present"


@pytest.mark.gpu
@pytest.mark.skipif(not mx.context.num_gpus(), reason="needs a CUDA device")
def test_present_gpu() -> None:
    free, total = context.gpu_memory_info(0)
    assert 0 < free <= total
    assert util.get_cuda_compute_capability(mx.gpu(0)) >= 50


def test_features() -> None:
    features = runtime.Features()
    assert features is runtime.Features()
    assert [feature.name for feature in runtime.feature_list()] == list(features)
    assert features.is_enabled("cuda") is (util.get_gpu_count() > 0)
    assert repr(runtime.Feature("CUDA", True)) == "✔ CUDA"
    assert str(runtime.Feature("TVM_OP", False)) == "✖ TVM_OP"
    assert features.is_enabled("Profiler")
    with pytest.raises(KeyError):
        features["FOO"]


@pytest.mark.clause("runtime/known-feature")
def test_unknown_feature() -> None:
    with pytest.raises(RuntimeError, match=r"Feature 'FOO' is unknown, known features are: \['CUDA'") as caught:
        runtime.Features().is_enabled("foo")
    assert caught.value.clause == "runtime/known-feature"


def test_error_types() -> None:
    @error.register
    class MyError(error.MXNetError):
        """An error of a test."""

    @error.register("Other")
    class Another(ValueError):
        """Another one."""

    assert error.register("Third", KeyError) is KeyError
    found = [error.error_type(name) for name in ("MyError", "Other", "Third", "ValueError", "Nobody")]
    assert found == [MyError, Another, KeyError, ValueError, mx.MXNetError]
    assert issubclass(error.InternalError, mx.MXNetError)
    for name in ("MyError", "Other", "Third"):
        del error._TYPES[name]


@pytest.mark.clause("Executor/former-switches")
def test_a_switch_that_is_gone_is_told_once() -> None:
    """Six that are gone, and one that there is; each import is that of a new process."""
    former = {
        "REFIMPL_CHAINS": "fused", "REFIMPL_PLAIN_KERNELS": "1", "REFIMPL_PROGRAM": "table", "REFIMPL_THREADS": "2",
        "REFIMPL_UPDATE": "each", "REFIMPL_WINOGRAD": "0",
    }
    code = "import refimpl as mx\na = mx.sym.Variable('a')\n(a * a).bind(mx.cpu(), {'a': mx.nd.ones(2)}).forward()"

    def told(**environment: str) -> list[str]:
        without = {name: value for name, value in os.environ.items() if name not in former}
        done = subprocess.run(
            [sys.executable, "-W", "always", "-c", code], env={**without, **environment}, capture_output=True,
            text=True, check=True,
        )
        return [line for line in done.stderr.splitlines() if "UserWarning" in line]

    assert told(REFIMPL_FAST="1") == []
    lines = told(**former)
    assert [re.findall("^.*Warning: (REFIMPL_[A-Z_]+)", line) for line in lines] == [[name] for name in former]
    assert all(line.startswith("<string>:1: ") and "has no effect any more" in line for line in lines)
    assert "context=[mx.cpu(0), mx.cpu(1)]" in lines[3]
