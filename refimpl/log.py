"""mx.log: loggers whose lines say level, time, process and place, in colour on standard error."""

from __future__ import annotations

import logging
import warnings
from logging import CRITICAL, DEBUG, ERROR, INFO, NOTSET, WARNING

from .base import decides

_LETTERS = {CRITICAL: "C", ERROR: "E", WARNING: "W", INFO: "I", DEBUG: "D"}
_RED, _GREEN, _BLUE = "\x1b[31m", "\x1b[32m", "\x1b[34m"


class _Formatter(logging.Formatter):
    """``I1122 12:24:07 PID FILE:FUNCTION:LINE] message``, coloured up to the bracket; U for a level without a name."""

    def __init__(self) -> None:
        super().__init__(datefmt="%m%d %H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # the name that logging calls
        colour = _RED if record.levelno >= WARNING else _GREEN if record.levelno >= INFO else _BLUE
        head = f"{_LETTERS.get(record.levelno, 'U')}{self.formatTime(record, self.datefmt)} {record.process}"
        place = f"{record.pathname}:{record.funcName}:{record.lineno}"
        return f"{colour}{head} {place}]\x1b[0m {record.message}"


@decides("log/get-logger")
def get_logger(
    name: str | None = None, filename: str | None = None, filemode: str | None = None, level: int = WARNING,
) -> logging.Logger:
    """A logger that writes coloured lines to standard error, or plain messages to a file.

    Args:
        name: which logger; None for the root one, which stays as it is.
        filename: the file that takes messages instead of standard error.
        filemode: how it is opened, "a" by default.
        level: the least level that is written.

    The first call for a name decides; later ones return the same logger, unchanged.
    """
    logger = logging.getLogger(name)
    if name is None or getattr(logger, "_init_done", False):
        return logger
    logger._init_done = True  # type: ignore[attr-defined]  # MXNet's mark, and where it is
    handler: logging.Handler
    if filename:
        handler = logging.FileHandler(filename, filemode or "a")
    else:
        handler = logging.StreamHandler()
        handler.setFormatter(_Formatter())
    logger.addHandler(handler)
    logger.setLevel(level)
    return logger


def getLogger(  # noqa: N802  # MXNet's name
    name: str | None = None, filename: str | None = None, filemode: str | None = None, level: int = WARNING,
) -> logging.Logger:
    """:func:`get_logger` by its old name, with a DeprecationWarning.

    ``name``, ``filename``, ``filemode`` and ``level`` are those of :func:`get_logger`.
    """
    warnings.warn("getLogger is deprecated; use get_logger", DeprecationWarning, stacklevel=2)
    return get_logger(name, filename, filemode, level)


__all__ = ["CRITICAL", "DEBUG", "ERROR", "INFO", "NOTSET", "WARNING", "getLogger", "get_logger"]
