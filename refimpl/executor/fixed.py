"""Lists of bound arrays: the program has looked up the arrays' memory, so the lists must not change."""

from __future__ import annotations

from typing import Any, NoReturn

from ..base import refusal


class FixedList(list):
    """A list that refuses to change: the program would not read an array put into it later."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise refusal(
            "Executor/fixed-arrays", "the arrays of an executor are bound and cannot be replaced; write into the array,"
            " executor.arg_arrays[0][:] = values, or bind again", TypeError,
        )

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse  # type: ignore[assignment]
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse  # type: ignore[assignment]

    def __reduce__(self) -> tuple:
        return list, (list(self),)


__all__ = ["FixedList"]
