"""Files of pictures by formula, for the tests of the iterators over them."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from refimpl.base import MXNetError
from refimpl.io import ImageRecordIter
from refimpl.recordio import IRHeader, MXIndexedRecordIO, pack_img

needs_pillow = pytest.mark.skipif(find_spec("PIL") is None, reason="Pillow is an extra")


def picture(rows, columns, channels=3):
    """A picture by formula; blue first, as pack_img wants it."""
    r, c, k = np.ogrid[:rows, :columns, :channels]
    return ((r * r * 37 + c * c * 11 + k * 53 + r * c * 7) % 256).astype(np.uint8)


def writer(folder):
    """A function that writes records with an index into ``folder`` and returns the options that read them."""
    def write(records, name="pictures"):
        options = {"path_imgrec": str(folder / f"{name}.rec"), "path_imgidx": str(folder / f"{name}.idx")}
        file = MXIndexedRecordIO(options["path_imgidx"], options["path_imgrec"], "w")
        for number, record in enumerate(records):
            file.write_idx(number, record)
        file.close()
        return options

    return write


def packed(label, pixels, number=0):
    return pack_img(IRHeader(0, label, number, 0), pixels, img_fmt=".png", quality=3)


def opened(options, kind=ImageRecordIter, **more):
    chosen = {"path_imgrec": options["path_imgrec"], "data_shape": (3, 4, 4), "batch_size": 2, **more}
    return kind(**chosen)


def refused(clause, function, *args, **kwargs):
    with pytest.raises(MXNetError) as caught:
        function(*args, **kwargs)
    assert caught.value.clause == clause
    return str(caught.value)
