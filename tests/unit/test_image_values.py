"""mx.image and the iterators over files of pictures, against recorded results of MXNet 1.9.1.

The numbers were printed with MXNet's Python by ``image_programs.run(mx, name, 10)`` and so on, and
``image_files.run(mx, folder, {"verbose": False})`` over files that ``image_files.write`` wrote here.
"""

from __future__ import annotations

import random
import zlib
from pathlib import Path

import numpy as np
import pytest

import refimpl as mx

from . import image_files, image_programs
from .picture_records import needs_pillow

FEW = {
    "functions": [
        356968879, 4193959781, 2777807102, 762418195, 1961016760, 1368533980, 3874097564, 2706697929,
        3152702716, 128383981, 1434622193,
    ],
    "augmenters": [
        4193959781, 1820606967, 2830886048, 3975090697, 2420098627, 3199262851, 1823126087, 2483193901,
        17719222, 3350839393, 3144254246, 65307127, 4225056970, 1719401228, 128383981, 1814995973,
    ],
    "detection": [
        2099927977, 3941279409, 1410995604, 4180856454, 346606929, 4006706391, 2418441035, 3234976605,
        1534687625, 2324273151, 1247477215, 3552069906, 2450764742, 4158168279, 2655136694, 1440499922,
        825340212,
    ],
}
# None: sums in another order, which differ from the 40th picture on.
MANY = {
    "functions": [
        2281081455, 4046089122, 1332994565, 2526550306, 2333844097, 682349825, 3919913170, 2935313312,
        2926983806, 1575244652, 3475927206,
    ],
    "augmenters": [
        4046089122, 2165689941, 3340077463, 353546269, 365949132, 78009521, 1364735369, 2626116383,
        2611126561, None, 896850296, None, 4103967850, 3938478860, 1575244652, 2360140983,
    ],
    "detection": [
        2037963968, 1243686023, 827811002, 3011730516, 1103480650, 1466203369, 2768398144, 3343527065,
        3241767388, 1360261712, 2392870125, 3402974242, 6543038, 1069265046, 2147791215, 1366056240,
        1597977113,
    ],
}
FILES = {
    "ImageRecordIter: plain": 3998461642,
    "ImageRecordIter: rotate": 2727587484,
    "ImageRecordIter: max_rotate_angle": 1918062519,
    "ImageRecordIter: shear": 2496031091,
    "ImageRecordIter: scale": 4258640136,
    "ImageRecordIter: aspect": 1502286040,
    "ImageRecordIter: aspects": 3733952712,
    "ImageRecordIter: img_size": 401741974,
    "ImageRecordIter: affine": 2168957861,
    "ImageRecordIter: resize": 1281395288,
    "ImageRecordIter: crop_size": 126598890,
    "ImageRecordIter: resized_crop": 3461126963,
    "ImageRecordIter: rotated_crop": 1489674518,
    "ImageRecordIter: hsl": 3229624967,
    "ImageRecordIter: brightness": 1554524810,
    "ImageRecordIter: contrast": 1011239887,
    "ImageRecordIter: saturation": 4006372503,
    "ImageRecordIter: pca": 867576361,
    "ImageRecordIter: jitter": 1889071540,
    "ImageRecordIter: pad": 1640734511,
    "ImageRecordIter: light": 1660600116,
    "ImageRecordIter: seed_aug": 594520743,
    "ImageRecordIter: mean": 1723674402,
    "ImageRecordIter: small": 2288108033,
    "ImageRecordIter: grey": 3571157314,
    "ImageDetRecordIter: resize": 2975323503,
    "ImageDetRecordIter: mirror": 121132381,
    "ImageDetRecordIter: hue": 3778436195,
    "ImageDetRecordIter: contrast": 1371126073,
    "ImageDetRecordIter: pad": 3020476381,
    "ImageDetRecordIter: crop": 1558001488,
    "ImageDetRecordIter: emit": 3994083664,
    "ImageIter: records": 3119832277,
    "ImageIter: shuffled": 2148769476,
    "ImageIter: kept": 3783025068,
    "ImageIter: discarded": 2384368186,
    "ImageIter: part": 2137112135,
    "ImageIter: list": 2619521250,
    "ImageDetIter: boxes": 3164652886,
    "ImageDetIter: boxes_kept": 2643089994,
}
FUNCTIONS = (
    "imresize/choice", "imresize/short", "imresize/scale-down", "fixed_crop/values", "random_crop/draws",
    "random_crop/center", "random_crop/sized", "_cvcopyMakeBorder/constant", "_cvcopyMakeBorder/copied",
    "color_normalize/values", "Augmenter/several", "Augmenter/flip", "Augmenter/jitter", "Augmenter/hue",
    "Augmenter/lighting", "Augmenter/gray", "DetAugmenter/borrow", "DetAugmenter/select", "DetAugmenter/flip",
    "DetAugmenter/crop-draws", "DetAugmenter/covered", "DetAugmenter/eject", "DetAugmenter/pad",
    "DetAugmenter/pad-draws", "CreateDetAugmenter/several-crops",
)


