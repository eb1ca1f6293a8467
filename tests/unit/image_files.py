"""What iterators over files of pictures deliver at fixed draws, as checksums: the same text runs here and in MXNet."""

from __future__ import annotations

import os
import random
import zlib
from typing import Any

import numpy as np

RECORDS: dict[str, dict[str, Any]] = {
    "plain": {}, "rotate": {"rotate": 30, "fill_value": 7}, "max_rotate_angle": {"max_rotate_angle": 40},
    "shear": {"max_shear_ratio": 0.3, "inter_method": 2}, "scale": {"max_random_scale": 1.5, "min_random_scale": 0.7},
    "aspect": {"max_aspect_ratio": 0.3, "inter_method": 4},
    "aspects": {"max_aspect_ratio": 1.5, "min_aspect_ratio": 0.6}, "img_size": {"min_img_size": 25},
    "affine": {"max_rotate_angle": 20, "max_shear_ratio": 0.2, "max_random_scale": 1.2, "min_random_scale": 0.8,
               "max_aspect_ratio": 0.2, "rand_crop": True, "rand_mirror": True, "inter_method": 9},
    "resize": {"resize": 17, "inter_method": 10},
    "crop_size": {"max_crop_size": 17, "min_crop_size": 10, "rand_crop": True},
    "resized_crop": {"random_resized_crop": True, "min_random_area": 0.2, "max_random_area": 0.8,
                     "max_aspect_ratio": 1.33, "min_aspect_ratio": 0.75, "rand_mirror": True},
    "rotated_crop": {"random_resized_crop": True, "min_random_area": 0.3, "max_rotate_angle": 10, "inter_method": 3},
    "hsl": {"random_h": 36, "random_s": 50, "random_l": 50, "rand_crop": True}, "brightness": {"brightness": 0.3},
    "contrast": {"contrast": 0.3}, "saturation": {"saturation": 0.3}, "pca": {"pca_noise": 0.1, "rand_mirror": True},
    "jitter": {"brightness": 0.2, "contrast": 0.3, "saturation": 0.4}, "pad": {"pad": 3, "fill_value": 9, "rotate": 20},
    "light": {"max_random_contrast": 0.3, "max_random_illumination": 20, "mean_r": 100, "std_r": 50, "scale": 0.5},
    "seed_aug": {"max_rotate_angle": 40, "seed_aug": 3}, "mean": {"mean_img": "mean.params", "rand_crop": True},
    "small": {"data_shape": (3, 24, 40), "inter_method": 10, "resize": 20, "rand_crop": True},
    "grey": {"data_shape": (1, 16, 16), "max_rotate_angle": 20},
}
BOXES: dict[str, dict[str, Any]] = {
    "resize": {"resize": 14, "resize_mode": "fit", "inter_method": 3}, "mirror": {"rand_mirror_prob": 0.5},
    "hue": {"random_hue_prob": 0.5, "max_random_hue": 30},
    "contrast": {"random_contrast_prob": 0.5, "max_random_contrast": 0.3},
    "pad": {"rand_pad_prob": 0.7, "max_pad_scale": 2.0, "rand_mirror_prob": 0.5, "inter_method": 10},
    "crop": {"rand_crop_prob": 0.8, "num_crop_sampler": 2, "min_crop_scales": (0.3, 0.5), "max_crop_scales": (0.9, 1.0),
             "min_crop_aspect_ratios": (0.5, 0.8), "max_crop_aspect_ratios": (2.0, 1.2),
             "min_crop_overlaps": (0.1, 0.0), "max_crop_trials": (25, 25)},
    "emit": {"rand_crop_prob": 1, "min_crop_scales": (0.3,), "max_crop_scales": (0.9,), "crop_emit_mode": "overlap",
             "emit_overlap_thresh": 0.5, "mean_img": "mean.params"},
}
ITERATORS: dict[str, tuple[str, dict[str, Any]]] = {
    "records": ("ImageIter", {"path_imgrec": "plain.rec"}),
    "shuffled": ("ImageIter", {"path_imgrec": "plain.rec", "path_imgidx": "plain.idx", "shuffle": True}),
    "kept": ("ImageIter", {"path_imgrec": "plain.rec", "path_imgidx": "plain.idx", "shuffle": True,
                           "last_batch_handle": "roll_over"}),
    "discarded": ("ImageIter", {"path_imglist": "files.lst", "path_root": ".", "last_batch_handle": "discard",
                                "rand_mirror": True}),
    "part": ("ImageIter", {"path_imgrec": "plain.rec", "path_imgidx": "plain.idx", "num_parts": 2, "part_index": 1,
                           "path_imglist": "files.lst", "rand_crop": True, "rand_resize": True, "mean": True,
                           "std": True}),
    "list": ("ImageIter", {"imglist": [[1, "0.png"], [[2.5], "1.png"]], "path_root": ".", "shuffle": True}),
    "boxes": ("ImageDetIter", {"path_imgrec": "boxes.rec", "rand_crop": 0.5, "rand_pad": 0.5, "rand_mirror": True}),
    "boxes_kept": ("ImageDetIter", {"path_imgrec": "boxes.rec", "path_imgidx": "boxes.idx", "shuffle": True,
                                    "last_batch_handle": "roll_over"}),
}


