"""Record what MXNet 1.9.1's own ONNX exporter makes of the thin networks: ``recorded/exporter.json``.

It takes several Pythons, so nothing imports it. Python 3.8 with what 1.9.1 names (``pip install numpy==1.23.5
mxnet==1.9.1 protobuf==3.20.3`` and onnx, once 1.7.0 and once 1.8.1) exports each network as its file has it and without
its loss, to a folder; refimpl's Python, with a current onnxruntime, writes the networks without losses before, and runs
the exported files afterwards:

    python tests/export/record_exporter.py FOLDER predictions
    mxnet-onnx-1.7/bin/python tests/export/record_exporter.py FOLDER export
    mxnet-onnx-1.8/bin/python tests/export/record_exporter.py FOLDER export
    python tests/export/record_exporter.py FOLDER compare
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
FOLDER = Path(sys.argv[1])
os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"  # fused layers round otherwise
sys.path[:0] = [str(HERE), str(HERE.parents[1])]
import networks  # noqa: E402

FORMS = ("file", "prediction")
VERSIONS = ("1.7", "1.8")
EVERY = [*networks.NETWORKS, *networks.FILES]
NEAR = 1e-5  # of the largest number: the networks are shallow


def write_predictions():
    """The networks without losses, as symbols that MXNet reads."""
    import refimpl as mx
    from refimpl.symbol.prediction import prediction

    networks.register_custom(mx)
    for name in EVERY:
        made = prediction(*networks.network(mx, name), networks.shapes_of(name))
        (FOLDER / f"{name}-prediction.json").write_text(made.symbol.tojson())


def export():
    """Export both forms of each network, and keep what MXNet computes."""
    import mxnet as mx
    import onnx

    version = onnx.__version__[:3]

    networks.register_custom(mx)
    refused = {}
    for name in EVERY:
        net, *held = networks.network(mx, name)
        given, shapes = networks.inputs(name), networks.shapes_of(name)
        params = {key: mx.nd.array(v, dtype=v.dtype) for values in held for key, v in values.items()}
        if name not in networks.REFUSED:
            found = dict(zip(net.list_arguments(), net.infer_shape(**shapes)[0]))  # noqa: B905  # Python 3.8
            arrays = {**{key: mx.nd.zeros(shape) for key, shape in found.items()}, **params}
            arrays.update({key: mx.nd.array(value) for key, value in given.items()})
            states = {key: params[key] for key in net.list_auxiliary_states()}
            bound = net.bind(mx.cpu(), {key: arrays[key] for key in found}, aux_states=states, grad_req="null")
            np.savez(str(FOLDER / f"{name}.npz"), *[value.asnumpy() for value in bound.forward()])
        for form in FORMS:
            shown = net if form == "file" else mx.sym.load(str(FOLDER / f"{name}-prediction.json"))
            order = [key for key in shown.list_arguments() if key in shapes]
            path, kinds = str(FOLDER / f"{name}-{form}-{version}.onnx"), [np.float32] * len(order)
            try:
                mx.onnx.export_model(shown, params, [shapes[key] for key in order], kinds, path)
            except Exception as error:  # noqa: BLE001  # whatever it raises is what its user sees
                refused.setdefault(name, {})[form] = f"refused: {type(error).__name__}: {error}".splitlines()[0]
    (FOLDER / f"refused-{version}.json").write_text(json.dumps(refused))


def compare():
    """Run what was exported, and write what became of each."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    rows = {}
    for version in VERSIONS:
        refused = json.loads((FOLDER / f"refused-{version}.json").read_text())
        for name in EVERY:
            for form in FORMS:
                key = f"{form}, onnx {version}"
                rows.setdefault(name, {})[key] = refused.get(name, {}).get(form) or run(name, f"{form}-{version}")
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(rows[name])}" for name in EVERY)
    (HERE / "recorded" / "exporter.json").write_text("{\n" + text + "\n}\n")


def run(name, form):
    """What a file computes."""
    import onnxruntime

    try:
        session = onnxruntime.InferenceSession(str(FOLDER / f"{name}-{form}.onnx"))
        given = networks.inputs(name)
        found = session.run(None, {each.name: given[each.name] for each in session.get_inputs()})
    except Exception as error:  # noqa: BLE001  # of onnxruntime's own types
        return f"invalid: {error}".splitlines()[0]
    wanted = list(np.load(FOLDER / f"{name}.npz").values())
    return told(found, wanted if len(found) == len(wanted) or name != "crnn" else wanted[1:])


def told(found, wanted):
    """``right``, or how it is wrong."""
    shapes, expected = [list(value.shape) for value in found], [list(value.shape) for value in wanted]
    if shapes != expected:
        return f"wrong: outputs of shapes {shapes}, not {expected}"
    off = max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(found, wanted))  # noqa: B905
    return "right" if off < NEAR else f"wrong: by {off:.2g} of the largest number"


if __name__ == "__main__":
    {"predictions": write_predictions, "export": export, "compare": compare}[sys.argv[2]]()
