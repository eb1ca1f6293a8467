"""Initializers: values recorded from MXNet 1.9.1, the table of names, refusals."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl import initializer as init
from refimpl import ndarray as nd
from refimpl import registry
from refimpl.initializer import InitDesc

# First elements of `mx.random.seed(SEED); a = mx.nd.zeros(SHAPE); INIT(mx.init.InitDesc("w_weight"), a)`,
# printed by MXNet 1.9.1 with `float(v).hex()`.
RECORDED = [
    (0, init.Uniform(), (2, 2), """0x1.bfddc00000000p-8 0x1.a9ed300000000p-7 0x1.ed97b80000000p-6
        0x1.8ad4e00000000p-5"""),
    (7, init.Uniform(0.5), (2, 3), """-0x1.249ed80000000p-4 0x1.ab89600000000p-2 0x1.3b5e840000000p-2
        0x1.fda6f40000000p-2 0x1.ff2c480000000p-3 -0x1.a724800000000p-3"""),
    (7, init.Xavier(), (2, 3), """-0x1.408cb80000000p-3 0x1.d457c80000000p-1 0x1.59783c0000000p-1
        0x1.1725e40000000p+0 0x1.17fb200000000p-1 -0x1.cf878c0000000p-2"""),
    (7, init.Xavier(), (3, 2, 2, 2), """-0x1.408cb80000000p-4 0x1.d457c80000000p-2 0x1.59783c0000000p-2
        0x1.1725e40000000p-1 0x1.17fb200000000p-2 -0x1.cf878c0000000p-3"""),
    (11, init.Xavier("uniform", "out", 2.34), (2, 3, 2), """-0x1.3a18140000000p-2 0x1.6f27b80000000p-3
        0x1.e326800000000p-7 0x1.6199500000000p-4 -0x1.c936300000000p-4 -0x1.7f910a0000000p-1"""),
    (1, init.Xavier("uniform", "in", 2.34), (2, 3, 4), """0x1.58de000000000p-6 -0x1.926eee0000000p-2
        -0x1.a00b740000000p-2"""),
    (11, init.Xavier("gaussian", "in", 2), (2, 3), """0x1.716f0e0000000p-1 0x1.2f50e60000000p+1
        -0x1.46cd9a0000000p-3 0x1.f8d8b20000000p-1 0x1.adc5140000000p-2 0x1.946dca0000000p-4"""),
    (11, init.MSRAPrelu(), (2, 3), """0x1.889c7c0000000p-1 0x1.42586c0000000p+1 -0x1.5b4e5a0000000p-3
        0x1.0c427e0000000p+0 0x1.c8bb920000000p-2 0x1.adcd480000000p-4"""),
    (11, init.Normal(0.1), (2, 3), """0x1.69f83e0000000p-4 0x1.2930120000000p-2 -0x1.40334c0000000p-6
        0x1.eea5800000000p-4 0x1.a516340000000p-5 0x1.8c41fc0000000p-7"""),
]


def filled(initializer, name, shape, **kwargs) -> np.ndarray:
    array = nd.full(shape, 5.0, **kwargs)
    initializer(name if isinstance(name, InitDesc) else InitDesc(name), array)
    return array.asnumpy()


@pytest.mark.clause("Initializer/uniform")
@pytest.mark.clause("Initializer/xavier")
@pytest.mark.clause("Initializer/msra")
@pytest.mark.parametrize(
    ("seed", "initializer", "shape", "expected"), RECORDED, ids=lambda value: getattr(value, "dumps", str)()
    if isinstance(value, init.Initializer) else None,
)
def test_numbers_are_those_of_mxnet(seed, initializer, shape, expected) -> None:
    mx.random.seed(seed)
    got = filled(initializer, "w_weight", shape).ravel()
    words = expected.split()
    if isinstance(initializer, init.Normal) or getattr(initializer, "rnd_type", "") == "gaussian":
        # the logarithm of a float32 may differ in its last bit from one mathematical library to another
        np.testing.assert_allclose(got[: len(words)], list(map(float.fromhex, words)), rtol=2.0**-22)
    else:
        assert [float(v).hex() for v in got[: len(words)]] == words


@pytest.mark.clause("Initializer/uniform")
def test_a_second_array_continues_the_streams() -> None:
    # MXNet 1.9.1: seed(1), Uniform() into shape (3,) twice; the second array
    mx.random.seed(1)
    filled(init.Uniform(), "a_weight", (3,))
    second = filled(init.Uniform(), "b_weight", (3,))
    assert [float(v).hex() for v in second] == [
        "0x1.b1ab300000000p-7", "-0x1.6828fc0000000p-5", "0x1.b49fe80000000p-6",
    ]


@pytest.mark.clause("Initializer/uniform")
def test_an_array_of_several_streams() -> None:
    # MXNet 1.9.1: seed(2), Uniform(1) into shape (100,); elements 0, 49, 50 and 99
    mx.random.seed(2)
    got = filled(init.Uniform(1), "w_weight", (100,))
    assert [float(got[i]).hex() for i in (0, 49, 50, 99)] == [
        "0x1.8b3d800000000p-6", "0x1.ef76d40000000p-1", "-0x1.276ea00000000p-4", "-0x1.b178440000000p-1",
    ]


# MXNet 1.9.1, seed(5); LAPACKs differ in the last bits and may flip the sign of a row
ORTHOGONAL = [
    (init.Orthogonal(), (2, 3), [
        [-0.93407702, 0.73128617, -0.76949114], [-0.79870713, -1.1593039, -0.13220282],
    ]),
    (init.Orthogonal(2.0, "normal"), (3, 2), [
        [-0.33103526, -1.8651917], [0.71815032, -0.71976674], [-1.8370291, 0.05473158],
    ]),
]


@pytest.mark.clause("Initializer/orthogonal")
@pytest.mark.parametrize(("initializer", "shape", "expected"), ORTHOGONAL)
def test_orthogonal(initializer, shape, expected) -> None:
    mx.random.seed(5)
    got = filled(initializer, "w_weight", shape)
    np.testing.assert_allclose(np.abs(got), np.abs(expected), rtol=2e-6)


@pytest.mark.clause("Initializer/orthogonal")
@given(
    st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 3)),
    st.sampled_from(["uniform", "normal"]),
)
def test_orthogonal_rows_or_columns(shape, kind) -> None:
    matrix = filled(init.Orthogonal(3.0, kind), "w_weight", shape).reshape(shape[0], -1)
    short = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    np.testing.assert_allclose(short @ short.T, 9 * np.eye(len(short)), atol=1e-4)


# name -> the value One() gives it, as an InitDesc and as a plain string (MXNet 1.9.1); None: refused
NAMES = [
    ("x_weight", 1, 1), ("weight", 1, 1), ("x_bias", 0, 0), ("xmin_bias", 0, 0), ("x_gamma", 1, 1),
    ("x_beta", 0, 0), ("x_min", 0, 0), ("x_max", 1, 1), ("x_bias_quantize", 0, None),
    ("x_moving_mean", None, 0), ("x_moving_var", None, 1), ("a_moving_inv_var", None, 0),
    ("x_moving_avg", None, 0), ("x_running_mean", None, None), ("foo", None, None),
    ("stn_loc_weight", 1, 0), ("upsampling0_weight", 1, 1),
]


@pytest.mark.clause("Initializer/suffixes")
@pytest.mark.clause("Initializer/plain-names")
@pytest.mark.clause("Initializer/unknown-name")
@pytest.mark.parametrize(("name", "by_desc", "by_text"), NAMES)
def test_names(name, by_desc, by_text) -> None:
    for spelling, expected in ((InitDesc(name), by_desc), (name, by_text)):
        array = nd.full((1, 1, 1, 1), 5.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            if expected is None:
                with pytest.raises(ValueError, match="no rule says how") as caught:
                    init.One()(spelling, array)
                assert caught.value.clause == "Initializer/unknown-name"
            else:
                init.One()(spelling, array)
                assert array.asscalar() == expected


@pytest.mark.clause("Initializer/plain-names")
def test_plain_name_warns() -> None:
    with pytest.warns(DeprecationWarning, match="InitDesc"):
        init.One()("x_bias", nd.ones(2))


@pytest.mark.clause("Initializer/affine-bias")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_affine_bias() -> None:
    array = nd.zeros(6)
    init.Zero()("stn_loc_bias", array)
    assert array.asnumpy().tolist() == [1, 0, 0, 0, 1, 0]
    with pytest.raises(AssertionError) as caught:
        init.Zero()("stn_loc_bias", nd.zeros(5))
    assert caught.value.clause == "Initializer/affine-bias"


@pytest.mark.clause("Initializer/suffixes")
def test_quantized_weight() -> None:
    # MXNet 1.9.1: seed(3), InitDesc("x_weight_quantize"), shape (2,)
    mx.random.seed(3)
    assert filled(init.One(), "x_weight_quantize", (2,)).tolist() == [48, 48]


@pytest.mark.clause("Initializer/own-attribute")
@pytest.mark.parametrize("text", ['["constant", {"value": 0}]', "zeros", "Zero"])
def test_own_attribute(text) -> None:
    assert filled(init.One(), InitDesc("x_weight", {"__init__": text}), (2,)).tolist() == [0, 0]


@pytest.mark.clause("Initializer/own-attribute")
def test_desc_remembers_the_global_initializer() -> None:
    desc, outer = InitDesc("x_weight"), init.One()
    filled(outer, desc, (2,))
    assert (desc.global_init, desc.attrs, desc) == (outer, {}, "x_weight")


@pytest.mark.clause("Initializer/constants")
@pytest.mark.parametrize("value", [[1, 2], np.array([1, 2]), nd.array([1, 2])], ids=["list", "numpy", "nd"])
def test_constant_broadcasts(value) -> None:
    initializer = init.Constant(value)
    assert filled(initializer, "a_weight", (2, 2)).tolist() == [[1, 2], [1, 2]]
    assert init.create(initializer.dumps()) == initializer


@pytest.mark.clause("Initializer/bilinear")
def test_bilinear_of_unequal_sides() -> None:
    # MXNet 1.9.1: Bilinear() into shape (2, 2, 5, 3); every plane
    got = filled(init.Bilinear(), "up_weight", (2, 2, 5, 3))
    plane = [
        [0.0625, 0.1875, 0.1875], [0.1875, 0.5625, 0.5625], [0.1875, 0.5625, 0.5625],
        [0.0625, 0.1875, 0.1875], [-0.0625, -0.1875, -0.1875],
    ]
    assert got.tolist() == [[plane, plane], [plane, plane]]


@pytest.mark.clause("Initializer/lstm-bias")
def test_lstm_bias_of_any_length() -> None:
    assert filled(init.LSTMBias(), "a_weight", (6,)).tolist() == [0, 1, 0, 0, 0, 0]
    assert filled(init.LSTMBias(), "a_bias", (8,)).tolist() == [0] * 8


@pytest.mark.clause("Initializer/mixed")
def test_mixed_matches_from_the_start() -> None:
    mixed = init.Mixed(["weight", ".*weight"], [init.Zero(), init.One()])
    assert filled(mixed, "a_weight", (1,)).tolist() == [1]


@pytest.mark.clause("Initializer/load")
@pytest.mark.clause("Initializer/load-names")
def test_load_from_file(tmp_path: Path) -> None:
    file = str(tmp_path / "x.params")
    nd.save(file, {"arg:a": nd.array([1, 2]), "aux:b": nd.array([3])})
    loader = init.Load(file, default_init=init.One())
    assert filled(loader, "a", (2,)).tolist() == [1, 2]
    assert filled(loader, "b", (1,)).tolist() == [3]
    assert filled(loader, "c_weight", (1,)).tolist() == [1]
    nd.save(file, [nd.ones(1)])
    with pytest.raises(AssertionError) as caught:
        init.Load(file)
    assert caught.value.clause == "Initializer/load-names"


DUMPS = [
    (init.Zero(), '["zero", {}]'), (init.One(), '["one", {}]'),
    (init.Uniform(), '["uniform", {"scale": 0.07}]'),
    (init.Normal(), '["normal", {"sigma": 0.01}]'), (init.Constant(3), '["constant", {"value": 3}]'),
    (init.Orthogonal(), '["orthogonal", {"scale": 1.414, "rand_type": "uniform"}]'),
    (init.Xavier(), '["xavier", {"rnd_type": "uniform", "factor_type": "avg", "magnitude": 3}]'),
    (init.MSRAPrelu(), '["msraprelu", {"factor_type": "avg", "slope": 0.25}]'),
    (init.Bilinear(), '["bilinear", {}]'), (init.LSTMBias(2.0), '["lstmbias", {"forget_bias": 2.0}]'),
]


@pytest.mark.clause("Initializer/dumps")
@pytest.mark.parametrize(("initializer", "text"), DUMPS, ids=[text for _, text in DUMPS])
def test_dumps(initializer, text) -> None:
    assert initializer.dumps() == text
    assert init.create(text) == initializer


@pytest.mark.clause("Initializer/dumps")
def test_create_accepts_every_spelling() -> None:
    assert init.create({"initializer": "normal", "sigma": 2}) == init.Normal(2)
    assert init.create('{"initializer": "normal", "sigma": 2}') == init.Normal(2)
    assert init.create(initializer="zeros") == init.Zero() != init.One()
    one = init.One()
    assert init.create(one) is one


@pytest.mark.clause("registry/register")
def test_registry_warns_when_a_name_is_taken() -> None:
    class Thing: ...

    class First(Thing): ...

    register = registry.get_register_func(Thing, "thing")
    assert register(First) is First
    register(First)
    with pytest.warns(UserWarning, match="thing '.*' is .* now, no longer"):
        register(type("First", (Thing,), {}))
    assert list(registry.get_registry(Thing)) == ["first"]


@pytest.mark.clause("registry/register")
def test_a_subclass_must_override_init_weight() -> None:
    with pytest.raises(NotImplementedError, match="_init_weight"):
        filled(init.Initializer(), "a_weight", (1,))


def test_verbosity(caplog: pytest.LogCaptureFixture) -> None:
    # the messages of MXNet 1.9.1
    caplog.set_level(logging.INFO)
    filled(init.One().set_verbosity(True), "x_weight", (2,))
    filled(init.One().set_verbosity(True, lambda _: "sum"), "x_bias", (2,))
    filled(init.Load({"a": nd.ones(2)}, verbose=True), "a", (2,))
    assert caplog.messages == [
        "x_weight begins as weight: 1.0", "x_bias begins as bias: sum", "a is loaded",
    ]


def _fill(initializer, shape=(2,), name="a_weight"):
    return lambda: filled(initializer, name, shape)


REFUSALS = [
    ("Initializer/name-type", TypeError, lambda: init.One()(3, nd.ones(1))),
    ("Initializer/xavier-rank", ValueError, _fill(init.Xavier())),
    ("Initializer/xavier-factor", ValueError, _fill(init.Xavier(factor_type="both"), (2, 2))),
    ("Initializer/xavier-distribution", ValueError, _fill(init.Xavier("cauchy"), (2, 2))),
    ("Initializer/orthogonal-type", ValueError, _fill(init.Orthogonal(rand_type="cauchy"), (2, 2))),
    ("Initializer/bilinear-rank", IndexError, _fill(init.Bilinear())),
    ("Initializer/mixed-lengths", AssertionError, lambda: init.Mixed(["a"], [])),
    ("Initializer/mixed-no-match", ValueError, _fill(init.Mixed(["b"], [init.One()]))),
    ("Initializer/load-shape", AssertionError, _fill(init.Load({"a_weight": nd.ones(3)}))),
    ("Initializer/load-missing", AssertionError, _fill(init.Load({"b": nd.ones(3)}))),
    ("registry/known-name", AssertionError, lambda: init.create("nope")),
    ("registry/known-name", AssertionError, lambda: init.create("mixed")),
    ("registry/name-type", AssertionError, lambda: init.create(3)),
    ("registry/name-type", AssertionError, init.create),
    ("registry/json", ValueError, lambda: init.create('["zero"]')),
    ("registry/no-more-arguments", AssertionError, lambda: init.create(init.One(), value=1)),
    ("registry/no-more-arguments", AssertionError, lambda: init.create('["zero", {}]', 1)),
    ("registry/subclass", AssertionError, lambda: init.register(int)),
]


@pytest.mark.clause("Initializer/name-type")
@pytest.mark.clause("Initializer/xavier-rank")
@pytest.mark.clause("Initializer/xavier-factor")
@pytest.mark.clause("Initializer/xavier-distribution")
@pytest.mark.clause("Initializer/orthogonal-type")
@pytest.mark.clause("Initializer/bilinear-rank")
@pytest.mark.clause("Initializer/mixed-lengths")
@pytest.mark.clause("Initializer/mixed-no-match")
@pytest.mark.clause("Initializer/load-shape")
@pytest.mark.clause("Initializer/load-missing")
@pytest.mark.clause("registry/known-name")
@pytest.mark.clause("registry/name-type")
@pytest.mark.clause("registry/json")
@pytest.mark.clause("registry/no-more-arguments")
@pytest.mark.clause("registry/subclass")
@pytest.mark.parametrize(("clause", "kind", "call"), REFUSALS, ids=[r[0] for r in REFUSALS])
def test_refusals(clause, kind, call) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause
