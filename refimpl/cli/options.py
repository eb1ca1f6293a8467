"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ..base import MXNetError, decides, did_you_mean
from ..context import Context, cpu, gpu, num_gpus
from ..module.bucket_files import read_keys
from ..optimizer import Optimizer
from ..symbol import Symbol
from ..symbol.inference import is_shown_whole
from ..symbol.inferred_lists import known_shapes
from .errors import refuse

# As in MXNet's examples: the optimizers that take a momentum.
MOMENTUM = ("sgd", "nag", "signum", "dcasgd", "lbsgd")


class Dtype(str, Enum):
    """Element types a network can be trained in."""

    float32 = "float32"
    float64 = "float64"
    float16 = "float16"


DataOption = Annotated[
    str,
    typer.Option(help="digits, or a folder with the four MNIST idx files (plain or .gz)."),
]
BatchOption = Annotated[int, typer.Option(min=1, help="Rows of one batch, over all devices.")]
DevicesOption = Annotated[
    int, typer.Option(min=1, help="Train on cpu(0) to cpu(N-1), each in a thread of its own.")
]
GpusOption = Annotated[
    str | None, typer.Option(help="Use these CUDA devices instead, for example 0 or 0,1.")
]


ServersOption = Annotated[
    int | None, typer.Option("-s", "--servers", min=1, help="Servers of that cluster; default: as many as workers.")
]


def require_workers(workers: int | None, servers: int | None) -> None:
    """Refuse servers of a cluster that has no workers."""
    if servers is not None and workers is None:
        raise refuse("Cli/servers-need-workers", f"--servers {servers} needs --workers too: `-n 2 -s {servers}`")


def require_folder(folder: Path) -> None:
    """Refuse a folder that is not there."""
    if not folder.is_dir():
        raise refuse("Cli/folder-exists", f"the folder {folder} does not exist")


def contexts(devices: int, gpus: str | None, batch_size: int) -> list[Context]:
    """The contexts a command runs on; refuses when the batch cannot be shared among them."""
    if gpus is None:
        chosen = [cpu(number) for number in range(devices)]
    else:
        words = gpus.split(",")
        if not all(word.strip().isdigit() for word in words):
            raise refuse("Cli/gpus", f"--gpus takes device numbers such as 0,1, not {gpus!r}")
        chosen = [gpu(int(word)) for word in words]
        present = num_gpus()
        if any(context.device_id >= present for context in chosen):
            raise refuse("Cli/gpus", f"--gpus {gpus}: this machine has {present} CUDA devices")
    if batch_size < len(chosen):
        raise refuse(
            "Cli/batch-covers-devices",
            f"a batch of {batch_size} rows cannot be shared by {len(chosen)} devices;"
            " raise --batch-size or lower --devices",
        )
    return chosen


BucketOption = Annotated[
    int | None, typer.Option(help="The bucket of a BucketingModule's checkpoint: PREFIX-BUCKET-symbol.json.")
]


def bucket_keys(prefix: str) -> list[int]:
    """The buckets that ``PREFIX.buckets`` lists; none where there is no such file.

    Raises:
        MXNetError: it is damaged.
    """
    return read_keys(prefix) if Path(f"{prefix}.buckets").is_file() else []


@decides("Cli/bucket")
def symbol_file(prefix: str, bucket: int | None = None) -> Path:
    """The symbol file of a checkpoint, or of one of its buckets; whether it is there is not asked.

    Raises:
        CommandError: there is no such bucket, or the checkpoint has buckets and none is named.
    """
    file = Path(f"{prefix}-symbol.json" if bucket is None else f"{prefix}-{bucket}-symbol.json")
    if file.is_file():
        return file
    keys = bucket_keys(prefix)
    there = f"{prefix} has the buckets {', '.join(map(str, keys[:20]))}{' ...' * (len(keys) > 20)}"
    if bucket is not None:
        said = there if keys else f"there is no {prefix}.buckets"
        raise refuse("Cli/bucket", f"--bucket {bucket}: {file} does not exist; {said}")
    if keys:
        raise refuse(
            "Cli/bucket", f"{there}, each a network: name one, as `refimpl predict {prefix} ... --bucket {keys[0]}`;"
            " `warm` and `inspect` take --bucket too",
        )
    return file


def checkpoint_files(prefix: str, epoch: int, bucket: int | None = None) -> tuple[Path, Path]:
    """Names of a checkpoint's two files; refuses when one of them is not there."""
    files = symbol_file(prefix, bucket), Path(f"{prefix}-{epoch:04d}.params")
    for file in files:
        if not file.is_file():
            raise refuse(
                "Cli/checkpoint-exists",
                f"{file} does not exist; `refimpl train --model-prefix {prefix}` writes it",
            )
    return files


def known_optimizer(name: str) -> None:
    """Refuse a name under which no optimizer is registered."""
    if name.lower() not in Optimizer.opt_registry:
        known = ", ".join(sorted(Optimizer.opt_registry))
        likely = did_you_mean(name, Optimizer.opt_registry)
        raise refuse("Cli/optimizer", f"there is no optimizer {name!r}; {likely}known are {known}")


def checkpoint_epochs(prefix: str) -> list[int]:
    """The epochs of which a checkpoint has a params file, in order."""
    path = Path(prefix)
    numbers = [
        int(match[1]) for file in path.parent.glob("*.params")
        if (match := re.fullmatch(rf"{re.escape(path.name)}-(\d{{4,18}})\.params", file.name))
    ]
    return sorted(number for number in numbers if Path(f"{prefix}-{number:04d}.params").is_file())


def named_shapes(texts: Sequence[str] | None, flag: str = "--shape") -> dict[str, tuple[int, ...]]:
    """Shapes by the names of inputs, from texts such as ``data=64,1,28,28``."""
    shapes = {}
    for text in texts or []:
        match = re.fullmatch(r"([^=\s]+)=\(?([1-9]\d{0,8}(?:, ?[1-9]\d{0,8})*),?\)?", text)
        if match is None:
            raise refuse("Cli/shape", f"{flag} takes a name and numbers such as data=64,1,28,28, not {text!r}")
        shapes[match[1]] = tuple(int(side) for side in match[2].split(","))
    return shapes


def with_labels(net: Symbol, shapes: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Shapes, with those of labels that cannot be inferred: the first dimensions of the first input, where they fit."""
    found, _, _ = known_shapes(net.entries, shapes)
    told = zip(net.list_arguments(), found, strict=True)
    labels = [name for name, shape in told if name.endswith("label") and not is_shown_whole(shape)]
    first = next(iter(shapes.values()))
    for count in range(1, len(first) + 1) if labels else ():
        trial = {**shapes, **dict.fromkeys(labels, first[:count])}
        try:
            _, outputs, _ = known_shapes(net.entries, trial)
        except MXNetError:
            continue  # labels of these rows do not fit the outputs
        if all(is_shown_whole(shape) for shape in outputs):
            return trial
    return shapes
