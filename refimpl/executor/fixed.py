"""Lists and dicts of bound arrays: the program has looked up the arrays' memory, so no array takes another's place."""

from __future__ import annotations

from typing import Any, NoReturn

from ..base import refusal


def _refuse(_: Any, *__: Any, **___: Any) -> NoReturn:
    raise refusal(
        "Executor/fixed-arrays", "the arrays of an executor are bound and cannot be replaced; write into the array,"
        " executor.arg_arrays[0][:] = values, or bind again", TypeError,
    )


class FixedList(list):
    """A list that refuses to change: the program would not read an array put into it later."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse  # type: ignore[assignment]
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse  # type: ignore[assignment]

    def __reduce__(self) -> tuple:
        return list, (list(self),)


class FixedDict(dict):
    """A dict of an executor's arrays by name, made anew at each look: no other array takes the place of a bound one."""

    def __setitem__(self, name: Any, array: Any) -> None:
        if name in self and array is not self[name]:
            _refuse(self)
        super().__setitem__(name, array)

    def update(self, *others: Any, **arrays: Any) -> None:
        """Put other names into this dict, which the executor does not read."""
        for name, array in dict(*others, **arrays).items():
            self[name] = array

    def __ior__(self, others: Any) -> FixedDict:  # type: ignore[override, misc]  # dict's takes fewer kinds
        self.update(others)
        return self

    def __reduce__(self) -> tuple:
        return dict, (dict(self),)


__all__ = ["FixedDict", "FixedList"]
