"""_image_random_brightness, _image_random_contrast and _image_random_saturation with MXNet 1.9.1's draws."""

import pytest

import refimpl as mx

PICTURE = [[[172, 47, 117], [192, 67, 251]], [[195, 103, 9], [211, 21, 242]]]


# MXNet 1.9.1: mx.random.seed(7), then twice NAME(nd.array(PICTURE, dtype="uint8"), min_factor=.5, max_factor=1.5)
@pytest.mark.clause("image-random/factor")
@pytest.mark.parametrize(("name", "first", "second"), [
    ("random_brightness", [[[159, 43, 108], [178, 62, 233]], [[181, 95, 8], [195, 19, 224]]],
     [[[243, 66, 165], [255, 94, 255]], [[255, 146, 12], [255, 29, 255]]]),
    ("random_contrast", [[[167, 51, 116], [186, 70, 240]], [[188, 103, 16], [203, 27, 232]]],
     [[[197, 20, 119], [226, 48, 255]], [[230, 100, 0], [253, 0, 255]]]),
])
def test_two_draws(name, first, second):
    picture = mx.nd.array(PICTURE, dtype="uint8")
    mx.random.seed(7)
    for values in (first, second):
        result = getattr(mx.nd.image, name)(picture, min_factor=0.5, max_factor=1.5)
        assert result.asnumpy().tolist() == values


# 2 * (100, 0, 0) - 29.9, by hand
@pytest.mark.clause("_image_random_saturation/value")
def test_saturation():
    result = mx.nd.image.random_saturation(mx.nd.array([[[100, 0, 0]]]), min_factor=2, max_factor=2)
    assert result.asnumpy().ravel().tolist() == pytest.approx([170.1, -29.9, -29.9], rel=1e-6)
