"""What MXNet 1.9.1's SVRGModule computes, recorded: the profile gives the same bits, and so does each quirk alone.

Recorded by the functions of svrg_nets.py and of this file, with ``mxnet`` in the place of ``refimpl``.
"""

from __future__ import annotations

from typing import Any

import pytest

import refimpl as mx
from refimpl.contrib.svrg_optimization.svrg_module import SVRGModule

from .svrg_nets import fresh, iterator, means, network, ready, run, steps, weights

MOMENTUM = {"learning_rate": 1 / 32, "momentum": 0.5, "wd": 0.125}
STORE = [
    [0.9019775390625, 0.731689453125, 0.08544921875],
    [0.4962274134159088, 0.30719566345214844, 0.0777423083782196],
    [0.16883167624473572, -0.06126512587070465, 0.12578441202640533],
]
RECORDED: dict[str, tuple[dict[str, Any], list]] = {
    "one context": ({}, [
        [0.7108154296875, 0.676025390625, -0.01025390625],
        [0.3754079043865204, 0.27086836099624634, 0.014397531747817993],
        [0.1279589831829071, -0.07536435127258301, 0.09944547712802887],
    ]),
    "padding": ({"size": 5}, [
        [0.660351574420929, 0.6363281011581421, -0.048828125],
        [0.24969811737537384, 0.16308030486106873, -0.05776233598589897],
        [-0.04080474376678467, -0.22829467058181763, 0.03752005845308304],
    ]),
    "more padding than rows": ({"size": 16}, [
        [0.6875, 0.640625, -0.015625],
        [-0.134521484375, -0.33740234375, -0.01513671875],
        [-1.6753501892089844, -2.2825546264648438, 0.13798904418945312],
    ]),
    "local": ({"contexts": 2}, STORE),
    "device": ({"contexts": 2, "kvstore": "device"}, STORE),
    "three contexts": ({"contexts": 3}, [
        *STORE[:2], [0.1688317507505417, -0.06126509606838226, 0.12578441202640533],
    ]),
    "no store": ({"contexts": 2, "kvstore": None}, [
        [0.85137939453125, 0.8333740234375, -0.00665283203125],
        [0.6627936363220215, 0.6113886833190918, -0.007489718496799469],
        [0.4929121732711792, 0.39494287967681885, 0.006643082946538925],
    ]),
    "a full name": ({"name": None}, [
        [96.5, 143.5, 20.5], [12512.25, 15977.25, 4986.5], [1622835.0, 1904474.75, 685835.125],
    ]),
    "a full name on a store": ({"name": None, "contexts": 2}, [
        [-16.5, 51.5, -35.5], [-881.25, 2857.75, -1070.0], [-18868.75, 175348.0, -37416.875],
    ]),
    "momentum": ({"parameters": MOMENTUM}, [
        [0.8013458251953125, 0.775238037109375, -0.00836181640625],
        [0.4713357388973236, 0.39080676436424255, -0.005203519016504288],
        [0.15421026945114136, -0.007601946592330933, 0.04033515602350235],
    ]),
    "every second epoch": ({"frequency": 2}, [
        [0.7108154296875, 0.676025390625, -0.01025390625],
        [0.5195412635803223, 0.4353347718715668, 0.01845794916152954],
        [0.24621179699897766, 0.08875896036624908, 0.06613682210445404],
    ]),
}


def trained(size: int = 4, name: str | None = "fc", **settings: Any) -> list[list[float]]:
    data = iterator(size=size)
    return run(ready(data, symbol=network(name), **settings), data, 3)


@pytest.mark.parametrize("case", RECORDED)
def test_the_profile_gives_what_mxnet_gives(case: str) -> None:
    settings, expected = RECORDED[case]
    with mx.quirks("mxnet-1.9.1"):
        assert trained(**settings) == expected
    assert trained(**settings) != expected


# here the last bit may differ: MXNet divides before it adds up, and its kernel of Adam works in another order
ROUNDED: list[tuple[dict[str, Any], list]] = [
    ({"contexts": 2, "size": 5}, [
        [0.8022265434265137, 0.6916406154632568, 0.03398437425494194],
        [0.32591375708580017, 0.19559939205646515, -0.009212383069097996],
        [-0.04152664542198181, -0.22326628863811493, 0.045530203729867935],
    ]),
    ({"contexts": 2, "optimizer": "adam", "parameters": {"learning_rate": 0.1}}, [
        [1.0543005466461182, 0.8016935586929321, 0.1536438912153244],
        [0.8991140127182007, 0.6057907342910767, 0.19244170188903809],
        [0.7187014818191528, 0.405984491109848, 0.18445275723934174],
    ]),
]


