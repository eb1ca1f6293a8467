"""_image_random_hue, _image_random_color_jitter and _image_random_lighting with MXNet 1.9.1's draws."""

import numpy as np
import pytest

import refimpl as mx

PICTURE = [[[172, 47, 117], [192, 67, 251]], [[195, 103, 9], [211, 21, 242]]]


# MXNet 1.9.1: mx.random.seed(7), then twice NAME(nd.array(PICTURE, dtype="uint8"), min_factor=0, max_factor=0.5), or
# alpha_std=0.2
@pytest.mark.parametrize(("name", "given", "first", "second"), [
    pytest.param(
        "random_hue", {"min_factor": 0, "max_factor": 0.5},
        [[[172, 137, 46], [250, 67, 73]], [[47, 195, 8], [242, 53, 20]]],
        [[[46, 172, 71], [171, 250, 67]], [[8, 147, 195], [106, 242, 20]]],
        marks=pytest.mark.clause("_image_random_hue/value"),
    ),
    pytest.param(
        "random_lighting", {"alpha_std": 0.2},
        [[[166, 41, 111], [186, 61, 245]], [[189, 97, 3], [205, 15, 236]]],
        [[[178, 53, 123], [198, 73, 255]], [[201, 109, 15], [217, 27, 248]]],
        marks=pytest.mark.clause("_image_random_lighting/value", "_image_random_lighting/draw"),
    ),
])
def test_two_draws(name, given, first, second) -> None:
    picture = mx.nd.array(PICTURE, dtype="uint8")
    mx.random.seed(7)
    for values in (first, second):
        assert getattr(mx.nd.image, name)(picture, **given).asnumpy().tolist() == values


# MXNet 1.9.1: mx.random.seed(SEED), then three times random_color_jitter(nd.array(PICTURE), brightness=0.4,
# contrast=0.3, saturation=0, hue=0.1). Its saturation forgets red and green, see the deviations
JITTERED = [
    (0, [[[234.4951629638672, 40.82899856567383, 125.39987182617188],
          [300.63629150390625, 71.81553649902344, 356.8922424316406]],
         [[270.1297607421875, 163.12808227539062, -18.04557228088379],
          [337.1426696777344, 0.5464439392089844, 342.9482116699219]]]),
    (0, [[[184.94598388671875, 57.118160247802734, 106.32257843017578],
          [238.340576171875, 77.57062530517578, 265.733154296875]],
         [[208.46630859375, 147.68527221679688, 18.258499145507812],
          [256.5295715332031, 30.529964447021484, 248.66445922851562]]]),
    (0, [[[122.11268615722656, 18.998821258544922, 104.8733139038086],
          [97.20247650146484, 35.497039794921875, 187.2806396484375]],
         [[141.0856170654297, 23.33529281616211, -12.347771644592285],
          [104.54912567138672, -2.448862075805664, 179.8564453125]]]),
    (1, [[[186.08892822265625, 69.19285583496094, 121.39408111572266],
          [224.3118896484375, 87.89625549316406, 259.96722412109375]],
         [[207.59780883789062, 141.2939910888672, 33.656455993652344],
          [246.00527954101562, 44.87845993041992, 251.55075073242188]]]),
]


@pytest.mark.clause("_image_random_color_jitter/value", "_image_random_color_jitter/order")
@pytest.mark.parametrize("seed", [0, 1])
def test_changes_follow_in_the_order_that_is_drawn(seed) -> None:
    mx.random.seed(seed)
    for values in [values for of, values in JITTERED if of == seed]:
        found = mx.nd.image.random_color_jitter(
            mx.nd.array(PICTURE), brightness=0.4, contrast=0.3, saturation=0, hue=0.1
        )
        np.testing.assert_allclose(found.asnumpy(), values, rtol=1e-6, atol=1e-4)  # a sum in another order


# MXNet 1.9.1, in whole numbers, which are cut after each change
@pytest.mark.clause("image-jitter/cut")
def test_every_change_is_cut() -> None:
    mx.random.seed(7)
    whole = mx.nd.array(PICTURE, dtype="uint8")
    mx.nd.image.random_color_jitter(whole, brightness=0.5, contrast=0, saturation=0, hue=0)
    values = [
        [[[28, 113, 136], [45, 203, 117]], [[41, 0, 156], [5, 196, 126]]],
        [[[255, 76, 43], [254, 81, 119]], [[162, 255, 0], [255, 0, 56]]],
        [[[48, 105, 19], [147, 145, 34]], [[0, 121, 86], [129, 147, 2]]],
    ]
    for expected in values:
        found = mx.nd.image.random_color_jitter(whole, brightness=0.5, contrast=0.5, saturation=0, hue=0.5)
        assert found.asnumpy().tolist() == expected


# 2 * (100, 0, 0) - 29.9, by hand; a factor of 2 is seldom, but around 1 by up to 1 it lies between 0 and 2
@pytest.mark.clause("_image_random_color_jitter/value")
def test_saturation_lies_between_a_grey_picture_and_twice_the_colour() -> None:
    mx.random.seed(0)
    picture = mx.nd.array([[[100, 0, 0]]])
    for _ in range(5):
        red, green, blue = mx.nd.image.random_color_jitter(
            picture, brightness=0, contrast=0, saturation=1, hue=0
        ).asnumpy().ravel()
        assert green == blue
        factor = (red - 29.9) / 70.1
        assert 0 <= factor <= 2
        assert green == pytest.approx(29.9 * (1 - factor), abs=1e-3)


# by hand: no channel but one has no hue, and its own grey; MXNet leaves the result unwritten
@pytest.mark.clause("_image_random_hue/value", "_image_random_color_jitter/value")
def test_a_picture_of_one_channel_has_no_colours() -> None:
    picture = mx.nd.array([[[10], [30]]])
    assert mx.nd.image.random_hue(picture, min_factor=0.2, max_factor=0.7).asnumpy().tolist() == [[[10], [30]]]
    jittered = mx.nd.image.random_color_jitter(picture, brightness=0, contrast=-1, saturation=1, hue=1)
    assert jittered.asnumpy().tolist() == [[[10], [30]]]


@pytest.mark.clause("_image_random_hue/value")
def test_what_has_no_hue_keeps_its_number() -> None:
    """MXNet 1.9.1 gives these for black, white, grey within a rounding, and numbers that are no colours."""
    picture = [[[300, -20, 10], [0, 0, 0], [255, 255, 255], [1, 1, 1.00001], [0.1, 0.2, 0.3]]]
    found = mx.nd.image.random_hue(mx.nd.array(picture), min_factor=0.3, max_factor=0.3).asnumpy().tolist()
    assert found == [[
        [73.99995422363281, 299.9999694824219, -19.999967575073242], [0.0, 0.0, 0.0], [255.0, 255.0, 255.0],
        [1.0000050067901611, 1.0000050067901611, 1.0000050067901611],
        [0.30000001192092896, 0.10000000894069672, 0.23999997973442078],
    ]]
