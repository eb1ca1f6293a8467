"""mx.nd.utils: how arrays are made and kept in files, under the name of MXNet's module."""

from .creation import zeros
from .file_format import load, load_frombuffer, save
from .ndarray import array, empty

__all__ = ["array", "empty", "load", "load_frombuffer", "save", "zeros"]
