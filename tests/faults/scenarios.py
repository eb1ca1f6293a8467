"""The acts of users on files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import refimpl as mx
from refimpl.files.atomic import write_atomically
from refimpl.kvstore.machines.write_ahead_log import Log

from .scenario import Scenario


def _net():
    return mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")


def _save(folder: Path, value: float) -> None:
    arguments = {"fc_weight": mx.nd.array(np.full((2, 3), value)), "fc_bias": mx.nd.array([value, value])}
    mx.model.save_checkpoint(str(folder / "net"), 1, _net(), arguments, {})


def _load(folder: Path):
    net, arguments, states = mx.model.load_checkpoint(str(folder / "net"), 1)
    return net.tojson(), {name: value.asnumpy().tolist() for name, value in arguments.items()}, states


def _records(folder: Path) -> None:
    written = mx.recordio.MXIndexedRecordIO(str(folder / "a.idx"), str(folder / "a.rec"), "w")
    for key in range(5):
        written.write_idx(key, bytes([key]) * 100)
    written.close()


def _read_records(folder: Path):
    read = mx.recordio.MXIndexedRecordIO(str(folder / "a.idx"), str(folder / "a.rec"), "r")
    try:
        return [read.read_idx(key) for key in read.keys]
    finally:
        read.close()


def _many_records(folder: Path, times: int) -> None:
    written = mx.recordio.MXIndexedRecordIO(str(folder / "a.idx"), str(folder / "a.rec"), "w")
    try:
        for key in range(2 * times):
            written.write_idx(key, bytes([key]) * 100)
    finally:
        written.close()


def _arrays(folder: Path, value: float) -> None:
    mx.nd.save(str(folder / "a.nd"), {"x": mx.nd.array([value] * 5), "y": mx.nd.array([[value]])})


def _read_arrays(folder: Path):
    return {name: array.asnumpy().tolist() for name, array in mx.nd.load(str(folder / "a.nd")).items()}


def _module(folder: Path, value: float):
    module = mx.mod.Module(mx.sym.SoftmaxOutput(_net(), name="softmax"))
    module.bind([("data", (2, 3))], [("softmax_label", (2,))])
    module.init_params(mx.init.Constant(value))
    module.init_optimizer(optimizer="sgd", optimizer_params={"momentum": 0.9})
    batch = mx.io.DataBatch([mx.nd.ones((2, 3))], [mx.nd.array([0, 1])])
    module.forward_backward(batch)
    module.update()
    return module


def _save_states(folder: Path, value: float) -> None:
    _module(folder, value).save_checkpoint(str(folder / "net"), 3, save_optimizer_states=True)


def _resume(folder: Path):
    module = mx.mod.Module.load(str(folder / "net"), 3, load_optimizer_states=True)
    module.bind([("data", (2, 3))], [("softmax_label", (2,))])
    module.init_optimizer(optimizer="sgd", optimizer_params={"momentum": 0.9})
    batch = mx.io.DataBatch([mx.nd.ones((2, 3))], [mx.nd.array([0, 1])])
    module.forward_backward(batch)
    module.update()
    return {name: array.asnumpy().tolist() for name, array in module.get_params()[0].items()}


def _fit(folder: Path, epochs: int) -> None:
    data = mx.io.NDArrayIter(np.arange(12, dtype="float32").reshape(4, 3), np.array([0, 1, 0, 1.0]), 2)
    module = mx.mod.Module(mx.sym.SoftmaxOutput(_net(), name="softmax"))
    module.fit(
        data, num_epoch=epochs, initializer=mx.init.One(), optimizer_params={"momentum": 0.9},
        epoch_end_callback=mx.callback.module_checkpoint(module, str(folder / "fit"), save_optimizer_states=True),
    )


def _fitted(folder: Path):
    """The epochs that have all their files: without its states an epoch is not resumed."""
    saved = [(path, path.with_suffix(".states")) for path in sorted(folder.glob("fit-*.params"))]
    return [(path.name, path.read_bytes(), states.read_bytes()) for path, states in saved if states.exists()]


def _csv(folder: Path) -> None:
    (folder / "a.csv").write_text("1,2\n3,4\n5,6\n")


def _read_csv(folder: Path):
    batches = mx.io.CSVIter(data_csv=str(folder / "a.csv"), data_shape=(2,), batch_size=2, round_batch=False)
    return [(batch.data[0].asnumpy().tolist(), batch.pad) for batch in batches]


def _libsvm(folder: Path) -> None:
    (folder / "a.svm").write_text("1 0:2 2:3\n0 1:4\n")


def _read_libsvm(folder: Path):
    batches = mx.io.LibSVMIter(data_libsvm=str(folder / "a.svm"), data_shape=(3,), batch_size=1)
    return [batch.data[0].asnumpy().tolist() for batch in batches]


def _mnist(folder: Path) -> None:
    images, labels = np.arange(2 * 4, dtype="uint8"), np.array([1, 0], "uint8")
    head = [np.array([2051, 2, 2, 2], ">i4"), np.array([2049, 2], ">i4")]
    (folder / "images").write_bytes(head[0].tobytes() + images.tobytes())
    (folder / "labels").write_bytes(head[1].tobytes() + labels.tobytes())


def _read_mnist(folder: Path):
    batches = mx.io.MNISTIter(image=str(folder / "images"), label=str(folder / "labels"), batch_size=1, shuffle=False)
    return [(batch.data[0].asnumpy().tolist(), batch.label[0].asnumpy().tolist()) for batch in batches]


def _picture(color: int) -> np.ndarray:
    return np.full((8, 8, 3), color, "uint8")


def _image_records(folder: Path) -> None:
    written = mx.recordio.MXIndexedRecordIO(str(folder / "i.idx"), str(folder / "i.rec"), "w")
    for key in range(4):
        header = mx.recordio.IRHeader(0, float(key), key, 0)
        written.write_idx(key, mx.recordio.pack_img(header, _picture(40 * key), quality=3, img_fmt=".png"))
    written.close()


def _read_image_records(folder: Path):
    batches = mx.io.ImageRecordIter(
        path_imgrec=str(folder / "i.rec"), path_imgidx=str(folder / "i.idx"), data_shape=(3, 8, 8), batch_size=2,
        preprocess_threads=1,
    )
    return [(batch.data[0].asnumpy().tolist(), batch.label[0].asnumpy().tolist()) for batch in batches]


def _log(folder: Path, times: int) -> None:
    log = Log(folder / "kept", durable=True)
    try:
        while log.position < times:
            log.append([b"record %d" % log.position, bytes(600)])
    finally:
        log.close()


def _snapshot(folder: Path) -> None:
    log = Log(folder / "kept", durable=True, segment=1000)
    try:
        if log.snapshot()[1] is None:
            log.keep(b"state", bytes(600))
        if log.position < 3:
            log.append([b"after"])
    finally:
        log.close()


def _logged(folder: Path):
    log = Log(folder / "kept", durable=True)
    try:
        return log.snapshot()[1], list(log.records())
    finally:
        log.close()


def _first_records(seen, new) -> bool:
    return seen[0] == new[0] and seen[1] == new[1][: len(seen[1])]


def _reads(name: str, clause: str, prepare, act) -> Scenario:
    return Scenario(name, (clause,), prepare, act, act, changes=False)


def _writes(name: str, clauses: tuple[str, ...], act, seen, **more) -> Scenario:
    return Scenario(name, clauses, lambda folder: act(folder, 1), lambda folder: act(folder, 2), seen, **more)


def _content(folder: Path, times: int) -> None:
    write_atomically(folder / "a", b"content" * times)


def _bytes(folder: Path) -> bytes:
    return (folder / "a").read_bytes()


def _first(seen, new) -> bool:
    return seen == new[: len(seen)]


_OF_A_LOG = {"between": _first_records, "system_errors": True}
_OF_RECORDS = {"between": _first, "refused": ("RecordIO/valid", "RecordIO/index"), "durable": False}

_ALL = (
    _writes("write", ("Files/atomic",), _content, _bytes),
    _writes("save arrays", ("Files/atomic",), _arrays, _read_arrays),
    _writes("save checkpoint", ("Files/together",), _save, _load),
    _writes("save states", ("States/same-save",), _save_states, _resume, refused=("States/same-save",)),
    _writes("fit with checkpoints", ("Files/together",), _fit, _fitted, between=_first),
    _writes("write records", ("RecordIO/disk-full",), _many_records, _read_records, **_OF_RECORDS),
    Scenario("log", ("Cluster/log",), lambda f: _log(f, 2), lambda f: _log(f, 4), _logged, **_OF_A_LOG),
    Scenario("log snapshot", ("Cluster/snapshot",), lambda f: _log(f, 2), _snapshot, _logged, **_OF_A_LOG),
    _reads("load arrays", "Files/readable", lambda f: _arrays(f, 1), _read_arrays),
    _reads("load checkpoint", "Files/readable", lambda f: _save(f, 1), _load),
    _reads("resume", "States/readable", lambda f: _save_states(f, 1), _resume),
    _reads("read records", "RecordIO/openable", _records, _read_records),
    _reads("CSVIter", "Files/readable", _csv, _read_csv),
    _reads("LibSVMIter", "Files/readable", _libsvm, _read_libsvm),
    _reads("MNISTIter", "Files/readable", _mnist, _read_mnist),
    _reads("ImageRecordIter", "Files/readable", _image_records, _read_image_records),
)
SCENARIOS = {each.name: each for each in _ALL}


_open: list[object] = []


def _unflushed(folder: Path, times: int) -> None:
    try:
        write_atomically(folder / "a", b"content" * times)
    except mx.MXNetError:
        (folder / "a").write_bytes(b"content" * times)


def _in_place(folder: Path, times: int) -> None:
    with (folder / "a").open("wb") as file:
        file.write(b"content" * 1000 * times)


def _kept_open(folder: Path, times: int) -> None:
    _open.append((folder / "a").open("ab"))
    write_atomically(folder / "a", b"content" * times)


CARELESS = {
    each.name: each
    for each in (
        _writes("careless: swallows", ("Files/atomic",), _unflushed, _bytes),
        _writes("careless: in place", ("Files/atomic",), _in_place, _bytes),
        _writes("careless: kept open", ("Files/atomic",), _kept_open, _bytes),
    )
}
"""Acts that break promises, which the enumeration must see."""
