"""The library's own log lines: records of the root logger, written without configuring logging for the program.

The functions of the module ``logging`` (``logging.info`` and the others) install a handler on the root logger at their
first use, after which the program's own ``logging.basicConfig`` does nothing. So the library calls none of them.
"""

from __future__ import annotations

import logging
from typing import Any

from .base import decides


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


__all__ = ["LOG", "chosen"]
