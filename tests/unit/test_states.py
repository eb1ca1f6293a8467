"""Files with optimizer states, as MXNet 1.9.1 writes them, and the reading of hostile ones.

The files were made by

    o = mx.optimizer.create("sgd", momentum=.5, learning_rate=np.float32(.25), multi_precision=True,
        param_idx2name={0: "fc_weight"}, lr_scheduler=mx.lr_scheduler.FactorScheduler(3, .5, base_lr=.25))
    u = mx.optimizer.get_updater(o); a = nd.array([1, 1]); h = nd.array([1, 1], dtype="float16")
    for i in range(2): u(0, nd.array([1, 2]), a); u("h", nd.array([1, 2], dtype="float16"), h)

WITH_OPTIMIZER is u.get_states(True), PROTOCOL_n is pickle.dumps(u.states, n); each compressed, in base 85.
"""

from __future__ import annotations

import base64
import io
import pickle
import pickletools
import struct
import zlib
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl import ndarray as nd
from refimpl.optimizer import SGD, class_names, states

WITH_OPTIMIZER = """
c-obd&2G~`5P%&gP13&vfhxfpq?ZUGP6!213q@G+fj)q>wm0@l_S*8=N?fT@IZ#q*#HGXQ1g_k81jG|?g$vBuPC_LvUCG|@?
94YiKfdUETDFa9o#V(d;2@q$o{y!^vW%6h9ie9*zo?{ZwBO@fJV)q;O!^T==(~l8av>GMwp-?$HHJr{ufMN<X?BYqvkp_qoA
qUB7|%bWMk*ItA%^X+qw!%c+_^R2*3J{dxL7vMmsr4qI{hTgMJ&#EwviCprzgjh)!{n|FoL~|E00Co2{Pv6$+Mp|5%!|YQC`
UXBGOKGYv4`g@D=m&Bs*Pe*3_QM6nCPGfZtZY8O!1#byUt%h18;9qnHZGqMNp>BbNt4>LW7WZFF(sQ?I&_kklZAj^?4&hVHb
w3{k!}l!3|<!dL2wKY3Yx{P7T;z?PR3GAC-`f=MTEAd5IH$6k{0aa_<4G~?3MwP89j*s4ru_wzF4T4PQh<JIB=6@5hUTTjup
?KgjDRWHlP(LL%=V<vb>Hek-EzN?Nwk4mW{=?U!3{Iz_i&Y6NaMe4Jh>)dz#{WRge!=lI$(&zI=>r@FT0$BAAV42~-G7AOw{
$q#XYuNW9kycF?oHRBJtGt~w<DO6=k+^_;76cg&v>#mntq$~sKYt`y%&SPSJ@uR!7eSb#g1#za3N}sf5C(L?Wah}!sS9}p{W
ys!5MeeA+Kt#*xyox%(BzK)0>0E&J^
"""

PROTOCOL_0 = """
c-qyFJ!%6n5JpML?<A_sO8e`^B#<VJixgW0#I7V{!$ujrGQ?f(ko!1kbEKq-W{tsM0)bRkG4su!Dc%#7GTdh{PcOm6S+Lz^)
9sEO%e&jDlZ04CQh1;o!cu{D)df2^Pzj@Tzg-V;9kfQji|%ks6@<~|**Y`A1rDGZqW%1S`+D4F>7CcB^VRilfB$s-pZc*soo
?Pi4cehgpb|7kB$*{4QgUK7GRN4D?JDUiAiRX1wj~>r6?_SwocIfOAZz#uzF{~{iZv*i;E&8oF|*1qlzDMFz3xG(I54Y{;VM
owrzSC{JjXcu0aQ2XCj
"""

PROTOCOL_2 = """
c-ozg%}T>S6oqf1O?A|^{{MF0Rf;bl3hsn1W|iHLnG8%Jj+`cib`j_%1=l`}E)<d%bJ8HV?t#lWoAaH!@(a-Dh1Bc9>O8bbJ
e$SKKWCHYr;Wp#l<+xr3hYJ!5t-N~sYXW$A?MRHpIRZ9T;{s%Ay7iSC0b=n+a@q{qp|DN@AX&pQGdEfo;#mfdGufPs`@5+tb
VY!SxaL#aF6{p7{@`0Lyn_NMor0}XFTIx>lYZ9jtR_mL&wI^PdH9XoN=6IvZY=WxZHyJKvX$2t{Un!$4!Y_j=M~*F`S3Ln9p
HF
"""

