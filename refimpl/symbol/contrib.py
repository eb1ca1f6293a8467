"""mx.sym.contrib: the operators ``_contrib_...``, and functions on symbols that are written with other operators.

``refimpl/contrib/control_flow/`` adds the loops and branches (``foreach``, ``while_loop``, ``cond``).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import refimpl.symbol.contrib_operators as contrib_operators  # noqa: PLR0402  # what pyright reads in __all__

from ..base import decides, refusal
from ..ndarray.contrib import expected_count
from ..op_registry import known
from . import random
from .contrib_operators import *  # noqa: F403  # the operators ``_contrib_...``
from .contrib_updates import adamw_update, mp_adamw_update
from .symbol import Symbol


@decides("random/zipfian")
def rand_zipfian(true_classes: Symbol, num_sampled: int, range_max: int) -> tuple[Symbol, Symbol, Symbol]:
    """``mx.nd.contrib.rand_zipfian`` as a graph: (drawn classes, expected counts of the true and of the drawn classes).

    Raises:
        AssertionError: ``true_classes`` is not a Symbol.
    """
    if not isinstance(true_classes, Symbol):
        raise refusal("Symbol/input-type", f"unexpected type {type(true_classes)}, expected a Symbol", AssertionError)
    drawn = random.uniform(0, math.log(range_max + 1), shape=(num_sampled,), dtype="float64")
    classes = (drawn.exp() - 1).astype("int64") % range_max
    given = expected_count(true_classes, num_sampled, range_max)
    return classes, given, expected_count(classes, num_sampled, range_max)


def boolean_mask(data: Any = None, index: Any = None, axis: int = 0, **kwargs: Any) -> Symbol:
    """Refused: the number of rows depends on values, and a graph has shapes before it has values.

    Raises:
        MXNetError: always.
    """
    del data, index, axis, kwargs
    raise refusal(
        "boolean_mask/graph", "boolean_mask has no shape before it runs, so it is no node of a graph; call"
        " mx.nd.contrib.boolean_mask on arrays, or multiply by the mask",
    )


globals()["__getattr__"] = known.attributes(__name__, "_contrib_")

__all__ = ["adamw_update", "boolean_mask", "mp_adamw_update", "rand_zipfian"]
__all__ += contrib_operators.__all__

if TYPE_CHECKING:  # added by refimpl/contrib/control_flow
    from ..contrib.control_flow.symbols import cond, foreach, while_loop  # noqa: TC004

    __all__ += ["cond", "foreach", "while_loop"]
