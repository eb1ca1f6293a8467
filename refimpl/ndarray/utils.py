"""mx.nd.utils: functions that make, save and load arrays, in the module where MXNet has them."""

from .creation import zeros
from .file_format import load, load_frombuffer, save
from .ndarray import array, empty

__all__ = ["array", "empty", "load", "load_frombuffer", "save", "zeros"]
