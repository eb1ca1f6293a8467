"""Fetching files and data sets. MXNet's own servers are gone, so data sets must be on disk already."""

from __future__ import annotations

import bz2
import os
import shutil
import urllib.error
import urllib.parse
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ..base import refusal
from ..files.atomic import write_atomically
from ..io import MNISTIter
from ..io.idx import IMAGES, LABELS, read_idx
from ..kernels.foundation.later import Later

_REQUEST = Later("urllib.request")

SECONDS = 30
"""How long a server may be silent."""

_MNIST = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def download(
    url: str, fname: str | None = None, dirname: str | None = None, overwrite: bool = False, retries: int = 5,
) -> str:
    """Fetch a file over http, https, ftp or file; returns its name.

    Args:
        url: where it is.
        fname: where it goes; by default the last part of ``url``.
        dirname: folder that ``fname`` is in; it is made.
        overwrite: fetch it although there is a file of that name.
        retries: how often a failing server is asked.

    Raises:
        AssertionError: ``retries`` is not positive.
        OSError: it cannot be fetched.
    """
    if retries <= 0:
        raise refusal("test_utils/download", f"retries must be positive, got {retries}", AssertionError)
    name = fname or urllib.parse.unquote(urllib.parse.urlsplit(url).path.rpartition("/")[2])
    target = Path(dirname or "") / name
    if target.is_file() and not overwrite:
        return str(target)
    if urllib.parse.urlsplit(url).scheme not in ("http", "https", "ftp", "file") or not name:
        raise refusal(
            "test_utils/download", f"{url!r} does not say where a file is: give http://, https://, ftp:// or"
            " file://, and a name at the end or as fname", OSError,
        )
    for left in reversed(range(retries)):
        try:
            with _REQUEST.urlopen(url, timeout=SECONDS) as answer:  # the scheme is one of four
                content = answer.read()
        except OSError as error:
            if left:
                continue
            raise refusal(
                "test_utils/download", f"cannot fetch {url} after {retries} attempts: {error}", OSError
            ) from error
        break
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(target, content)
    return str(target)


def get_zip_data(data_dir: str, url: str, data_origin_name: str) -> None:
    """Fetch a zip file into ``data_dir``, unless it is there, and unpack it there.

    Raises:
        OSError: it cannot be fetched.
        zipfile.BadZipFile: it is none.
    """
    archive = Path(data_dir) / data_origin_name
    if not archive.exists():
        download(url, str(archive))
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(data_dir)


def get_bz2_data(data_dir: str, data_name: str, url: str, data_origin_name: str) -> None:
    """Fetch a bz2 file and unpack it to ``data_dir/data_name``, unless that is there.

    Args:
        data_dir: the folder; it is made if need be.
        data_name: the name of the file that is unpacked.
        url: the address of the bz2 file.
        data_origin_name: the name that the bz2 file gets in the folder.

    Raises:
        OSError: it cannot be fetched or is no bz2 file.
    """
    target, archive = Path(data_dir) / data_name, Path(data_dir) / data_origin_name
    if not target.exists():
        download(url, str(archive))
        with bz2.open(archive) as packed, target.open("wb") as plain:
            shutil.copyfileobj(packed, plain)
        archive.unlink()


def download_model(
    model_name: str, dst_dir: str = "./", meta_info: dict[str, dict[str, str]] | None = None
) -> tuple[str | None, int]:
    """Fetch a checkpoint from the addresses that ``meta_info`` gives; (prefix, 0), (None, 0) for an unknown name.

    ``meta_info`` has {"symbol": url, "params": url} per name.

    Raises:
        OSError: there is no ``meta_info``, for MXNet's model zoo is gone; or a file cannot be fetched.
    """
    if meta_info is None:
        raise _gone(f"the model {model_name}", "say in meta_info where to fetch it")
    if model_name not in meta_info:
        return None, 0
    prefix = os.path.join(dst_dir, model_name)  # noqa: PTH118  # "./name", as MXNet's
    download(meta_info[model_name]["symbol"], f"{prefix}-symbol.json")
    download(meta_info[model_name]["params"], f"{prefix}-0000.params")
    return prefix, 0


