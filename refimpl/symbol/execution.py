"""How a symbol becomes something that runs: the executor of MXNet 1.x, and the one of 2.0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..context import Context

if TYPE_CHECKING:
    from ..executor import Executor
    from ..executor_v2 import Executor as ExecutorV2
    from ..ndarray import NDArray


class Execution:
    """Methods of :class:`Symbol` that give it memory."""

    __slots__ = ()

    def bind(
        self, ctx: Context, args: Any, args_grad: Any = None, grad_req: Any = "write",
        aux_states: Any = None, group2ctx: Any = None, shared_exec: Executor | None = None,
    ) -> Executor:
        """Give every argument an array and return an Executor; see ``refimpl/executor/executor.py``."""
        from ..executor import bind

        return bind(self, ctx, args, args_grad, grad_req, aux_states, group2ctx, shared_exec)  # type: ignore[arg-type]  # a Symbol

    def simple_bind(
        self, ctx: Context, grad_req: Any = "write", type_dict: dict[str, Any] | None = None,
        stype_dict: Any = None, group2ctx: Any = None, shared_arg_names: list[str] | None = None,
        shared_exec: Executor | None = None, shared_buffer: dict[str, NDArray] | None = None, **kwargs: Any,
    ) -> Executor:
        """Infer all shapes from the given ones, allocate arrays of zeros and bind them."""
        from ..executor.binding import simple_bind

        return simple_bind(
            self,  # type: ignore[arg-type]  # a Symbol
            ctx, grad_req, type_dict, stype_dict, group2ctx, shared_arg_names, shared_exec,
            shared_buffer, kwargs,
        )

    def eval(self, ctx: Context | None = None, **kwargs: NDArray) -> list[NDArray]:
        """Bind the given arrays, run forward once and return the outputs."""
        from ..context import current_context

        return self.bind(ctx or current_context(), kwargs, grad_req="null").forward()

    def _bind(
        self, ctx: Context, args: Any, args_grad: Any = None, grad_req: Any = "write", aux_states: Any = None,
        static_alloc: bool = False,
    ) -> ExecutorV2:
        """The Executor of MXNet 2.0 over copies of the given arrays; see ``refimpl/executor_v2.py``."""
        from ..executor_v2 import bind

        return bind(self, ctx, args, args_grad, grad_req, aux_states, static_alloc)  # type: ignore[arg-type]  # a Symbol

    def _simple_bind(
        self, ctx: Context, grad_req: Any = "write", type_dict: dict[str, Any] | None = None,
        stype_dict: Any = None, **kwargs: Any,
    ) -> ExecutorV2:
        """The Executor of MXNet 2.0 over zeros, of the shapes that follow from the given ones."""
        from ..executor_v2 import simple_bind

        return simple_bind(self, ctx, grad_req, type_dict, stype_dict, **kwargs)  # type: ignore[arg-type]  # a Symbol
