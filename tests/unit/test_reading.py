"""Names that stand for no file: devices, pipes, folders, and names that no file can have."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import refimpl as mx
from refimpl.kvstore.history_events import History
from refimpl.recordio import MXIndexedRecordIO, MXRecordIO

RECORDS = str(Path(__file__).parents[1] / "fixtures" / "mxnet-records.rec")


def _store() -> Any:
    store = mx.kv.create("local")
    store.set_optimizer(mx.optimizer.SGD())
    return store


READERS: dict[str, Callable[[str], object]] = {
    "params-file/readable": mx.nd.load,
    "symbol-file/readable": mx.sym.load,
    "States/readable": lambda name: _store().load_optimizer_states(name),
    "History/readable": History.load,
    "RecordIO/openable": lambda name: MXRecordIO(name, "r"),
    "RecordIO/index-openable": lambda name: MXIndexedRecordIO(name, RECORDS, "r"),
    "CSVIter/open": lambda name: mx.io.CSVIter(data_csv=name, data_shape=(2,), batch_size=1),
    "LibSVMIter/open": lambda name: mx.io.LibSVMIter(data_libsvm=name, data_shape=(2,), batch_size=1),
    "MNISTIter/open": lambda name: mx.io.MNISTIter(image=name, label=name, batch_size=1),
    "ImageRecordIter/list": lambda name: mx.io.ImageRecordIter(
        path_imgrec=RECORDS, path_imglist=name, data_shape=(3, 2, 2), batch_size=1
    ),
}
WRITERS: dict[str, Callable[[str], object]] = {
    "Files/writable": lambda name: mx.nd.save(name, {"a": mx.nd.ones(1)}),
    "RecordIO/openable": lambda name: MXRecordIO(name, "w"),
}
NO_NAMES = {"a NUL": "a\0b", "half a character": "a\ud800", "too long": "x" * 5000}


def refused(clause: str, call: Callable[[str], object], name: str) -> str:
    with pytest.raises((mx.MXNetError, OSError)) as caught:
        call(name)
    assert caught.value.clause == clause
    return str(caught.value)


@pytest.mark.clause("Files/only-files", "States/readable", "History/readable")
@pytest.mark.parametrize("clause", READERS)
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_a_device_is_not_read(clause: str, device: str) -> None:
    said = refused(clause, READERS[clause], device)
    assert device in said
    # a system without a terminal says that itself
    assert "device or a pipe" in said or device == "/dev/tty"


@pytest.mark.clause("Files/only-files")
@pytest.mark.parametrize("clause", READERS)
def test_a_pipe_that_nobody_writes_to_is_not_waited_for(clause: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "device or a pipe" in refused(clause, READERS[clause], str(tmp_path / "pipe"))


@pytest.mark.clause("Files/only-files")
@pytest.mark.parametrize("kind", NO_NAMES)
@pytest.mark.parametrize("clause", READERS)
def test_no_file_has_such_a_name_to_read(clause: str, kind: str) -> None:
    refused(clause, READERS[clause], NO_NAMES[kind])


@pytest.mark.clause("Files/only-files", "Files/writable")
@pytest.mark.parametrize("kind", NO_NAMES)
@pytest.mark.parametrize("clause", WRITERS)
def test_no_file_has_such_a_name_to_write(clause: str, kind: str) -> None:
    refused(clause, WRITERS[clause], NO_NAMES[kind])


@pytest.mark.clause("States/readable", "History/readable")
@pytest.mark.parametrize("clause", ["States/readable", "History/readable"])
def test_what_is_missing_or_a_folder_keeps_the_type_of_its_error(clause: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="absent"):
        READERS[clause](str(tmp_path / "absent"))
    with pytest.raises(IsADirectoryError):
        READERS[clause](str(tmp_path))


@pytest.mark.clause("Files/only-files")
def test_a_link_to_a_file_and_a_redirected_input_are_files(tmp_path: Path) -> None:
    mx.nd.save(str(tmp_path / "x"), [mx.nd.ones(1)])
    (tmp_path / "link").symlink_to(tmp_path / "x")
    with (tmp_path / "x").open("rb") as file:
        for name in (tmp_path / "link", f"/dev/fd/{file.fileno()}"):
            assert mx.nd.load(str(name))[0].asnumpy().tolist() == [1.0]


@pytest.mark.clause("Files/only-files")
def test_a_number_is_no_name(tmp_path: Path) -> None:
    """Python's open would take it for a file that is open already."""
    with (tmp_path / "x").open("wb") as file:
        for flag in ("r", "w"):
            with pytest.raises(TypeError):
                MXRecordIO(file.fileno(), flag)  # type: ignore[arg-type]
        file.write(b"still open")


@pytest.mark.clause("params-file/names")
@pytest.mark.parametrize("name", ["a\0b", "\0", "a\ud800", "\udfffb"])
def test_names_of_arrays_that_no_file_holds_are_not_written(name: str, tmp_path: Path) -> None:
    with pytest.raises(mx.MXNetError) as caught:
        mx.nd.save(str(tmp_path / "x"), {name: mx.nd.ones(1)})
    assert caught.value.clause == "params-file/names"
    assert not (tmp_path / "x").exists()


@pytest.mark.clause("params-file/names")
def test_a_name_with_a_nul_is_not_read() -> None:
    from refimpl.ndarray.file_format import to_bytes

    content = to_bytes({"abc": mx.nd.ones(1)})
    with pytest.raises(mx.MXNetError, match=f"byte {len(content) - 3}: a name holds a NUL"):
        mx.nd.load_frombuffer(content.replace(b"abc", b"a\0c"))
