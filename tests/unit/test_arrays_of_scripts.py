"""What scripts of MXNet 1.x do with arrays: views by method, pickles, memory of NumPy."""

from __future__ import annotations

import base64
import io
import pickle
import warnings
import zlib
from typing import Any

import numpy as np
import pytest

import refimpl as mx

nd = mx.nd

# MXNet 1.9.1, for each row: x = mx.nd.zeros(shape); y = getattr(x, name)(*args, inplace=True); y[:] = 9
#   print(y.shape, x.shape, x)       # every element of x is 9
VIEWS: list[tuple[str, tuple[int, ...], tuple, tuple[int, ...]]] = [
    ("flatten", (2, 3), (), (2, 3)), ("flatten", (2, 3, 4), (), (2, 12)), ("flatten", (2,), (), (2, 1)),
    ("expand_dims", (2, 3), (0,), (1, 2, 3)), ("expand_dims", (2, 3), (-1,), (2, 3, 1)),
    ("expand_dims", (2, 3), (-3,), (1, 2, 3)), ("squeeze", (1, 2, 1), (), (2,)),
    ("squeeze", (1, 2, 1), (0,), (2, 1)), ("squeeze", (1, 2, 1), ((0, 2),), (2,)),
    ("squeeze", (1, 2, 1), ([0],), (2, 1)), ("squeeze", (1, 2, 1), (-1,), (1, 2)), ("squeeze", (1, 1), (), (1,)),
    ("squeeze", (1, 2, 1), (None,), (2,)),
]


@pytest.mark.clause("NDArray/in-place-shapes")
@pytest.mark.parametrize(("name", "shape", "args", "wanted"), VIEWS)
def test_views(name: str, shape: tuple[int, ...], args: tuple, wanted: tuple[int, ...]) -> None:
    for keywords, element in (({"inplace": True}, 9), ({"inplace": False}, 0), ({}, 0)):
        x = nd.zeros(shape)
        y = getattr(x, name)(*args, **keywords)
        y[:] = 9
        assert (y.shape, x.shape) == (wanted, shape)
        assert set(x.asnumpy().ravel().tolist()) == {element}
    x = nd.zeros(shape)
    if args:
        getattr(x, name)(*args, True)[:] = 9
        assert set(x.asnumpy().ravel().tolist()) == {9}


# MXNet 1.9.1: x = mx.nd.ones((1, 3)); x.attach_grad(); y = x.squeeze(inplace=True) * 2 under record; y.backward()
@pytest.mark.clause("NDArray/in-place-shapes")
@pytest.mark.parametrize(("name", "args"), [("squeeze", ()), ("flatten", ()), ("expand_dims", (0,))])
def test_views_are_recorded(name: str, args: tuple) -> None:
    x = nd.ones((1, 3))
    x.attach_grad()
    with mx.autograd.record():
        y = getattr(x, name)(*args, inplace=True) * 2
    y.backward()
    assert x.grad.asnumpy().tolist() == [[2, 2, 2]]


# MXNet 1.9.1: AssertionError "axis 7 is out of range for 2d array", "Squeeze target axis 1 must be size 1, got 2.",
# "axis (0, 0) contains duplicate which is not allowed."; NotSupportedForSparseNDArray for row_sparse arrays
@pytest.mark.clause("NDArray/in-place-axis")
@pytest.mark.parametrize(("name", "axis"), [
    ("expand_dims", 7), ("expand_dims", -5), ("squeeze", 1), ("squeeze", 5), ("squeeze", (0, 0)),
])
def test_views_that_cannot_be(name: str, axis: Any) -> None:
    with pytest.raises(AssertionError, match=f"{name} of shape"):
        getattr(nd.zeros((1, 2, 1)), name)(axis=axis, inplace=True)


@pytest.mark.clause("Sparse/reshape", "nd/arguments")
def test_views_of_sparse_arrays_and_doubled_arguments() -> None:
    with pytest.raises(mx.nd.sparse.NotSupportedForSparseNDArray):
        nd.ones((2, 2)).tostype("row_sparse").flatten(inplace=True)
    for call in (
        lambda x: x.squeeze(0, axis=0), lambda x: x.flatten(True, True),
        lambda x: x.flatten(inplace=True, out=nd.ones((1, 1))),
    ):
        with pytest.raises(TypeError, match="takes"):
            call(nd.ones((1, 1)))


