"""mx.image: pictures as arrays, ways to change them, and iterators over files of pictures."""

from __future__ import annotations

from .image import *
from .augmenters import *
from .image_iter import *
from .detection import *
