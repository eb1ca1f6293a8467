"""The handwritten digits that come with the package: 1,797 real images of 8 x 8 pixels.

They are the test set of the UCI data set "Optical Recognition of Handwritten Digits" (E. Alpaydin and
C. Kaynak, CC BY 4.0; see ATTRIBUTION.md beside this file), stored in MNIST's format.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..base import decides
from ..io.idx import IMAGES, LABELS, read_idx

DIGIT_IMAGES = Path(__file__).with_name("digits-images-idx3-ubyte.gz")
DIGIT_LABELS = Path(__file__).with_name("digits-labels-idx1-ubyte.gz")
TRAINING = 1437


@decides("data/digits")
def digits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training images, training labels, held-out images, held-out labels.

    Images are float32 of shape ``(n, 1, 8, 8)`` with values from 0 to 1 (sixteenths), labels float32 of
    shape ``(n,)`` with values 0 to 9. The split never changes: in the order of
    ``numpy.random.RandomState(0).permutation(1797)``, the first 1,437 are for training and the last 360
    are held out. Every digit is in both parts.
    """
    images = read_idx(DIGIT_IMAGES, IMAGES).astype(np.float32)[:, None] / np.float32(16)
    labels = read_idx(DIGIT_LABELS, LABELS).astype(np.float32)
    order = np.random.RandomState(0).permutation(len(images))  # a stream that NumPy has frozen
    train, held_out = order[:TRAINING], order[TRAINING:]
    return images[train], labels[train], images[held_out], labels[held_out]


__all__ = ["DIGIT_IMAGES", "DIGIT_LABELS", "digits"]