PROTOCOL_5 = """
c-m`Vo%)dh0&1sdcr)~f=2qmTmgwcBBo-AVR>J5hJ?wrij$qd0DSoX}f~M3?>0!%A%uC5hoia@WYQo81lYfF}Mj&Q_iZL=Eg
9G~*7##LbDNgEP%$SnFoWTMzD1)6G6UftT$H36A52(9sN~s<Iu3$Q1
"""


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b85decode(text.replace("\n", "")))


FILES = {
    "with-optimizer": WITH_OPTIMIZER, "protocol-0": PROTOCOL_0, "protocol-2": PROTOCOL_2,
    "protocol-5": PROTOCOL_5,
}


def plain(state):
    """Arrays as (dtype name, nested list)."""
    if isinstance(state, (tuple, list)):
        return type(state)(map(plain, state))
    if isinstance(state, dict):
        return {key: plain(value) for key, value in state.items()}
    return (np.dtype(state.dtype).name, state.asnumpy().tolist()) if isinstance(state, nd.NDArray) else state


EXPECTED = {
    0: ("float32", [-0.375, -0.75]),
    "h": (("float32", [-0.375, -0.75]), ("float32", [0.375, -0.25])),
}


@pytest.mark.clause("States/layout")
@pytest.mark.parametrize("name", FILES)
def test_reads_files_of_mxnet(name) -> None:
    found, _ = states.loads(unpacked(FILES[name]))
    assert plain(found) == EXPECTED


@pytest.mark.clause("States/layout")
def test_reads_an_optimizer_of_mxnet() -> None:
    _, optimizer = states.loads(unpacked(WITH_OPTIMIZER))
    assert type(optimizer) is SGD
    assert (optimizer.momentum, optimizer.lr, optimizer.num_update) == (0.5, 0.25, 2)
    assert optimizer._all_index_update_counts == {0: {0: 2, "h": 2}}
    assert optimizer._index_update_count is optimizer._all_index_update_counts[0]
    assert (type(optimizer.lr_scheduler).__name__, optimizer.lr_scheduler.step) == ("FactorScheduler", 3)


@pytest.mark.clause("States/layout")
def test_what_is_written_names_the_classes_of_mxnet() -> None:
    class Stub:
        """Stands for any class; shows what MXNet's own reader would be given."""

        def __init__(self, *args) -> None:
            self.args = args

        def __setstate__(self, state) -> None:
            self.state = state

    named = []

    class Reader(pickle.Unpickler):
        def find_class(self, module, name):
            named.append((module, name))
            return bytearray if name == "bytearray" else Stub

    content = ({0: None, "a": (nd.array([1.0]), nd.array([2], dtype="float64"))}, SGD(momentum=0.5))
    found, optimizer = Reader(io.BytesIO(states.dumps(content))).load()
    array = ("mxnet.ndarray.ndarray", "NDArray")
    assert [n for n in named if n[0] != "builtins"] == [array, array, ("mxnet.optimizer.optimizer", "SGD")]
    assert found[0] is None
    assert found["a"][0].args == (None,)
    # u32 magic, i32 dense, i32 rank 1, i64 side 1, cpu(0), float32, 1.0
    assert found["a"][0].state == {"handle": bytearray.fromhex(
        "c9fa93f9 00000000 01000000 0100000000000000 01000000 00000000 00000000 0000803f"
    )}
    assert optimizer.state["momentum"] == 0.5
    assert "param_dict" not in optimizer.state


numbers = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5))
contents = st.dictionaries(
    st.integers(-3, 300) | st.text(max_size=5),
    st.recursive(
        numbers | st.lists(st.integers(-9, 9), min_size=1, max_size=3).map(nd.array),
        lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=5,
    ),
    max_size=4,
)


@pytest.mark.clause("States/layout")
@given(contents)
def test_round_trip(content) -> None:
    found, optimizer = states.loads(states.dumps(content))
    assert optimizer is None
    assert plain(found) == plain(content)


@pytest.mark.clause("States/layout")
def test_shared_arrays_stay_shared() -> None:
    array = nd.ones(1)
    found, _ = states.loads(states.dumps({0: array, 1: [array, array]}))
    assert found[0] is found[1][0] is found[1][1]


