"""Random streams and what is drawn from them: numbers recorded from MXNet 1.9.1 on the CPU.

Recorded with ``mx.random.seed(SEED)``, then calls of ``mx.nd._internal.NAME(shape=(N,), **PARAMS)``
in the order below, printed by ``float(v).hex()`` at the positions given.
"""

from __future__ import annotations

import platform
from typing import Any

import numba
import numpy as np
import pytest

from refimpl.kernels.foundation import MXNetError
from refimpl.kernels.foundation.harness import Call
from refimpl.kernels.shared.random_streams import STATE_SIZE, new_streams, seed_streams, shares

INTERPRETED = bool(numba.config.DISABLE_JIT)
EXACT_LOG = platform.libc_ver()[0] == "glibc" and not INTERPRETED

AT = [0, 1, 43, 44, 86, 87, 88, 129]  # 130 numbers are made by 3 engines, 44 at most each
CONSECUTIVE = [
    ("_random_uniform", {"low": -0.07, "high": 0.07}, """0x1.87536p-7 -0x1.6765c8p-7 0x1.f71220p-8
        0x1.2348a0p-5 -0x1.077c0ap-5 -0x1.5f8234p-5 -0x1.13a2d8p-7 0x1.7298e0p-5"""),
    ("_random_uniform", {"dtype": "float64"}, """0x1.e06879d2e610ep-7 0x1.43648571e17d1p-1
        0x1.06f0868065570p-1 0x1.7d6b0a6b24f88p-1 0x1.84bc5a369f545p-6 0x1.be7d7361cea14p-2
        0x1.3699b3313a8a8p-7 0x1.3794ac8b7b42dp-1"""),
    ("_random_normal", {"loc": 0.3, "scale": 0.7}, """0x1.18e71ap-2 -0x1.2e6c18p+0 0x1.ec9b48p-3
        -0x1.61219ep-1 0x1.555e40p+0 0x1.64a5a6p-1 0x1.ac2c0ep-2 -0x1.0d0ea0p-2"""),
    ("_random_normal", {"dtype": "float64"}, """-0x1.e44b7c8b4bb00p-4 0x1.b598f071408a7p-1
        0x1.1d7e5422abcecp+0 -0x1.7a8e6c8c34339p+0 -0x1.1b2c42c3d0fcap-2 0x1.6814eca3a39c2p+0
        -0x1.211bddf03b4c5p+0 -0x1.7f295e44e72a0p-1"""),
    ("_random_exponential", {"lam": 0.4}, """0x1.1506f6p+1 0x1.48c4cep+0 0x1.bd6cf4p-2 0x1.9fbf54p-1
        0x1.2c35acp+2 0x1.1bfacep+2 0x1.3f26b6p+0 0x1.342d4cp+1"""),
    ("_random_randint", {"low": -5, "high": 1000}, "454 44 990 438 433 95 725 790"),
    ("_random_randint", {"low": 0, "high": 2**40, "dtype": "int64"}, """456992457188 165304709323
        993836302816 102991713263 839252161189 788929505869 315032297348 175713971930"""),
]


def draw(state: Any, name: str, count: int, **params: Any) -> np.ndarray:
    return Call(name, [], {"shape": (count,), **params}).forward(rng=state)[0]


def number(text: str) -> float:
    return float.fromhex(text) if "0x" in text else float(text)


@pytest.mark.clause("random/shares")
@pytest.mark.clause("random/unit")
@pytest.mark.clause("random/normal")
@pytest.mark.clause("random/parameters")
def test_consecutive_calls_give_the_numbers_of_mxnet() -> None:
    state = new_streams(seed=3)
    for name, params, recorded in CONSECUTIVE:
        got = draw(state, name, 130, **params)[AT].astype(np.float64)
        wanted = np.array([number(text) for text in recorded.split()])
        if EXACT_LOG or name in ("_random_uniform", "_random_randint"):
            np.testing.assert_array_equal(got, wanted, f"{name} {params}")
        else:
            np.testing.assert_allclose(got, wanted, rtol=1e-6, err_msg=f"{name} {params}")


