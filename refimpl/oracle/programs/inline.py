"""Arrays of a program as bytes beside it, for implementations that cannot draw NumPy's random numbers.

Each array spec of a program, in whatever field, is replaced by ``{"array": n}``: array number n of the message.
"""

from .values import array_of


def changed_arrays(part, change):
    """A copy of a program, or of a part of one, with each array spec replaced by ``change(spec)``.

    An object with a list ``shape`` and a ``dtype`` is an array, unless it has a ``name``: then it describes an input.
    """
    if isinstance(part, list):
        return [changed_arrays(each, change) for each in part]
    if not isinstance(part, dict):
        return part
    if isinstance(part.get("shape"), list) and "dtype" in part and "name" not in part:
        return change(part)
    return {key: changed_arrays(each, change) for key, each in part.items()}


def with_references(programs):
    """A request of checked programs as (object, arrays), for ``messages.pack``."""
    arrays = {}

    def moved(spec):
        arrays[str(len(arrays))] = array_of(spec)
        return {"array": len(arrays) - 1}

    return {"programs": changed_arrays(list(programs), moved)}, arrays