@pytest.mark.parametrize(("settings", "expected"), ROUNDED, ids=["padding", "adam"])
def test_the_profile_gives_nearly_what_mxnet_gives(settings: dict[str, Any], expected: list) -> None:
    with mx.quirks("mxnet-1.9.1"):
        for mine, theirs in zip(trained(**settings), expected, strict=True):
            assert mine == pytest.approx(theirs, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(("contexts", "frequency", "expected"), [
    (1, 1, [0.1279589831829071, -0.07536435127258301, 0.09944547712802887]),
    (2, 2, [0.3230009078979492, 0.11223649978637695, 0.10922334343194962]),
])
def test_the_profile_in_fit(contexts: int, frequency: int, expected: list[float]) -> None:
    data, module = iterator(), fresh(contexts=contexts, frequency=frequency)
    with mx.quirks("mxnet-1.9.1"):
        module.fit(
            data, num_epoch=3, eval_metric="mse", initializer=mx.init.One(),
            optimizer_params={"learning_rate": 1 / 16},
        )
        assert weights(module) == expected


# --- one by one -----------------------------------------------------------------------------------


@pytest.mark.clause("SVRG/full-gradient")
def test_no_reset() -> None:
    with mx.quirks("svrg-no-reset"):
        assert trained() == RECORDED["one context"][1]
        data = iterator()
        module = ready(data)
        module.update_full_grads(data)
        module.init_optimizer()
        for expected in ([10.0, 11.5], [15.0, 17.25]):
            module.update_full_grads(data)
            assert means(module)[0]["fc_weight"] == expected


@pytest.mark.clause("SVRG/full-gradient")
def test_padding() -> None:
    with mx.quirks("svrg-padding"):
        assert trained(size=5)[0] == RECORDED["padding"][1][0]
        with mx.quirks("svrg-no-reset"):
            assert trained(size=5) == RECORDED["padding"][1]


@pytest.mark.clause("SVRG/init-optimizer")
def test_zeroed_weights() -> None:
    def before_training(**settings):
        data = iterator()
        module = ready(data, **settings)
        module.forward(data.next(), is_train=False)
        return module.get_outputs()[0].asnumpy().ravel().tolist(), weights(module)

    with mx.quirks("svrg-zeroed-weights"):
        assert before_training(contexts=2) == ([0, 0, 0, 0], [1, 1, 0])
        assert before_training() == ([3, 1, 0, 3], [1, 1, 0])
        assert trained(contexts=2)[0] == RECORDED["local"][1][0]
    assert before_training(contexts=2) == ([3, 1, 0, 3], [1, 1, 0])


@pytest.mark.clause("SVRG/mean-once")
def test_a_mean_per_device() -> None:
    data = iterator()
    with mx.quirks("svrg-mean-per-device"):
        module = ready(data, 2)
        module.update_full_grads(data)
        assert means(module) == [{"fc_weight": [5.0, 5.75], "fc_bias": [0.25]}] * 2


@pytest.mark.clause("SVRG/accumulator-names")
def test_full_names() -> None:
    assert trained(name=None) == trained()
    with mx.quirks("svrg-full-names", "svrg-no-reset"):
        assert trained(name=None) == RECORDED["a full name"][1]


@pytest.mark.clause("SVRG/no-store")
def test_a_shared_snapshot() -> None:
    with mx.quirks("svrg-shared-snapshot", "svrg-no-reset"):
        assert trained(contexts=2, kvstore=None) == RECORDED["no store"][1]


@pytest.mark.clause("SVRG/corrected-once")
def test_update_corrects_again() -> None:
    def twice() -> list:
        data = iterator()
        module = ready(data)
        module.update_full_grads(data)
        steps(module, data)
        module.update()
        return weights(module)

    # by hand: the last step of the epoch, taken again
    before, after = [0.84375, 0.8203125, -0.0078125], [0.7108154296875, 0.676025390625, -0.01025390625]
    assert twice() == [2 * b - a for a, b in zip(before, after, strict=True)]
    with mx.quirks("svrg-update-corrects"):
        assert twice() == [0.546630859375, 0.69580078125, -0.0517578125]


@pytest.mark.clause("SVRG/snapshot-follows")
def test_a_stale_snapshot() -> None:
    def without_saying_so() -> list:
        data, seen = iterator(), []
        module = ready(data)
        module.update_full_grads(data)
        data.reset()
        for batch in data:
            module.forward(batch)
            module.backward()
            module.update()
            seen.append(weights(module))
        return seen

    with mx.quirks("svrg-stale-snapshot"):
        assert without_saying_so() == [
            [0.78125, 1.1484375, -0.0859375], [0.6412353515625, 0.955810546875, -0.08154296875],
        ]
    assert without_saying_so()[-1] == trained()[0]


@pytest.mark.clause("SVRG/add")
def test_the_snapshot_adds_up() -> None:
    def added() -> list:
        data = iterator()
        module = ready(data, bind={"grad_req": "add"})
        module.update_full_grads(data)
        found = [means(module)[0]["fc_weight"]]
        data.reset()
        for batch in data:
            module.forward_backward(batch)
        module.update()
        return [*found, weights(module)]

    with mx.quirks("svrg-add-accumulates", "svrg-update-corrects"):
        assert added() == [[16.0, 12.0], [1.0625, 1.171875, -0.015625]]
    # nothing moved between the two batches: twice the mean
    assert added() == [[10.0, 11.5], [1 - 2 * 10 / 64, 1 - 2 * 11.5 / 64, -2 * 0.5 / 64]]


@pytest.mark.clause("SVRG/load")
def test_load_gives_a_module(tmp_path) -> None:
    data = iterator()
    ready(data).save_checkpoint(str(tmp_path / "net"), 1)
    with mx.quirks("svrg-load-module"):
        assert type(SVRGModule.load(str(tmp_path / "net"), 1, label_names=["target"])) is mx.mod.Module
        with pytest.raises(TypeError, match="update_freq"):
            SVRGModule.load(str(tmp_path / "net"), 1, label_names=["target"], update_freq=1)