@pytest.mark.parametrize(
    ("seed", "recorded"),
    [
        (-4, ["0x1.6d66760000000p-3", "0x1.9efc2a0000000p-1"]),
        (2**31 - 1, ["0x1.9d0f200000000p-1", "0x1.67ac800000000p-2"]),
    ],
)
@pytest.mark.clause("random/engines")
def test_any_seed_works(seed: int, recorded: list[str]) -> None:
    got = draw(new_streams(seed=seed), "_random_uniform", 2)
    assert got.tolist() == [float.fromhex(text) for text in recorded]


@pytest.mark.clause("random/shares")
def test_an_engine_goes_on_beyond_its_624_words() -> None:
    # mx.random.seed(11), eleven calls of uniform(shape=(64,)): the eleventh ends with word 704
    state = new_streams(seed=11)
    for _ in range(11):
        got = draw(state, "_random_uniform", 64)
    recorded = "0x1.6dd6e8p-6 0x1.f52f0ap-2 0x1.68b274p-1 0x1.8ca5eep-1"
    assert got[[0, 1, 62, 63]].tolist() == [float.fromhex(text) for text in recorded.split()]


@pytest.mark.skipif(INTERPRETED, reason="a thousand engines take seconds without compilation")
@pytest.mark.clause("random/shares")
def test_many_numbers_use_all_engines() -> None:
    # mx.random.seed(11), three calls of uniform(shape=(70000,))
    state = new_streams(seed=11)
    last = [draw(state, "_random_uniform", 70000) for _ in range(3)][-1]
    recorded = """0x1.1bc1c2p-2 0x1.58b532p-1 0x1.c4cfcep-1 0x1.38c104p-3 0x1.9ece62p-1
        0x1.bb3c94p-3"""
    at = [0, 67, 68, 69, 35000, 69999]
    assert last[at].tolist() == [float.fromhex(text) for text in recorded.split()]


@pytest.mark.parametrize(
    ("count", "share"),
    [(1, (1, 1)), (64, (1, 64)), (65, (2, 33)), (130, (3, 44)), (65536, (1024, 64)),
     (65537, (1024, 65)), (70000, (1024, 69)), (0, (1, 0))],
)
def test_shares(count: int, share: tuple[int, int]) -> None:
    assert shares(count) == share


def test_seeding_restarts() -> None:
    state = new_streams(seed=1)
    first = draw(state, "_random_normal", 200)
    assert not np.array_equal(first, draw(state, "_random_normal", 200))
    seed_streams(state, 1)
    np.testing.assert_array_equal(first, draw(state, "_random_normal", 200))
    assert state.size == STATE_SIZE


@pytest.mark.parametrize(("p", "dtype", "kept"), [
    # mx.random.seed(5); Dropout(ones(20), p=0.3) in training, != 0
    (0.3, "float32", "01011100111001111010"),
    (0.3, "float64", "11101011001111011011"),
])  # fmt: skip
@pytest.mark.clause("Dropout/keep")
def test_dropout_keeps_what_mxnet_keeps(p: float, dtype: str, kept: str) -> None:
    state = new_streams(seed=5)
    call = Call("Dropout", [np.ones(20, dtype)], {"p": p})
    out, _ = call.forward(is_train=True, rng=state)
    assert "".join(str(int(v != 0)) for v in out) == kept
    if dtype == "float32":  # one draw each was taken: the next number is the 21st
        assert draw(state, "_random_uniform", 1)[0] == float.fromhex("0x1.8c638p-14")


@pytest.mark.clause("Dropout/half")
def test_half_dropout_draws_as_single() -> None:
    state = new_streams(seed=5)
    out, _ = Call("Dropout", [np.ones(20, np.float16)], {"p": 0.3}).forward(is_train=True, rng=state)
    assert "".join(str(int(v != 0)) for v in out) == "01011100111001111010"


@pytest.mark.clause("random/type")
@pytest.mark.parametrize(("name", "default"), [("_random_uniform", "float32"), ("_random_randint", "int32")])
def test_type_of_output(name: str, default: str) -> None:
    call = Call(name, [], {"shape": (2,), **({"low": 0, "high": 9} if "randint" in name else {})})
    assert call.types == [np.dtype(default)]
    wide = np.dtype("int64" if "randint" in name else "float64")
    assert call.op.infer_type(call.p, [], [wide]) == ([], [wide])
    narrow = call.p._replace(dtype=default)
    with pytest.raises(MXNetError) as caught:
        call.op.infer_type(narrow, [], [wide])
    assert caught.value.clause == "random/type"
