"""mx.executor: a symbol bound to arrays, run forward and backward.

Binding (``binding``) makes a program (``program``) of steps (``steps``) over shared memory (``memory_pool``);
``step_runner`` runs them; ``executor`` holds what users call.
"""

from ..ndarray import NDArray
from .binding import bind
from .executor import Executor

__all__ = ["Executor", "NDArray", "bind"]
