"""mx.contrib.amp: automatic mixed precision, which is not done here; scripts that ask for it go on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..base import decides, refusal


@decides("amp/nothing")
def init(
    target_dtype: Any = "float16", target_precision_ops: Any = None, conditional_fp32_ops: Any = None,
    fp32_ops: Any = None,
) -> None:
    """Warn that every operator keeps its own type; nothing changes.

    Args:
        target_dtype: the type that MXNet would compute in: float16 or bfloat16.
        target_precision_ops, conditional_fp32_ops, fp32_ops: lists of operators, not used.

    Raises:
        AssertionError: another ``target_dtype``.
    """
    del target_precision_ops, conditional_fp32_ops, fp32_ops
    if target_dtype not in ("float16", "bfloat16", np.float16):
        raise refusal(
            "amp/nothing", "AMP currently supports only float16 or bfloat16 as a target_dtype, got"
            f" {target_dtype!r}", AssertionError,
        )
    warnings.warn(
        "mx.contrib.amp.init() changes nothing: there is no mixed precision, operators compute in the type of"
        " their inputs. For float16 weights cast the data and use an optimizer with multi_precision=True",
        stacklevel=2,
    )


__all__ = ["init"]