@pytest.mark.clause("States/valid")
@given(st.data())
def test_damage_is_refused(data) -> None:
    whole = bytearray(unpacked(data.draw(st.sampled_from(sorted(FILES.values())))))
    if data.draw(st.booleans()):
        del whole[data.draw(st.integers(0, len(whole) - 1)):]
    else:
        for _ in range(data.draw(st.integers(1, 3))):
            whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        states.loads(bytes(whole), "some.states")
    except mx.MXNetError as error:
        assert error.clause == "States/valid"  # damage may also leave a valid file
        assert "some.states" in str(error)


@pytest.mark.clause("States/sparse")
def test_sparse_states_of_mxnet() -> None:
    """mxnet-sparse.states: tests/fixtures/make_formats.py."""
    content = (Path(__file__).parents[1] / "fixtures" / "mxnet-sparse.states").read_bytes()
    found, optimizer = states.loads(content)
    matrix, half, nothing = found["w"]
    assert (found[0].stype, matrix.stype, half.stype, nothing) == ("row_sparse", "csr", "default", None)
    assert found[0].asnumpy().tolist() == [[1, 2], [0, 0], [3, 4], [0, 0]]
    assert matrix.asnumpy().tolist() == [[1, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 0]]
    assert (type(optimizer).__name__, type(optimizer.lr_scheduler).__name__) == ("SGD", "PolyScheduler")
    again, _ = states.loads(states.dumps((found, optimizer)))
    assert again[0].indices.asnumpy().tolist() == [0, 2]
    assert again["w"][0].data.asnumpy().tolist() == [1, 2, 3]
    named = [text for _, text, _ in pickletools.genops(states.dumps(found)) if isinstance(text, str)]
    assert [n for n in named if "mxnet" in n or n.endswith("Array")] == [
        "mxnet.ndarray.sparse", "RowSparseNDArray", "mxnet.ndarray.sparse", "CSRNDArray", "mxnet.ndarray.ndarray",
        "NDArray",
    ]
    with pytest.raises(mx.MXNetError, match="csr where row_sparse was announced"):
        states.loads(states.dumps({0: matrix}).replace(b"CSRNDArray", b"RowSparseNDArray").replace(
            struct.pack("<I", len("CSRNDArray")), struct.pack("<I", len("RowSparseNDArray")), 1))


@pytest.mark.clause("States/classes")
@pytest.mark.parametrize(
    ("module", "name", "found"),
    [
        ("mxnet.optimizer.optimizer", "SGD", "SGD"), ("mxnet.optimizer", "SGD", "SGD"),
        ("mxnet.optimizer.sgd", "SGD", "SGD"), ("mxnet.optimizer.optimizer", "Test", "Test"),
    ],
)
def test_an_optimizer_is_found_wherever_mxnet_kept_it(module: str, name: str, found: str) -> None:
    content = b"\x80\x02}c" + f"{module}\n{name}\n".encode() + b")\x81}b\x86."
    assert type(states.loads(content)[1]).__name__ == found


@pytest.mark.clause("States/classes")
@pytest.mark.parametrize("module", ["mxnet.lr_scheduler", "mxnet.misc"])
@pytest.mark.parametrize(
    "name", ["FactorScheduler", "MultiFactorScheduler", "PolyScheduler", "CosineScheduler", "LRScheduler"]
)
def test_schedulers_too(module: str, name: str) -> None:
    found, _ = states.loads(b"\x80\x02}K\x00c" + f"{module}\n{name}\n".encode() + b")\x81}bs.")
    assert type(found[0]).__name__ == name


@pytest.mark.clause("States/classes")
@pytest.mark.parametrize(
    ("module", "name"),
    [("mxnet.optimizer.optimizer", "Nothing"), ("mxnet.kvstore", "SGD"), ("os", "SGD"), ("mxnet.optimizer", "create")],
)
def test_no_other_name_of_mxnet_is_a_class(module: str, name: str) -> None:
    with pytest.raises(mx.MXNetError, match="not an optimizer or learning rate scheduler"):
        states.loads(b"\x80\x02}c" + f"{module}\n{name}\n".encode() + b")\x81}b\x86.")


@pytest.mark.clause("States/classes")
def test_a_class_of_mxnet_that_is_not_here_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_names, "_OF_MXNET", {*class_names._OF_MXNET, "Coming"})
    with pytest.raises(mx.MXNetError, match="a class of MXNet that does not exist here"):
        states.loads(b"\x80\x02}cmxnet.optimizer\nComing\n)\x81}b\x86.")