@pytest.mark.clause(*FUNCTIONS)
@pytest.mark.parametrize("name", FEW)
def test_pictures_are_those_of_mxnet(name: str) -> None:
    assert image_programs.run(mx, name, 10) == FEW[name]


@pytest.mark.long
@pytest.mark.clause(*FUNCTIONS)
@pytest.mark.parametrize("name", MANY)
def test_many_pictures_are_those_of_mxnet(name: str) -> None:
    """A few seconds each."""
    found = image_programs.run(mx, name, 200)
    assert [ours for ours, theirs in zip(found, MANY[name], strict=True) if theirs is not None] == [
        theirs for theirs in MANY[name] if theirs is not None
    ]


@needs_pillow
@pytest.mark.clause(
    "ImageRecordIter/interpolation", "ImageRecordIter/affine", "ImageRecordIter/crop", "ImageRecordIter/random-crop",
    "ImageRecordIter/hsl", "ImageRecordIter/jitter", "ImageRecordIter/pca", "ImageRecordIter/light",
    "ImageRecordIter/mean-img", "ImageRecordIter/draws", "ImageDetRecordIter/colors", "ImageDetRecordIter/mirror",
    "ImageDetRecordIter/pad", "ImageDetRecordIter/crop", "ImageDetRecordIter/emit", "ImageIter/values",
    "ImageIter/labels", "ImageIter/shuffle", "ImageIter/parts", "ImageIter/pad", "ImageDetIter/values",
    "ImageDetIter/labels", "ImageDetIter/label-shape", "ImageDetIter/skip", "CreateAugmenter/order",
    "CreateDetAugmenter/order", "imdecode/values",
)
def test_batches_are_those_of_mxnet(tmp_path: Path) -> None:
    image_files.write(tmp_path, mx.recordio)
    assert image_files.run(mx, tmp_path, {}) == FILES


# One picture twelve times with these arguments: zlib.crc32 of the batch as bytes, from MXNet 1.9.1.
# The draws of those with more arguments tell where in their order that of the list comes.
TURNED = {
    "30,60": ({}, 3948762778),
    "10,-20,35": ({"max_rotate_angle": 15, "max_shear_ratio": 0.2, "rotate": 50}, 4259638309),
    "0": ({}, 4280379398),
    "0,90": ({"rand_crop": True, "rand_mirror": True, "max_random_scale": 1.5, "min_random_scale": 1.2}, 1336375115),
    "-45": ({}, 27501039),
    " 450": ({}, 4076393755),
}


@needs_pillow
@pytest.mark.clause("ImageRecordIter/affine", "ImageRecordIter/draws")
@pytest.mark.parametrize("angles", TURNED)
def test_angles_of_a_list_are_drawn(tmp_path: Path, angles: str) -> None:
    more, expected = TURNED[angles]
    picture = np.zeros((32, 32, 3), np.uint8)
    picture[4:10, 6:26] = 255
    picture[10:20, 6:12] = 100, 20, 200  # blue first
    file = str(tmp_path / "twelve.rec")
    writer = mx.recordio.MXRecordIO(file, "w")
    for number in range(12):
        header = mx.recordio.IRHeader(0, float(number), number, 0)
        writer.write(mx.recordio.pack_img(header, picture, quality=9, img_fmt=".png"))
    writer.close()
    given = {"path_imgrec": file, "data_shape": (3, 32, 32), "batch_size": 12, "rotate_list": angles, **more}
    batch = next(mx.io.ImageRecordIter(**given))
    assert zlib.crc32(batch.data[0].asnumpy().astype(np.uint8).tobytes()) == expected


# random.seed(7), then each augmenter on this picture: MXNet 1.9.1.
ARANGE = np.arange(2 * 3 * 3, dtype=np.float32).reshape(2, 3, 3)

