"""The keyword arguments that every optimizer takes beside its own, as types for type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from ..lr_scheduler import LRScheduler


class Others(TypedDict, total=False):
    """The keyword arguments of :class:`Optimizer` except ``learning_rate``."""

    rescale_grad: float
    param_idx2name: dict[Any, str] | None
    wd: float
    clip_gradient: float | None
    lr_scheduler: LRScheduler | None
    sym: Any
    begin_num_update: int
    multi_precision: bool
    param_dict: dict[Any, Any] | None


class Keywords(Others, total=False):
    """The keyword arguments of :class:`Optimizer`."""

    learning_rate: float | None


__all__ = ["Keywords", "Others"]