# Written by MXNet 1.9.1:
#   held = {"w": mx.nd.array([[1, 2], [3, 4]]), "i": mx.nd.array([7], dtype="int32"),
#           "r": mx.nd.sparse.row_sparse_array((np.ones((1, 2), "float32"), [1]), shape=(3, 2)),
#           "c": mx.nd.sparse.csr_matrix(np.array([[0, 5], [0, 0]], "float32")),
#           "b": mx.io.DataBatch([mx.nd.array([[1, 2]])], [mx.nd.array([3])], pad=1,
#                                provide_data=[mx.io.DataDesc("x", (1, 2))])}
#   base64.b16encode(zlib.compress(pickle.dumps(held, protocol=2), 9))
PICKLE = (
    "78DA9553C96ED34018B693362943CBBEEF3B294BA12D65A7759B00858091A6077C892C2F836C35B5F3C5368D0F96DA832371E605780D"
    "38362FC6D8712ACB946D3433FF78EC7FBE657E6F952208354514046113A2B1D173983FE3985AB7AB85A348E4C6721A5192639429C622"
    "8C2B159E62698ED966A818AAAA0776DBB71D55257AE8B3611EAA866AB826333CC29C644130A12CF2BCC197C18F9DAF83EF7C2994B221"
    "E4A228E4DBCED6129F25DEA5E441C2BE14BCAD71BC59903EF6534CC698A238E0E9A9141B07AD92C5991E8A70D8AA58556B42A91570C5"
    "1CCE288EF151E503472C7EEC518A63318E539CC88EEDE264C121AFA3753D46A8BBB996AE769D3AC59D3A4D7126C2D90C5FCFE18B9956"
    "B1A03B89E53F785129F0CEBCE1D36807E712E6E7292EC4B8487129636EE0F2DECCEB6B7497F3158B33BE1AE15AC638CA312E1590FF76"
    "6B23A6E5DF33FF260985C462C4F544CC0D8A9B316A14D399181DB73231B6CB3B6968BEB6A2F98645707B7A1B7722DCAD29C9559AFC05"
    "665AB8372C86FB116633690B7B14A1F82F4588B984D23CC583180B140F3D5D53C6D362D4591B8F5A783CC47A12E1E97F14DEB049129E"
    "25C73FA7781163916229393EB1B0A399909A620A653B26EB61595648E24560AC335F5D672156646532F9B4EB7EB64DA6A6E2EB2D347E"
    "F1AAC13C83E065EA650FAF9A62B3D4C7EB3E56B7F126C2DB5A8A62FA6187A16938C14627249FDAAEE6CFCF11BCCB7EBDD00D7CBC4F5D"
    "96EBAB1F21079CE9540E7E68C807BE1FCCFC04840BFECB"
)


class _Renamed(pickle.Unpickler):
    """Finds MXNet's classes here, as a program does in which ``mxnet`` is another name of ``refimpl``."""

    def find_class(self, module: str, name: str) -> Any:
        first, dot, rest = module.partition(".")
        return super().find_class(f"refimpl{dot}{rest}" if first == "mxnet" else module, name)


@pytest.mark.clause("NDArray/state")
def test_pickles_of_mxnet() -> None:
    content = zlib.decompress(base64.b16decode(PICKLE))
    assert b"mxnet.ndarray.sparse" in content
    held = _Renamed(io.BytesIO(content)).load()  # the bytes above
    assert held["w"].asnumpy().tolist() == [[1, 2], [3, 4]]
    assert (held["i"].dtype, held["i"].asscalar(), held["i"].context) == (np.int32, 7, mx.cpu())
    assert type(held["r"]) is mx.nd.sparse.RowSparseNDArray
    assert held["r"].asnumpy().tolist() == [[0, 0], [1, 1], [0, 0]]
    assert type(held["c"]) is mx.nd.sparse.CSRNDArray
    assert held["c"].asnumpy().tolist() == [[0, 5], [0, 0]]
    batch = held["b"]
    assert type(batch) is mx.io.DataBatch
    assert batch.data[0].asnumpy().tolist() == [[1, 2]]
    assert (batch.label[0].asscalar(), batch.pad, batch.provide_data) == (3, 1, [mx.io.DataDesc("x", (1, 2))])
    held["w"] += held["w"]
    assert held["w"].asnumpy().tolist() == [[2, 4], [6, 8]]


# MXNet 1.9.1: NDArray(None).__getstate__() is {"handle": None}; that of an array is {"handle": bytearray}; an array of
# cpu(1) comes back on cpu(0)
@pytest.mark.clause("NDArray/state")
@pytest.mark.parametrize("stype", ["default", "row_sparse", "csr"])
def test_states(stype: str) -> None:
    array = nd.array([[1, 0], [0, 2]], ctx=mx.cpu(1)).tostype(stype)
    blank = type(array)(None)
    assert blank.__getstate__() == {"handle": None}
    blank.__setstate__({"handle": None})
    assert blank.__getstate__() == {"handle": None}
    state = array.__getstate__()
    assert type(state["handle"]) is bytearray
    for handle in (state["handle"], bytes(state["handle"])):
        made = type(array)(None)
        made.__setstate__({"handle": handle})
        assert (made.stype, made.context, made.asnumpy().tolist()) == (stype, mx.cpu(0), [[1, 0], [0, 2]])
        assert made.writable
    again = pickle.loads(pickle.dumps(made))  # our own bytes
    assert again.asnumpy().tolist() == [[1, 0], [0, 2]]
    for wrong in (b"", b"abc", bytes(state["handle"])[:-1]):
        with pytest.raises(mx.MXNetError):
            type(array)(None).__setstate__({"handle": wrong})
    with pytest.raises(TypeError, match="bytes of a record"):
        type(array)(None).__setstate__({"handle": "abc"})
    with pytest.raises(KeyError):
        type(array)(None).__setstate__({})


@pytest.mark.clause("NDArray/state")
def test_a_record_belongs_to_its_class() -> None:
    sparse = nd.ones((2, 2)).tostype("row_sparse")
    for target, source in ((nd.NDArray, sparse), (type(sparse), nd.ones((2, 2)))):
        with pytest.raises(mx.MXNetError, match="the record holds a"):
            target(None).__setstate__(source.__getstate__())


# MXNet 1.9.1: the array shares memory and its source becomes read-only, with zero_copy=True and by default
@pytest.mark.clause("NDArray/from-numpy-shared", "NDArray/from-numpy")
def test_memory_of_numpy_is_not_shared() -> None:
    values = np.ones((2, 2), np.float32)
    with pytest.raises(ValueError, match="cannot be shared"):
        nd.from_numpy(values, zero_copy=True)
    with pytest.warns(UserWarning, match="copies"):
        made = nd.from_numpy(values)
    made[:] = 5
    assert values.tolist() == [[1, 1], [1, 1]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nd.from_numpy(values, zero_copy=False)[:] = 5
    assert values.tolist() == [[1, 1], [1, 1]]