SATURATED = [
    0.086145781, 0.980445445, 1.87474513, 3.08614588, 3.98044562, 4.87474537, 6.08614588, 6.98044586, 7.87474537,
    9.08614635, 9.98044586, 10.8747454, 12.0861454, 12.9804459, 13.8747463, 15.0861464, 15.9804459, 16.8747463,
]
# imrotate(picture, 30, zoom_in, zoom_out) of this picture, and random_rotate after numpy.random.seed(4).
TWENTIES = np.arange(12, dtype=np.float32).reshape(1, 3, 4) * 20
ROTATED = {
    (False, False): [
        5.383031, 27.70354, 79.37823, 91.62833, 24.01924, 81.33974, 138.6602, 195.9808, 62.58331, 140.6218, 166.7709,
        79.09136,
    ],
    (True, False): [
        18.50919, 52.62234, 90.02092, 127.4195, 53.90213, 91.30071, 128.6993, 166.0979, 92.58051, 129.9791, 167.3777,
        189.5293,
    ],
    (False, True): [
        0.0, 9.278715, 63.06625, 0.0, 0.0, 66.07266, 153.9273, 95.23215, 0.0, 156.9337, 54.40614, 0.0,
    ],
}
DRAWN = [
    5.348928, 27.2107, 77.38488, 89.70906, 26.08862, 82.02954, 137.9705, 193.9114, 65.19488, 142.6151, 166.9896,
    83.26552,
]


@pytest.mark.clause("Augmenter/jitter")
def test_a_grey_of_each_pixel() -> None:
    random.seed(7)
    found = mx.image.SaturationJitterAug(0.3)(mx.nd.array(ARANGE)).asnumpy()
    np.testing.assert_allclose(found.ravel(), SATURATED, rtol=3e-7)


@pytest.mark.clause("imrotate/values")
@pytest.mark.parametrize("zooms", ROTATED)
def test_pictures_are_rotated(zooms: tuple[bool, bool]) -> None:
    picture = mx.nd.array(TWENTIES)
    found = mx.image.imrotate(picture, 30, *zooms).asnumpy().ravel()
    np.testing.assert_allclose(found, ROTATED[zooms], atol=3e-4)
    both = mx.image.imrotate(mx.nd.stack(picture, picture), mx.nd.array([30, 30]), *zooms).asnumpy()
    np.testing.assert_array_equal(both[1].ravel(), found)


@pytest.mark.clause("imrotate/draws")
def test_angles_are_drawn() -> None:
    np.random.seed(4)  # MXNet's stream
    found = mx.image.random_rotate(mx.nd.array(TWENTIES), (-10, 30)).asnumpy().ravel()
    np.testing.assert_allclose(found, DRAWN, atol=3e-4)


@pytest.mark.clause("Augmenter/dumps", "CreateAugmenter/order", "CreateDetAugmenter/order")
def test_augmenters_as_text() -> None:
    made = mx.image.CreateAugmenter(
        (3, 8, 9), resize=20, rand_crop=True, rand_resize=True, rand_mirror=True, brightness=0.1, contrast=0.2,
        hue=0.1, rand_gray=0.2, mean=True, std=np.array([1, 1, 2.0]),
    )
    assert [one.dumps() for one in made] == [
        '["resizeaug", {"size": 20, "interp": 2}]',
        '["randomsizedcropaug", {"size": [9, 8], "area": 0.08, "ratio": [0.75, 1.3333333333333333], "interp": 2}]',
        '["horizontalflipaug", {"p": 0.5}]', '["castaug", {"type": "float32"}]',
        ["colorjitteraug", [
            '["brightnessjitteraug", {"brightness": 0.1}]', '["contrastjitteraug", {"contrast": 0.2}]',
        ]],
        '["huejitteraug", {"hue": 0.1}]', '["randomgrayaug", {"p": 0.2}]',
        ('["colornormalizeaug", {"mean": [123.68000030517578, 116.27999877929688, 103.52999877929688],'
        ' "std": [1.0, 1.0, 2.0]}]'),
    ]
    found = mx.image.CreateDetAugmenter((3, 30, 40), rand_pad=1)
    assert [one.dumps() for one in found] == [
        ["detrandomselectaug", [('["detrandompadaug", {"aspect_ratio_range": [0.75, 1.33], "area_range": [1.0, 3.0],'
                                ' "max_attempts": 50, "pad_val": [127, 127, 127]}]')]],
        ["detborrowaug", '["forceresizeaug", {"size": [40, 30], "interp": 2}]'],
        ["detborrowaug", '["castaug", {"type": "float32"}]'],
    ]
