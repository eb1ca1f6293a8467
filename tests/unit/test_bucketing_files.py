"""What a BucketingModule writes and reads, and every refusal of its own."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import refimpl as mx

from .bucket_nets import bag, batch, ready, values

OPTIONS = {"learning_rate": 0.5, "momentum": 0.5}


# --- files ----------------------------------------------------------------------------------------


def go_on_alike(module, other):
    """Both take the same steps, and end with the same weights."""
    for each in (module, other):
        for length in (5, 7, 10):
            each.forward_backward(batch(length))
            each.update()
    for name, value in values(module).items():
        assert np.array_equal(values(other)[name], value), name


@pytest.mark.clause("Bucketing/checkpoint")
@pytest.mark.parametrize("contexts", [1, 2])
def test_resuming_equals_going_on(tmp_path, contexts):
    prefix = str(tmp_path / "net")
    devices = [mx.cpu(i) for i in range(contexts)]
    module = ready(initializer=mx.init.Xavier(), context=devices)
    module.init_optimizer(optimizer_params=OPTIONS)
    for length in (5, 10):
        module.forward_backward(batch(length))
        module.update()
    module.save_checkpoint(prefix, 3, save_optimizer_states=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "net-0003.params", "net-0003.states", "net-10-symbol.json", "net-5-symbol.json", "net.buckets",
    ]
    other = mx.mod.BucketingModule.load(
        prefix, 3, bag, default_bucket_key=10, load_optimizer_states=True, context=devices
    )
    assert (other.binded, other.params_initialized) == (False, True)
    assert sorted(values(other)) == sorted(values(module))
    other.bind([("data", (4, 10))], [("softmax_label", (4,))])
    other.init_optimizer(optimizer_params=OPTIONS)
    go_on_alike(module, other)


@pytest.mark.clause("Bucketing/checkpoint")
def test_resuming_goes_on_with_a_schedule_that_is_told_the_step(tmp_path):
    """``begin_num_update`` is how a script of MXNet says how many updates there were before."""
    def options(**more):
        schedule = mx.lr_scheduler.FactorScheduler(step=2, factor=0.5, base_lr=0.5)
        return {"learning_rate": 0.5, "momentum": 0.5, "lr_scheduler": schedule, **more}

    prefix = str(tmp_path / "net")
    module = ready(initializer=mx.init.Xavier())
    module.init_optimizer(optimizer_params=options())
    for length in (5, 10, 5):
        module.forward_backward(batch(length))
        module.update()
    module.save_checkpoint(prefix, 1, save_optimizer_states=True)
    other = mx.mod.BucketingModule.load(prefix, 1, bag, 10, load_optimizer_states=True)
    other.bind([("data", (4, 10))], [("softmax_label", (4,))])
    other.init_optimizer(optimizer_params=options(begin_num_update=3))
    go_on_alike(module, other)


@pytest.mark.clause("Bucketing/checkpoint")
def test_the_list_of_buckets_is_mxnets(tmp_path):
    # MXNet 1.9.1, buckets 10, 5, 7, 12, 6 in the order of their first batch: these bytes
    module = ready()
    for length in (5, 7, 12, 6):
        module.prepare(batch(length))
    module.save_checkpoint(str(tmp_path / "n"), 3)
    assert (tmp_path / "n.buckets").read_bytes().hex() == (
        "120100000000000000000000000000000100000000000000c9fa93f9000000000100000005000000000000000100000000"
        "000000040000000a00000005000000070000000c000000060000000000000000000000"
    )


@pytest.mark.clause("Bucketing/checkpoint")
def test_states_alone(tmp_path):
    file = str(tmp_path / "o.states")
    modules = [ready() for _ in range(2)]
    for module in modules:
        module.init_optimizer(optimizer_params=OPTIONS)
    first, second = modules
    first.forward_backward(batch(5))
    first.update()
    first.save_optimizer_states(file)
    second.set_params(*first.get_params())
    second.load_optimizer_states(file)
    for module in modules:
        module.forward_backward(batch(7))
        module.update()
    for name, value in values(first).items():
        assert np.array_equal(values(second)[name], value), name


@pytest.mark.clause("Bucketing/load", "Bucketing/names")
def test_loaded_buckets_share_automatic_names(tmp_path):
    # MXNet 1.9.1 calls sym_gen outside a fresh counter here; the second bucket then fails to bind
    module = ready()
    module.forward(batch(5), is_train=False)
    expected = module.get_outputs()[0].asnumpy()
    module.save_checkpoint(str(tmp_path / "n"), 1)
    other = mx.mod.BucketingModule.load(str(tmp_path / "n"), 1, bag, 10)
    other.bind([("data", (4, 10))], [("softmax_label", (4,))])
    assert sorted(other._buckets) == [5, 10]
    other.forward(batch(5), is_train=False)
    assert np.array_equal(other.get_outputs()[0].asnumpy(), expected)


@pytest.mark.clause("Bucketing/load")
def test_loading_from_dicts_and_with_another_default_bucket():
    module = ready()
    given = {"sym_gen": bag, "arg_params": module.get_params()[0], "aux_params": {}}
    with mx.name.NameManager():  # names counted from zero, whatever other tests have counted
        symbol = bag(10)[0]
    for default in (10, 77):
        other = mx.mod.BucketingModule.load_dict({10: symbol}, default_bucket_key=default, **given)
        assert other.params_initialized
        other.bind([("data", (4, default))], [("softmax_label", (4,))])
        for name, value in values(module).items():
            assert np.array_equal(values(other)[name], value), name


# --- refusals -------------------------------------------------------------------------------------

clause = pytest.mark.clause
Bucketing = mx.mod.BucketingModule


def case(name, mark, kind, call):
    return pytest.param(kind, call, id=name, marks=clause(mark))


def more_layers(key):
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    if key > 10:
        net = mx.sym.FullyConnected(net, num_hidden=2, name="extra")
    return net, ("data",), None


def more_states(key):
    data = mx.sym.Variable("data")
    if key > 10:
        data = mx.sym.BatchNorm(data, mx.sym.ones((2,)), mx.sym.zeros((2,)), name="bn")
    return mx.sym.FullyConnected(data, num_hidden=3, name="fc"), ("data",), None


def wider(key):
    return mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=key, name="fc"), ("data",), None


def switched(sym_gen, key):
    module = Bucketing(sym_gen, 10)
    module.bind([("data", (4, 2))])
    module.init_params()
    module.switch_bucket(key, [("data", (4, 2))])


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        case("no default", "Bucketing/default-key", AssertionError, lambda: Bucketing(bag)),
        case("no function", "Bucketing/sym-gen", TypeError, lambda: Bucketing(3, 10)),
        case("symbol alone", "Bucketing/sym-gen", ValueError, lambda: Bucketing(lambda key: bag(key)[0], 10)),
        case("two things", "Bucketing/sym-gen", ValueError, lambda: Bucketing(lambda key: bag(key)[:2], 10)),
        case(
            "data name", "Module/input-names", ValueError,
            lambda: Bucketing(lambda key: (bag(key)[0], ("x",), None), 10),
        ),
        case("fixed", "Module/input-names", ValueError, lambda: Bucketing(bag, 10, fixed_param_names=["zz"])),
        case("state", "Module/input-names", ValueError, lambda: Bucketing(bag, 10, state_names=["zz"])),
        case("work load", "Module/work-load", AssertionError, lambda: Bucketing(bag, 10, work_load_list=[1, 2])),
        case(
            "shared", "Bucketing/shared", AssertionError,
            lambda: Bucketing(bag, 10).bind([("data", (4, 10))], shared_module=ready()),
        ),
        case(
            "inference", "Module/input-gradients-train", AssertionError,
            lambda: Bucketing(bag, 10).bind([("data", (4, 10))], for_training=False, inputs_need_grad=True),
        ),
        case("no key", "Bucketing/batch-key", TypeError, lambda: ready().forward(batch(5, bucket_key=None))),
        case("list key", "Bucketing/batch-key", TypeError, lambda: ready().forward(batch(5, bucket_key=[5]))),
        case("batches", "Bucketing/batch-key", TypeError, lambda: ready().forward([batch(5)])),
        case("array", "Bucketing/batch-key", TypeError, lambda: ready().predict(mx.nd.ones((4, 10)))),
        case(
            "no shapes", "Bucketing/batch-shapes", TypeError, lambda: ready().prepare(batch(5, provide_data=None))
        ),
        case("layers", "Module/shared-names", mx.MXNetError, lambda: switched(more_layers, 15)),
        case("statistics", "Module/shared-names", mx.MXNetError, lambda: switched(more_states, 15)),
        case("shape", "ExecutorGroup/shared-shape", mx.MXNetError, lambda: switched(wider, 5)),
        case(
            "missing", "Module/missing-parameter", RuntimeError, lambda: ready().set_params({}, {})
        ),
        case(
            "extra", "Module/extra-name", ValueError,
            lambda: ready().set_params({"zz": mx.nd.ones(1)}, {}, allow_missing=True),
        ),
        case("load symbols", "Bucketing/load", AssertionError, lambda: Bucketing.load_dict()),
        case("load arguments", "Bucketing/load", AssertionError, lambda: Bucketing.load_dict({})),
        case("load states", "Bucketing/load", AssertionError, lambda: Bucketing.load_dict({}, arg_params={})),
        case(
            "load function", "Bucketing/load", AssertionError,
            lambda: Bucketing.load_dict({}, arg_params={}, aux_params={}),
        ),
        case(
            "load key", "Bucketing/load", AssertionError,
            lambda: Bucketing.load_dict({}, bag, arg_params={}, aux_params={}),
        ),
        case("file function", "Bucketing/load", AssertionError, lambda: Bucketing.load("n", 1)),
        case("file key", "Bucketing/load", AssertionError, lambda: Bucketing.load("n", 1, bag)),
        case("no file", "params-file/readable", mx.MXNetError, lambda: Bucketing.load("nowhere/n", 1, bag, 10)),
    ],
)
def test_refusal(kind, call, request):
    (named,) = request.node.get_closest_marker("clause").args
    with warnings.catch_warnings(), pytest.raises(kind) as caught:
        warnings.simplefilter("ignore")
        call()
    assert caught.value.clause == named
    assert named in str(caught.value)


@clause("Bucketing/parameters")
@pytest.mark.parametrize(("sym_gen", "key"), [(more_layers, 15), (more_states, 15), (wider, 5)])
def test_what_the_default_bucket_does_not_have_is_refused(sym_gen, key):
    # MXNet 1.9.1 raises RuntimeError ("simple_bind error"), which an MXNetError is
    with pytest.raises(RuntimeError, match=r"share with|only the batch"):
        switched(sym_gen, key)


@clause("Bucketing/failed-switch")
def test_a_failed_batch_leaves_the_current_bucket():
    module = ready()
    module.forward(batch(5))
    before = module.get_outputs()[0].asnumpy()
    for call in (
        lambda: module.forward(batch(6, provide_data=[("x", (4, 6))])),
        lambda: module.prepare(batch(6, provide_data=[("x", (4, 6))])),
        lambda: module.switch_bucket(6, [("x", (4, 6))]),
        lambda: module.forward(mx.io.DataBatch([mx.nd.ones((4, 10, 3))], [mx.nd.zeros(4)], bucket_key=10)),
    ):
        with pytest.raises((ValueError, RuntimeError)):
            call()
        assert sorted(module._buckets) == [5, 10]
        assert module.data_shapes == [("data", (4, 5))]
        assert np.array_equal(module.get_outputs()[0].asnumpy(), before)


@clause("Bucketing/saved-keys")
@pytest.mark.parametrize("key", ["aaaaa", (10, 3), 2**40, 2.5])
def test_keys_that_are_no_numbers_cannot_be_saved(tmp_path, key):
    module = mx.mod.BucketingModule(bag, key)
    module.bind([("data", (4, 10))], [("softmax_label", (4,))])
    module.init_params()
    with pytest.raises(TypeError) as caught:
        module.save_checkpoint(str(tmp_path / "n"), 3)
    assert caught.value.clause == "Bucketing/saved-keys"
    assert not list(tmp_path.iterdir())
    module.save_params(str(tmp_path / "n.params"))
    assert min(mx.nd.load(str(tmp_path / "n.params"))) == "arg:embed_weight"


@clause("Bucketing/key-file")
@pytest.mark.parametrize(
    "content", [{"keys": mx.nd.array([1], dtype="int32")}, [mx.nd.ones(1), mx.nd.ones(1)], [mx.nd.ones((2, 2))]]
)
def test_a_file_that_lists_no_keys_is_refused(tmp_path, content):
    ready().save_checkpoint(str(tmp_path / "n"), 1)
    mx.nd.save(str(tmp_path / "n.buckets"), content)
    with pytest.raises(mx.MXNetError) as caught:
        mx.mod.BucketingModule.load(str(tmp_path / "n"), 1, bag, 10)
    assert caught.value.clause == "Bucketing/key-file"


@clause("Module/needs-optimizer")
def test_saving_states_without_an_optimizer_writes_nothing(tmp_path):
    with pytest.raises(AssertionError):
        ready().save_checkpoint(str(tmp_path / "n"), 1, save_optimizer_states=True)
    assert not list(tmp_path.iterdir())
