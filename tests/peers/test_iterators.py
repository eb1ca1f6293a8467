"""The iterators over files, and FeedForward, deliver here what they deliver in MXNet 1.9.1.

    REFIMPL_MXNET_PYTHON=PATH python -m pytest -m peer tests/peers/test_iterators.py

PATH is as in test_mxnet.py.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.recordio import MXIndexedRecordIO
from tests.unit.picture_records import needs_pillow, packed, picture

from .asking import needs_mxnet
from .test_formats import ask

pytestmark = [
    pytest.mark.peer,
    needs_mxnet,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

EPOCHS = """
def epochs(iterator, count=3):
    found = []
    for _ in range(count):
        for batch in iterator:
            data, label = batch.data[0], batch.label[0]
            found.append([data.stype, data.asnumpy().tolist(), label.stype, label.asnumpy().tolist()])
        iterator.reset()
    return [[str(d) for d in (*iterator.provide_data, *iterator.provide_label)], found]
"""

CSV = "mx.io.CSVIter(data_csv='rows.csv', data_shape=(2,), "
SVM = "mx.io.LibSVMIter(data_libsvm='rows.svm', data_shape=(3,), "
TEXT = [
    *(CSV + rest for rest in (
        "batch_size=2)", "batch_size=3, round_batch=False)", "batch_size=6)", "batch_size=5)",
        "batch_size=4, label_csv='rows.csv', label_shape=(2,))",
        "batch_size=5, dtype='int32')", "batch_size=2, label_csv='ones.csv', data_name='x')",
    )),
    *(SVM + rest for rest in (
        "batch_size=2)", "batch_size=3, label_libsvm='rows.svm', label_shape=(3,))",
        "batch_size=1, num_parts=3, part_index=1)",
    )),
]
FILE = "(path_imgrec='pictures.rec', verbose=False, "
PICTURES = [
    *("mx.io.ImageRecordIter" + FILE + rest for rest in (
        "data_shape=(3, 8, 8), batch_size=3)", "data_shape=(3, 8, 8), batch_size=5, shuffle=True, seed=2)",
        "data_shape=(3, 6, 5), batch_size=7, rand_crop=True, rand_mirror=True)",
        "data_shape=(3, 6, 5), batch_size=7, rand_crop=True, rand_mirror=True, seed_aug=4)",
        "data_shape=(3, 7, 7), batch_size=7, resize=7, mean_r=120, mean_g=110.5, std_r=58, std_b=57, scale=0.3)",
        "data_shape=(3, 30, 20), batch_size=7)", "data_shape=(3, 8, 8), batch_size=7, resize=9, pad=2, inter_method=0)",
        "data_shape=(3, 8, 8), batch_size=1, num_parts=3, part_index=2)",
        "data_shape=(3, 8, 8), batch_size=1, num_parts=3, part_index=2, path_imgidx='pictures.idx')",
    )),
    *(f"mx.io.{name}" + FILE + "data_shape=(3, 8, 8), batch_size=3)" for name in (
        "ImageRecordUInt8Iter", "ImageRecordInt8Iter", "ImageRecordIter_v1", "ImageRecordUInt8Iter_v1",
    )),
    *("mx.io.ImageDetRecordIter(path_imgrec='boxes.rec', verbose=False, " + rest for rest in (
        "data_shape=(3, 8, 8), batch_size=2)", "data_shape=(3, 8, 20), batch_size=2, resize_mode='fit')",
        "data_shape=(3, 30, 30), batch_size=2, resize_mode='shrink', label_pad_width=40)",
        "data_shape=(3, 8, 8), batch_size=2, rand_mirror_prob=1, mean_g=3, std_g=7, scale=0.3)",
    )),
]

TRAINING = """
import numpy as np
data = mx.sym.Variable("data")
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=3, name="fc"), name="softmax")
rows = np.arange(24).reshape(12, 2) / 8
weights = {"fc_weight": mx.nd.array([[1, -1], [.5, .25], [-.5, 2]]), "fc_bias": mx.nd.array([0, .5, -.25])}
seen = []
model = mx.model.FeedForward(
    net, ctx=[mx.cpu(0), mx.cpu(1)], num_epoch=4, epoch_size=SIZE, learning_rate=0.3, momentum=0.9, arg_params=weights
)
model.fit(
    mx.io.NDArrayIter(rows, np.arange(12) % 3, 5), kvstore=STORE, work_load_list=LOADS,
    batch_end_callback=lambda now: seen.append([now.epoch, now.nbatch]),
)
found = [model.arg_params[name].asnumpy().ravel().tolist() for name in ("fc_weight", "fc_bias")]
answer = [seen, found, model.predict(rows).tolist()]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files to read."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "rows.csv").write_text("".join(f"{k},{k * k}\n" for k in range(5)))
    (folder / "ones.csv").write_text("1\n" * 5)
    (folder / "rows.svm").write_text("".join(f"{k} {k % 3}:{k + 1}\n" for k in range(7)))
    with contextlib.suppress(ImportError):
        _write_pictures(folder)
    return folder


def _write_pictures(folder: Path) -> None:
    def write(name: str, records: list[bytes]) -> None:
        file = MXIndexedRecordIO(str(folder / f"{name}.idx"), str(folder / f"{name}.rec"), "w")
        for number, record in enumerate(records):
            file.write_idx(number, record)
        file.close()

    random = np.random.default_rng(1)
    noise = [random.integers(0, 256, (12, 11, 3), np.uint8) for _ in range(7)]
    write("pictures", [packed(float(k), pixels, k) for k, pixels in enumerate(noise)])
    boxes = [[2, 5, *[k, 0.125, 0.25, 0.5, 0.75] * (k % 3 + 1)] for k in range(4)]
    write("boxes", [packed(labels, picture(10, 20)) for labels in boxes])


def compare(text: str, folder: Path) -> tuple[Any, Any]:
    """What a script assigns to ``answer``, here and there."""
    here: dict[str, Any] = {"mx": mx}
    with _inside(folder):
        exec(text, here)  # the same text runs in MXNet
    return here["answer"], ask(text, folder)


@contextlib.contextmanager
def _inside(folder: Path) -> Any:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@pytest.mark.parametrize("made", TEXT)
def test_text(made: str, folder: Path) -> None:
    ours, theirs = compare(f"{EPOCHS}\nanswer = epochs({made})", folder)
    assert ours == theirs


@needs_pillow
@pytest.mark.parametrize("made", PICTURES)
def test_pictures(made: str, folder: Path) -> None:
    ours, theirs = compare(f"{EPOCHS}\nanswer = epochs({made})", folder)
    assert ours == theirs


@pytest.mark.parametrize(("size", "store", "loads"), [
    (None, "'local'", None), (2, "'device'", [1, 3]), (7, "None", [2, 1]), (1, "'local'", None),
])
def test_feed_forward(size: int | None, store: str, loads: list[int] | None, folder: Path) -> None:
    text = TRAINING.replace("SIZE", str(size)).replace("STORE", store).replace("LOADS", str(loads))
    ours, theirs = compare(text, folder)
    assert ours[0] == theirs[0]
    for mine, other in zip([*ours[1], ours[2]], [*theirs[1], theirs[2]], strict=True):
        np.testing.assert_allclose(mine, other, rtol=2e-6, atol=1e-7)
