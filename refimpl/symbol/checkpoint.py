"""Checkpoints: a symbol and its arrays in two files."""

from __future__ import annotations

from collections.abc import Mapping

from .. import ndarray as nd
from .. import symbol as sym
from ..base import decides, require
from ..files.atomic import together
from ..log import LOG
from ..ndarray import NDArray
from ..ndarray.file_format import read_file

# Prefix of a name in a checkpoint -> 0 for arguments, 1 for auxiliary states.
_PREFIXES = {"arg": 0, "aux": 1}


@decides("Checkpoint/files")
def save_checkpoint(
    prefix: str, epoch: int, symbol: sym.Symbol | None, arg_params: Mapping[str, NDArray],
    aux_params: Mapping[str, NDArray], remove_amp_cast: bool = True,
) -> None:
    """Write ``PREFIX-symbol.json`` (unless ``symbol`` is None) and ``PREFIX-EPOCH.params``.

    The epoch is written with at least four digits. When one file cannot be written, none has changed.

    Args:
        prefix: the beginning of the names of the files.
        epoch: the number in the name of the params file.
        symbol: the net, or None.
        arg_params, aux_params: arguments and auxiliary states by name.
        remove_amp_cast: whether to leave the casts of mixed precision out of the symbol.

    Raises:
        MXNetError: a file cannot be written.
    """
    named = {f"arg:{name}": array for name, array in arg_params.items()}
    named.update({f"aux:{name}": array for name, array in aux_params.items()})
    file = f"{prefix}-{epoch:04d}.params"
    with together():
        if symbol is not None:
            symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
        nd.save(file, named)
    LOG.info('Saved checkpoint to "%s"', file)


def load_params(prefix: str, epoch: int) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
    """Read ``PREFIX-EPOCH.params``: (arguments, auxiliary states) by name.

    Names with another prefix than ``arg:`` and ``aux:`` are left out.

    Raises:
        MXNetError: the file is missing or damaged.
        ValueError: a name has no prefix, or the arrays have no names.
    """
    file = f"{prefix}-{epoch:04d}.params"
    return parse_params(read_file(file), file)


def parse_params(content: bytes, file: str) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
    """The result of :func:`load_params`, from the bytes of the file; ``file`` is the name in messages."""
    found = nd.load_frombuffer(content, file)
    params: tuple[dict[str, NDArray], dict[str, NDArray]] = ({}, {})
    if not found:
        LOG.warning("Params file '%s' is empty", file)
        return params
    require(
        "Checkpoint/names", isinstance(found, dict),
        f"{file} holds arrays without names; a checkpoint names them arg:NAME and aux:NAME", ValueError,
    )
    for key, array in found.items():
        kind, colon, name = key.partition(":")
        require(
            "Checkpoint/names", colon,
            f"{file}: array {key!r} is named neither arg:NAME nor aux:NAME", ValueError,
        )
        if kind in _PREFIXES:
            params[_PREFIXES[kind]][name] = array
    return params


def load_checkpoint(
    prefix: str, epoch: int
) -> tuple[sym.Symbol, dict[str, NDArray], dict[str, NDArray]]:
    """Read the files of :func:`save_checkpoint`: (symbol, arguments, auxiliary states).

    Raises:
        MXNetError: a file is missing or damaged.
        ValueError: a name in the parameter file has no prefix.
    """
    symbol = sym.load(f"{prefix}-symbol.json")
    return symbol, *load_params(prefix, epoch)


__all__ = ["load_checkpoint", "load_params", "save_checkpoint"]
