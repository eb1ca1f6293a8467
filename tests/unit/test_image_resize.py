"""_image_resize against results recorded from MXNet 1.9.1."""

import pytest

import refimpl as mx

PICTURE = [[[172, 47, 117], [192, 67, 251]], [[195, 103, 9], [211, 21, 242]]]


# MXNet 1.9.1: nd.image.resize(nd.array(PICTURE, dtype="uint8"), ...).asnumpy().tolist()
@pytest.mark.clause("_image_resize/value", "_image_resize/size")
@pytest.mark.parametrize(("params", "values"), [
    ({"size": 3}, [
        [[172, 47, 117], [182, 57, 184], [192, 67, 251]], [[184, 75, 63], [193, 60, 155], [202, 44, 247]],
        [[195, 103, 9], [203, 62, 125], [211, 21, 242]],
    ]),
    ({"size": (3, 1)}, [[[184, 75, 63], [193, 60, 155], [202, 44, 247]]]),
    ({"size": (3, 2), "interp": 0},
     [[[172, 47, 117], [172, 47, 117], [192, 67, 251]], [[195, 103, 9], [195, 103, 9], [211, 21, 242]]]),
    ({"size": (3, 2), "interp": 2},
     [[[170, 45, 105], [182, 57, 184], [194, 69, 255]], [[194, 110, 0], [203, 62, 126], [212, 14, 255]]]),
    ({"size": (3, 2), "interp": 3},
     [[[172, 47, 117], [182, 57, 184], [192, 67, 251]], [[195, 103, 9], [203, 62, 126], [211, 21, 242]]]),
    ({"size": (3, 2), "interp": 4},
     [[[170, 45, 105], [182, 57, 184], [194, 69, 255]], [[194, 110, 0], [203, 62, 125], [213, 14, 255]]]),
])
def test_values(params, values):
    assert mx.nd.image.resize(mx.nd.array(PICTURE, dtype="uint8"), **params).asnumpy().tolist() == values


# MXNet 1.9.1: the same of nd.array([PICTURE, PICTURE[::-1]])
@pytest.mark.clause("_image_resize/value")
def test_batch():
    batch = mx.nd.array([PICTURE, PICTURE[::-1]])
    row = [[[183.5, 75.0, 63.0], [192.5, 59.5, 154.75], [201.5, 44.0, 246.5]]]
    assert mx.nd.image.resize(batch, size=(3, 1)).asnumpy().tolist() == [row, row]
    halves = mx.nd.image.resize(batch, size=(2, 1), interp=0)
    assert halves.asnumpy().tolist() == [PICTURE[:1], PICTURE[1:]]


# MXNet 1.9.1: sym.image.resize(sym.var("data"), ...).infer_shape(data=shape)[1]
@pytest.mark.clause("_image_resize/size")
@pytest.mark.parametrize(("shape", "params", "wanted"), [
    ((3, 5, 3), {"size": 4, "keep_ratio": True}, (4, 6, 3)),
    ((5, 3, 3), {"size": (4,), "keep_ratio": True}, (6, 4, 3)),
    ((2, 5, 3, 3), {"size": 4, "keep_ratio": True}, (2, 6, 4, 3)),
    ((5, 3, 3), {"size": (4, 2), "keep_ratio": True}, (2, 4, 3)),
    ((2, 5, 3, 3), {"size": 4}, (2, 4, 4, 3)),
])
def test_sides(shape, params, wanted):
    net = mx.sym.image.resize(mx.sym.Variable("data"), **params)
    assert net.infer_shape(data=shape)[1] == [wanted]


@pytest.mark.clause("_image_resize/size")
@pytest.mark.parametrize("params", [{}, {"size": 0}, {"size": (-1, 2)}, {"size": (1, 2, 3)}])
def test_refused_sizes(params):
    with pytest.raises(mx.MXNetError, match="size is") as caught:
        mx.nd.image.resize(mx.nd.zeros((2, 2, 3)), **params)
    assert caught.value.clause == "_image_resize/size"


@pytest.mark.clause("_image_resize/gradient")
def test_no_gradient():
    with pytest.raises(mx.MXNetError) as caught:
        mx.kernels.grad("_image_resize", [[[1]]], size=2)
    assert caught.value.clause == "harness/gradient"