def _gone(what: str, instead: str) -> Exception:
    return refusal(
        "test_utils/data-sets", f"the server that MXNet fetched {what} from is gone; {instead}", OSError
    )


def _require_mnist(folder: str, ending: str) -> list[Path]:
    files = [Path(folder, name + ending) for name in _MNIST]
    missing = [str(file) for file in files if not file.is_file()]
    if missing:
        raise _gone(
            "MNIST", f"put {', '.join(missing)} there, or use the small digits in refimpl.data.digits"
        )
    return files


def get_mnist() -> dict[str, np.ndarray]:
    """MNIST out of the four gzipped files in the current folder.

    Returns:
        ``train_data`` and ``test_data``, float32 (n, 1, 28, 28) between 0 and 1, and ``train_label`` and
        ``test_label``, int8 (n,).

    Raises:
        OSError: a file is missing.
    """
    train, train_label, test, test_label = _require_mnist("", ".gz")

    def images(file: Path) -> np.ndarray:
        return read_idx(file, IMAGES)[:, None].astype(np.float32) / 255

    return {
        "train_data": images(train), "train_label": read_idx(train_label, LABELS).astype(np.int8),
        "test_data": images(test), "test_label": read_idx(test_label, LABELS).astype(np.int8),
    }


def get_mnist_ubyte() -> None:
    """See to it that the four plain MNIST files are in the folder ``data``.

    Raises:
        OSError: one is missing.
    """
    _require_mnist("data", "")


def get_mnist_iterator(
    batch_size: int, input_shape: tuple[int, ...], num_parts: int = 1, part_index: int = 0
) -> tuple[MNISTIter, MNISTIter]:
    """Iterators over training and test images in the folder ``data``; flat unless ``input_shape`` has three sides.

    Args:
        batch_size: samples in a batch.
        input_shape: the shape of a sample, which decides whether pictures are made flat.
        num_parts, part_index: into how many parts the training set is cut, and which of them is read, from 0.

    Raises:
        OSError: a file is missing.
    """
    train, train_label, test, test_label = _require_mnist("data", "")
    common: dict[str, Any] = {
        "batch_size": batch_size, "input_shape": input_shape, "flat": len(input_shape) != 3,
        "num_parts": num_parts, "part_index": part_index,
    }
    return (
        MNISTIter(image=train, label=train_label, shuffle=True, **common),
        MNISTIter(image=test, label=test_label, **common),
    )


def get_mnist_pkl() -> None:
    """Refuse, unless ``data/mnist.pkl.gz`` is there: it was a pickle on a server that is gone.

    Raises:
        OSError: it is missing.
    """
    if not Path("data/mnist.pkl.gz").is_file():
        raise _gone("data/mnist.pkl.gz", "use the idx files and get_mnist_iterator")


def get_cifar10() -> None:
    """See to it that the record files of CIFAR-10 are in ``data/cifar``.

    Raises:
        OSError: one is missing.
    """
    missing = [name for name in ("train.rec", "test.rec") if not Path("data", "cifar", name).is_file()]
    if missing:
        raise _gone("CIFAR-10", f"put {' and '.join(missing)} into the folder cifar in data")


def get_im2rec_path(home_env: str = "MXNET_HOME") -> str:
    """Path to MXNet's tool ``im2rec.py`` in the folder that an environment variable names.

    Raises:
        OSError: it is not there; the tool does not come with this project.
    """
    path = Path(os.environ.get(home_env, ""), "tools", "im2rec.py")
    if not path.is_file():
        raise refusal(
            "test_utils/im2rec", f"Could not find path to tools/im2rec.py: let {home_env} name the folder of"
            " MXNet", OSError,
        )
    return str(path)
