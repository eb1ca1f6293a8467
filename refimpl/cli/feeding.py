"""The inputs of a prediction: pictures, the arrays of an npz file, a file of records, or random numbers."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from .. import image
from .. import ndarray as nd
from ..base import MXNetError, decides
from ..files.reading import open_file
from ..io import DataBatch, ImageDetRecordIter, ImageRecordIter
from ..kernels.foundation import reserving
from ..recordio import MXRecordIO, unpack
from .errors import one_line, refuse
from .loaded import Network, Shape, Shapes

RecOption = Annotated[str | None, typer.Option(help="A RecordIO file of pictures.")]
NpzOption = Annotated[str | None, typer.Option(help="A file of numpy.savez with an array for each input.")]
ShapeOption = Annotated[
    list[str] | None,
    typer.Option(help="Shape of an input, batch included: data=1,3,224,224. May be repeated."),
]
MeanOption = Annotated[str | None, typer.Option(help="Subtracted from each pixel: R,G,B, or one number.")]
StdOption = Annotated[str | None, typer.Option(help="Then each pixel is divided by this: R,G,B, or one number.")]
ScaleOption = Annotated[float, typer.Option(help="Then each pixel is multiplied by this.")]
ResizeOption = Annotated[
    int | None, typer.Option(min=1, help="Make the shorter edge so many pixels long, then cut the middle out.")
]

_BATCH = 16  # pictures of a batch unless the user says


class Look(NamedTuple):
    """The transformation of a picture's pixels."""

    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    scale: float = 1.0
    resize: int | None = None

    def channels(self, values: tuple[float, ...], count: int, flag: str) -> list[float]:
        """A number for each channel; a single number is used for all."""
        if len(values) not in (1, count):
            raise refuse("Cli/colors", f"{flag} has {len(values)} numbers, the network takes {count} channels")
        return list(values) * count if len(values) == 1 else list(values)


def look(mean: str | None, std: str | None, scale: float, resize: int | None) -> Look:
    """Read the flags about pixels.

    Raises:
        CommandError: a text is not made of numbers, or a number to divide by is 0.
    """
    made = Look(_numbers("--mean", mean), _numbers("--std", std), scale, resize)
    if 0 in made.std:
        raise refuse("Cli/colors", f"--std {std}: pixels cannot be divided by 0")
    if not np.isfinite(scale):
        raise refuse("Cli/colors", f"--scale {scale} is not a finite number")
    return made


def _numbers(flag: str, text: str | None) -> tuple[float, ...]:
    try:
        values = tuple(float(word) for word in text.split(",")) if text is not None else ()
    except ValueError:
        values = (np.nan,)
    if not all(np.isfinite(values)):
        raise refuse("Cli/colors", f"{flag} takes numbers such as 123.68,116.78,103.94, not {text!r}")
    return values


@dataclass
class Feed:
    """Batches for a network. A label is in a batch where the source has one."""

    shapes: Shapes
    """Of a batch, by the name of the input."""
    batches: Iterator[DataBatch]
    rows: int | None = None
    """How many there are, where that is known."""
    names: list[str] = field(default_factory=list)
    """Of the rows; empty where they have none."""


# --- arrays ----------------------------------------------------------------------------------------


