"""mx.log: loggers whose lines say level, time, process and place in colour; and the library's own lines."""

from __future__ import annotations

import logging
import warnings
from logging import CRITICAL, DEBUG, ERROR, INFO, NOTSET, WARNING
from typing import Any

from .base import decides, printable

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


# --- the library's own lines ------------------------------------------------------------------------

# ``logging.info`` and its like install a handler on the root logger at their first use, after which the program's own
# ``logging.basicConfig`` does nothing. So the library calls none of them.


class _RootLines(logging.Logger):
    """Logs in the name, at the level and with the handlers of the root logger."""

    def __init__(self) -> None:
        super().__init__("root")
        self.parent = logging.root
        self._standard_error = logging._StderrHandler()  # type: ignore[attr-defined]  # it finds sys.stderr at each line
        self._standard_error.setFormatter(logging.Formatter(logging.BASIC_FORMAT))

    def isEnabledFor(self, level: int) -> bool:  # noqa: N802  # the name that logging calls
        return logging.root.isEnabledFor(level)

    @decides("logging/root")
    def callHandlers(self, record: logging.LogRecord) -> None:  # noqa: N802  # the name that logging calls
        if isinstance(record.args, tuple):  # names come from files
            record.args = tuple(printable(one) if isinstance(one, str) else one for one in record.args)
        if logging.root.handlers:
            logging.root.callHandlers(record)
        else:
            self._standard_error.handle(record)

    def __reduce__(self) -> str:
        return "LOG"


LOG = _RootLines()


def chosen(logger: Any) -> Any:
    """Return ``logger`` itself; :data:`LOG` for None and for the module ``logging``, MXNet's default of ``logger``."""
    return LOG if logger is None or logger is logging else logger


__all__ = ["CRITICAL", "DEBUG", "ERROR", "INFO", "NOTSET", "WARNING", "getLogger", "get_logger"]
