"""mx.image: pictures as arrays, ways to change them, and iterators over files of pictures."""

from __future__ import annotations

from .augmenters import *
from .det_iter import *
from .detection import *
from .image import *
from .image_iter import *
