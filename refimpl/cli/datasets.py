"""The data sets of the command line: the packaged digits, or a folder in MNIST's format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..base import MXNetError, decides
from ..data import digits
from ..io import NDArrayIter
from ..io.idx import IMAGES, LABELS, read_idx
from ..ndarray import array
from .errors import one_line, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..context import Context

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

# The usual names, and how some archives spell them.
FILES = (
    ("train-images-idx3-ubyte", IMAGES), ("train-labels-idx1-ubyte", LABELS),
    ("t10k-images-idx3-ubyte", IMAGES), ("t10k-labels-idx1-ubyte", LABELS),
)


@dataclass(frozen=True)
class Dataset:
    """Iterators over the two parts of a data set, and the sizes that a network needs."""

    name: str
    train: NDArrayIter
    held_out: NDArrayIter
    image_shape: tuple[int, int, int]
    classes: int
    trained: int
    held: int
    batches: int


def load(
    data: str, batch_size: int, dtype: str, devices: Sequence[Context], *, training: bool = True
) -> Dataset:
    """Read a data set: training images are shuffled anew in every epoch, held-out ones never.

    Args:
        data: "digits", or the name of a folder with the four MNIST files, plain or ``.gz``.
        batch_size: rows of a training batch, over all devices.
        dtype: element type of the network.
        devices: the devices that share each batch.
        training: whether the batch must fit into the training set.

    Raises:
        CommandError: the folder or a file is missing, or the batch is larger than the training set.
        MXNetError: a file is damaged.
    """
    images, labels, held_images, held_labels = digits() if data == "digits" else _folder(Path(data))
    if training and batch_size > len(images):
        raise refuse(
            "Cli/batch-within-data",
            f"a batch of {batch_size} rows is more than the {len(images)} training images",
        )
    train = NDArrayIter(
        array(images, dtype=dtype), array(labels, dtype=dtype), min(batch_size, len(images)),
        shuffle=True,
    )
    held_out = NDArrayIter(
        array(held_images, dtype=dtype), array(held_labels, dtype=dtype),
        _even_batch(len(held_images), batch_size, len(devices)),
    )
    channels, height, width = images.shape[1:]
    return Dataset(
        data, train, held_out, (channels, height, width),
        int(max(labels.max(), held_labels.max())) + 1, len(images), len(held_images),
        -(-len(images) // batch_size),
    )


@decides("Cli/held-out-once")
def _even_batch(count: int, most: int, least: int) -> int:
    """The largest batch up to ``most`` that divides ``count``, so that no row is padded and counted twice."""
    even = next(size for size in range(min(most, count), 0, -1) if count % size == 0)
    return even if even >= max(least, most // 2) else most


def _folder(folder: Path) -> Arrays:
    if not folder.is_dir():
        raise refuse("Cli/data-exists", f"--data {folder}: no such folder; name one, or digits")
    arrays = [_read(folder, name, rank) for name, rank in FILES]
    for images, labels, name in ((arrays[0], arrays[1], "train"), (arrays[2], arrays[3], "t10k")):
        if len(images) != len(labels):
            raise refuse(
                "Cli/data-pairs",
                f"{folder}: {len(images)} {name} images but {len(labels)} labels",
            )
    if arrays[0].shape[1:] != arrays[2].shape[1:]:
        raise refuse(
            "Cli/data-pairs",
            f"{folder}: training images are {arrays[0].shape[1:]}, held-out ones {arrays[2].shape[1:]}",
        )
    scaled = [a[:, None] * np.float32(1 / 256) if a.ndim > 1 else a.astype(np.float32) for a in arrays]
    return scaled[0], scaled[1], scaled[2], scaled[3]


def _read(folder: Path, name: str, rank: int) -> np.ndarray:
    dotted = name.replace("-idx", ".idx")
    for spelling in (name, f"{name}.gz", dotted, f"{dotted}.gz"):
        if (folder / spelling).is_file():
            try:
                return read_idx(folder / spelling, rank)
            except MXNetError as error:
                raise refuse("Cli/data-readable", one_line(error)) from error
    raise refuse("Cli/data-exists", f"{folder} holds no {name} (or {name}.gz)")
