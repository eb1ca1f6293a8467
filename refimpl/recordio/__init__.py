"""mx.recordio: files of records, and the header and picture that a record may hold."""

from __future__ import annotations

from typing import Any

from .recordio import (
    IRHeader,
    MXIndexedRecordIO,
    MXRecordIO,
    pack,
    pack_img,
    unpack,
    unpack_img,
)


def __getattr__(name: str) -> Any:
    """``cv2``, as in MXNet: OpenCV's module, None where it is not installed. It is not used here."""
    if name != "cv2":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import cv2
    except ImportError:
        cv2 = None
    globals()["cv2"] = cv2
    return cv2


__all__ = [
    "IRHeader",
    "MXIndexedRecordIO",
    "MXRecordIO",
    "pack",
    "pack_img",
    "unpack",
    "unpack_img",
]
