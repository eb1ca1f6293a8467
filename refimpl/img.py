"""mx.img is not here; importing it says what stands instead."""

from .runtime import absent

raise absent("img")