def read_npz(name: str) -> dict[str, np.ndarray]:
    """The arrays of an npz file. No pickle is run, and no array is larger than the file says.

    Raises:
        CommandError: the file cannot be read, is damaged, or holds something else than numbers.
    """
    try:
        with open_file(name) as file, zipfile.ZipFile(file) as members:
            found = {member.filename: _read_array(members, member) for member in members.infolist()}
    except OSError as error:
        raise refuse("Cli/npz", f"cannot open {name}: {error.strerror or one_line(error)}") from error
    except (ValueError, EOFError, KeyError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise refuse("Cli/npz", f"{name} is not a whole file of numpy.savez: {one_line(error)}") from error
    others = [key for key, value in found.items() if value.dtype.kind not in "biuf" or not value.size or not value.ndim]
    if others or not found:
        what = ", ".join(others) or "nothing"
        raise refuse("Cli/npz", f"{name} must hold arrays of numbers that have rows; {what} is in it")
    return {key.removesuffix(".npy"): value for key, value in found.items()}


def _read_array(members: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    with members.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, _, dtype = read(stream)
    if dtype.hasobject or dtype.itemsize * int(np.prod([float(side) for side in shape])) > member.file_size:
        raise ValueError(f"{member.filename} says that it holds {shape} of {dtype}, in {member.file_size} bytes")
    with members.open(member) as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)  # type: ignore[no-any-return]  # an array


def sliced(
    arrays: Mapping[str, np.ndarray], size: int | None, types: Mapping[str, Any], labels: np.ndarray | None = None
) -> Feed:
    """Batches of ``size`` rows; the last one begins again from the first row. Without a size, all is one batch.

    Args:
        arrays: of the inputs, by name.
        size: rows of a batch.
        types: element types of the inputs, by name.
        labels: of the rows.
    """
    every = {**arrays, **({} if labels is None else {"the labels": labels})}
    counts = {len(value) for value in every.values()}
    if size is not None and len(counts) > 1:
        said = ", ".join(f"{name} {len(value)}" for name, value in every.items())
        raise refuse("Cli/npz", f"arrays that are cut into batches need as many rows each: {said}")
    count = len(next(iter(arrays.values())))
    step = min(size or count, count)

    def batches() -> Iterator[DataBatch]:
        for start in range(0, count, step):
            rows = np.arange(start, start + step) % count
            pad = max(0, start + step - count)
            chosen = arrays if size is None else {name: value[rows] for name, value in arrays.items()}
            told = None if labels is None else [nd.array(labels[rows])]
            yield DataBatch([nd.array(value, dtype=types[name]) for name, value in chosen.items()], told, pad)

    shapes = {name: value.shape if size is None else (step, *value.shape[1:]) for name, value in arrays.items()}
    return Feed(shapes, batches(), count)


def without(values: np.ndarray, pad: int, rows: int) -> np.ndarray:
    """An output without the rows of padding in the batch; an output may have several rows for one row of the input."""
    return values[: len(values) - pad * len(values) // rows]


def randomly(shapes: Shapes, types: Mapping[str, Any]) -> Feed:
    """One batch of numbers between 0 and 1, always the same."""
    stream = np.random.RandomState(0)  # a stream that NumPy has frozen
    arrays = {}
    for name, shape in shapes.items():
        with reserving(shape, np.float64):
            arrays[name] = stream.uniform(size=shape)
    return sliced(arrays, None, types)


# --- pictures --------------------------------------------------------------------------------------


def pictures(
    network: Network, files: Sequence[str], given: Shapes, seen: Look, size: int | None, *, whole: bool
) -> Feed:
    """Batches of picture files.

    Args:
        network: the network.
        files: the names of the files.
        given: shapes from the user.
        seen: the transformation of pixels.
        size: pictures of a batch.
        whole: whether a picture is stretched to the input's shape, and not cut, where no --resize is given.
    """
    name, shape = picture_shape(network, given)
    if shape is None:
        first = _read(files[0], 1)
        height, width = (seen.resize, seen.resize) if seen.resize else first.shape[:2]
        fitting = [c for c in (3, 1) if network.fits({**given, name: (1, c, height, width)})]
        shape = ((fitting or [3])[0], height, width)
    if shape[0] not in (1, 3):
        raise refuse("Cli/fits-network", f"pictures have 1 or 3 channels; {name} has {shape[0]}; give --npz")
    step = min(size or given.get(name, (_BATCH,))[0], len(files))
    scaled = _scaling(seen, shape[0])

    def batches() -> Iterator[DataBatch]:
        for start in range(0, len(files), step):
            rows = [_prepared(_read(file, shape[0]), shape, seen.resize, whole) for file in files[start : start + step]]
            pad = step - len(rows)
            pixels = nd.stack(*rows, *rows[:1] * pad, axis=0)
            yield DataBatch([scaled(pixels).transpose((0, 3, 1, 2)).astype(network.types[name])], pad=pad)

    return Feed({name: (step, *shape)}, batches(), len(files), list(files))


def picture_shape(network: Network, given: Shapes) -> tuple[str, tuple[int, int, int] | None]:
    """The input that takes pictures, and its (channels, height, width), where the user or the symbol says."""
    name = network.data()
    network.require_inputs(given or [name], "--shape")
    stated = given.get(name) or network.stated(name)
    if stated is not None and len(stated) != 4:
        raise refuse(
            "Cli/fits-network", f"pictures have 4 axes: batch, channels, height, width; {name} has {stated}; give --npz"
        )
    return name, None if stated is None else (stated[1], stated[2], stated[3])


def _read(file: str, channels: int) -> nd.NDArray:
    """A picture: uint8, (height, width, channels)."""
    if not Path(file).is_file():
        raise refuse("Cli/image", f"{file} is not a file; --image takes pictures")
    try:
        return image.imread(file, flag=int(channels == 3))
    except MXNetError as error:
        raise refuse("Cli/image", f"{file}: {one_line(error)}") from error


@decides("Cli/pixels")
def _prepared(picture: nd.NDArray, shape: Shape, resize: int | None, whole: bool) -> nd.NDArray:
    """A picture in the height and width of ``shape``."""
    _, height, width = shape
    if resize is not None:
        return image.center_crop(image.resize_short(picture, resize), (width, height))[0]
    if picture.shape[:2] == (height, width):
        return picture
    if whole:
        return image.imresize(picture, width, height)
    rows, columns = picture.shape[:2]
    side = min(columns / width, rows / height)  # the largest part in the proportions of the input
    part, _ = image.center_crop(picture, (max(int(width * side), 1), max(int(height * side), 1)))
    return image.imresize(part, width, height)


@decides("Cli/pixels")
def _scaling(seen: Look, channels: int) -> Any:
    """(pixel - mean) / std * scale, in float32."""
    mean, std = (
        nd.array(seen.channels(values, channels, flag)) if values else None
        for values, flag in ((seen.mean, "--mean"), (seen.std, "--std"))
    )

    def scaled(pixels: nd.NDArray) -> nd.NDArray:
        changed = image.color_normalize(pixels.astype("float32"), mean, std)
        return changed * seen.scale if seen.scale != 1 else changed

    return scaled


def records(network: Network, file: str, given: Shapes, seen: Look, size: int | None) -> Feed:
    """Batches of a file of records, with labels, as MXNet's iterator makes them: ImageDetRecordIter for boxes."""
    name, shape = picture_shape(network, given)
    if shape is None:
        raise refuse(
            "Cli/input-shape",
            f"{network.file} does not state the shape of {name}; give --shape {name}=1,3,224,224",
        )
    width = _label_width(file)
    looks: dict[str, Any] = {"scale": seen.scale}
    for what, values in (("mean", seen.mean), ("std", seen.std)):
        for channel, value in zip("rgba", seen.channels(values, shape[0], f"--{what}") if values else [], strict=False):
            looks[f"{what}_{channel}"] = value
    if seen.resize is not None:
        looks["resize"] = seen.resize
    step = size or given.get(name, (_BATCH,))[0]
    kind = ImageRecordIter if width == 1 else ImageDetRecordIter
    found = kind(path_imgrec=file, data_shape=shape, batch_size=step, **looks)
    return Feed({name: (step, *shape)}, _typed(iter(found), network.types[name]))


def _typed(batches: Iterator[DataBatch], dtype: Any) -> Iterator[DataBatch]:
    for batch in batches:
        yield DataBatch([value.astype(dtype) for value in batch.data], batch.label, batch.pad)


def _label_width(file: str) -> int:
    """How many labels the first record has."""
    opened = MXRecordIO(file, "r")
    try:
        content = opened.read()
    finally:
        opened.close()
    return 1 if content is None else int(np.size(unpack(content)[0].label))
