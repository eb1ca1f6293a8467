"""Keywords of every optimizer, which those of its own stand beside; for type checkers only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from ..lr_scheduler import LRScheduler


class Others(TypedDict, total=False):
    """What :class:`Optimizer` takes besides its learning rate."""

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
    """What :class:`Optimizer` takes."""

    learning_rate: float | None


__all__ = ["Keywords", "Others"]