def write(folder: Any, recordio: Any) -> None:
    """Records of eight pictures by formula, with and without boxes, and the pictures as files with a list."""
    rng = np.random.RandomState(5)
    for name in ("plain", "boxes"):
        file = recordio.MXIndexedRecordIO(str(folder / f"{name}.idx"), str(folder / f"{name}.rec"), "w")
        for k in range(8):
            pixels = rng.randint(0, 256, (20 + k, 31 - 2 * k, 3)).astype(np.uint8)
            corners = rng.rand(k % 3 + 1, 2) * 0.5
            objects = [[n, *corner, *(corner + 0.2 + rng.rand(2) * 0.3)] for n, corner in enumerate(corners)]
            label = float(k) if name == "plain" else [2, 5, *np.ravel(objects)]
            record = recordio.pack_img(recordio.IRHeader(0, label, k, 0), pixels, 3, ".png")
            file.write_idx(k, record)
            if name == "plain":
                (folder / f"{k}.png").write_bytes(recordio.unpack(record)[1])
        file.close()
    (folder / "files.lst").write_text("".join(f"{k}\t{10 + k}\t{k}.png\n" for k in range(8)))


def batches(iterator: Any, epochs: int) -> int:
    """One checksum of everything that is delivered."""
    total = 0
    for _ in range(epochs):
        for batch in iterator:
            for values in (batch.data[0].asnumpy(), batch.label[0].asnumpy()):
                total = zlib.crc32(str((values.shape, batch.pad)).encode() + values.tobytes(), total)
        iterator.reset()
    return total


def run(mx: Any, folder: Any, quiet: dict[str, Any]) -> dict[str, int]:
    """A checksum for each iterator; ``quiet`` are arguments that only MXNet takes."""
    found, before = {}, os.getcwd()  # noqa: PTH109  # MXNet's Python has no Path.cwd in a with
    os.chdir(folder)
    try:
        for cls, name, cases in (("ImageRecordIter", "plain", RECORDS), ("ImageDetRecordIter", "boxes", BOXES)):
            for case, arguments in cases.items():
                if os.path.exists("mean.params"):  # noqa: PTH110
                    os.remove("mean.params")  # noqa: PTH107
                given = {"data_shape": (3, 16, 16), **arguments, **quiet}
                iterator = getattr(mx.io, cls)(path_imgrec=f"{name}.rec", batch_size=4, preprocess_threads=1, **given)
                found[f"{cls}: {case}"] = batches(iterator, 2)
        for case, (cls, arguments) in ITERATORS.items():
            random.seed(3)
            np.random.seed(3)  # what augmenters draw from
            iterator = getattr(mx.image, cls)(3, (3, 8, 9), **arguments)
            found[f"{cls}: {case}"] = batches(iterator, 3)
    finally:
        os.chdir(before)
    return found
