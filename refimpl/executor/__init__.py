"""mx.executor: a symbol bound to arrays, run forward and backward.

Binding (``binding``) makes a program (``program``) of steps (``steps``) over shared memory (``memory_pool``);
``step_runner`` runs them, or the ``table`` of kernels that they call; ``executor`` holds what users call.
"""

from ..ndarray import NDArray
from .binding import bind
from .executor import Executor
from .table import use

__all__ = ["Executor", "NDArray", "bind", "use"]
