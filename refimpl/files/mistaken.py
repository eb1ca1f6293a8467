"""Names for files that people often give by mistake: pointers, error pages, archives."""

from __future__ import annotations

from ..base import decides

_STARTS = (
    (
        b"version https://git-lfs.github.com/spec/",
        "it is a Git LFS pointer, not the file that it stands for; run `git lfs pull` where it came from",
    ),
    (b"<!doctype html", "it is an HTML page, not the file; look at what was downloaded"),
    (b"<html", "it is an HTML page, not the file; look at what was downloaded"),
    (b"<?xml", "it is XML, perhaps a server's error message; look at what was downloaded"),
    (b"\x1f\x8b", "it is compressed with gzip; unpack it first"),
    (b"bzh", "it is compressed with bzip2; unpack it first"),
    (b"\xfd7zxz\0", "it is compressed with xz; unpack it first"),
    (b"pk\x03\x04", "it is a zip archive (as NumPy's .npz files are); unpack it first"),
    (b"\x93numpy", "it is a NumPy .npy file; read it with numpy.load"),
)


@decides("Files/foreign")
def what_it_is(start: bytes) -> str | None:
    """What a file is that begins so, in a sentence that says what to do; None when nothing tells.

    >>> what_it_is(b"<!DOCTYPE html><title>404</title>")
    'it is an HTML page, not the file; look at what was downloaded'
    """
    if not start:
        return "it is empty"
    head = start[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return next((sentence for known, sentence in _STARTS if head.startswith(known)), None)


__all__ = ["what_it_is"]