@pytest.mark.clause("Files/foreign")
@pytest.mark.parametrize(
    ("content", "match"), [(b"<html>", "HTML page"), (b"version https://git-lfs.github.com/spec/v1", "LFS")]
)
def test_what_was_handed_over_is_named(content: bytes, match: str) -> None:
    with pytest.raises(mx.MXNetError, match=f"x.states is not .* byte 0: .*{match}"):
        states.loads(content, "x.states")


class Dangerous:
    """Pickles into a call of ``function``."""

    def __init__(self, function, *args) -> None:
        self.call = function, args

    def __reduce__(self):
        return self.call


class Plain:
    pass


class WithSlots:
    __slots__ = ("x",)

    def __reduce__(self):
        return Plain, (), (None, {"__class__": int})


happened: list[str] = []

HOSTILE = {
    "call": {0: Dangerous(happened.append, "run")},
    "eval": {0: Dangerous(eval, "1")},
    "class": {0: Plain()},
    "slots": {0: WithSlots()},
    "bomb": {0: Dangerous(bytearray, 10**12)},
    "wide-text": {0: Dangerous(bytearray, "\u20ac", "latin-1")},
    "numpy": {0: np.arange(3)},
    "set": {0: {1, 2}},
    "no-dict": [1, 2],
    "no-optimizer": ({}, 3),
    "object-number": {0: Dangerous(np.dtype, "O")},
    "short-number": {0: Dangerous(type(np.float64(1)).__reduce__(np.float64(1))[0], np.dtype("f8"), b"1")},
}


@pytest.mark.clause("States/valid")
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_hostile_files_are_refused(name, protocol) -> None:
    content = pickle.dumps(HOSTILE[name], protocol)
    updater = mx.optimizer.get_updater(SGD())
    before = updater.states
    with pytest.raises(mx.MXNetError) as caught:
        updater.set_states(content)
    assert caught.value.clause == "States/valid"
    assert happened == []
    assert updater.states is before


@pytest.mark.clause("States/valid")
@pytest.mark.parametrize(
    "operations",
    [
        b"\x80\x04]\x94h\x00a.",  # a list inside itself
        b"\x80\x04](h\x00t.",
        b"cos\nsystem\n(S'true'\ntR.",
        b"\x80\x02}q\x00cbuiltins\ndict\nq\x01K\x00s.",  # a class as a key
        b"\x80\x04P0\n.",
        b"\x80\x02\x82\x01.",  # an extension code
        b"(" * 2000 + b"t" * 2000 + b".",  # deep nesting
        b"",
    ],
)
def test_hostile_programs_are_refused(operations) -> None:
    with pytest.raises(mx.MXNetError) as caught:
        states.loads(operations, "bad.states")
    assert caught.value.clause == "States/valid"


@pytest.mark.clause("States/valid")
def test_numbers_of_numpy_become_plain() -> None:
    content = {0: np.float32(0.5), 1: np.int64(-3), 2: OrderedDict(a=np.float64(0.1)), 3: np.bool_(True)}
    for protocol in (0, 2, 4, 5):
        found, _ = states.loads(pickle.dumps(content, protocol))
        assert found == {0: 0.5, 1: -3, 2: {"a": 0.1}, 3: True}
    found, _ = states.loads(states.dumps(content))
    assert found[0] == 0.5


class OwnRule(SGD):
    """An optimizer of a user's own."""


@pytest.mark.clause("States/own-classes")
def test_own_optimizers() -> None:
    content = states.dumps(({}, OwnRule(momentum=0.25)))
    _, optimizer = states.loads(content)
    assert type(optimizer) is OwnRule
    assert optimizer.momentum == 0.25
    with pytest.raises(mx.MXNetError, match="import the module that defines it"):
        states.loads(content.replace(b"OwnRule", b"OtherRu"))


@pytest.mark.clause("States/content")
@pytest.mark.parametrize(
    "value", [np.arange(3), {1, 2}, Plain(), len, 1j],
    ids=["array", "set", "object", "function", "complex"],
)
def test_other_content_is_not_written(value) -> None:
    with pytest.raises(mx.MXNetError) as caught:
        states.dumps({0: value})
    assert caught.value.clause == "States/content"
