"""One library behind a pipe: builds a workload and runs training steps on request.

Runs under the other library's Python, 3.8 or newer, so it is written plainly. Requests and answers are
JSON lines: {"build": "lenet"} and {"steps": 20}.
"""

import importlib
import json
import sys
import time
from pathlib import Path

START = time.time()
ROOT = Path(__file__).resolve().parent.parent.parent

# workload: rows per batch, shape of one image
SHAPES = {"mlp": (100, (1, 28, 28)), "lenet": (64, (1, 28, 28)), "resnet-20": (32, (3, 32, 32))}


def batch_of(workload):
    import numpy as np

    rows, image = SHAPES[workload]
    random = np.random.RandomState(0)
    data = random.uniform(-1, 1, (rows, *image)).astype(np.float32)
    return data, random.randint(0, 10, rows).astype(np.float32)


class ModuleBackend:
    """refimpl and MXNet: one text, two imports."""

    def __init__(self, library, devices):
        self.mx = importlib.import_module(library)
        sys.modules["refimpl"] = self.mx  # so that networks.py builds in whichever library this is
        self.devices = devices
        self.call = None  # what a tiny workload repeats: it measures how fast calls are handed over

    def build(self, workload):
        import importlib.util

        mx = self.mx
        if workload.startswith("tiny-"):
            a, b = mx.nd.ones((2,)), mx.nd.ones((2,))
            graph = 2 * mx.sym.Variable("a") + mx.sym.Variable("b")
            executor = graph.bind(mx.cpu(), {"a": a, "b": b})
            self.call = executor.forward if workload == "tiny-forward" else lambda: a + b
            return
        spec = importlib.util.spec_from_file_location("networks", ROOT / "refimpl" / "model" / "networks.py")
        networks = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(networks)
        data, label = batch_of(workload)
        net = networks.NETWORKS[workload](10, data.shape[1:])
        self.batch = mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array(label)])
        self.module = mx.mod.Module(net, context=[mx.cpu(i) for i in range(self.devices)])
        self.module.bind([("data", data.shape)], [("softmax_label", label.shape)])
        self.module.init_params(mx.init.Xavier())
        self.module.init_optimizer(
            optimizer="sgd", optimizer_params={"learning_rate": 0.05, "momentum": 0.9}
        )

    def steps(self, count):
        if self.call is not None:
            for _ in range(count):
                self.call()
            self.mx.nd.waitall()
            return
        for _ in range(count):
            self.module.forward_backward(self.batch)
            self.module.update()
        self.mx.nd.waitall()
        self.module.get_outputs()[0].asnumpy()


class TorchBackend:
    """The same networks in PyTorch, eager."""

    def __init__(self, library, devices):
        self.torch = importlib.import_module(library)
        self.torch.set_num_threads(devices)
        self.call = None

    def build(self, workload):
        torch = self.torch
        nn = torch.nn
        if workload.startswith("tiny-"):
            a, b = torch.ones(2), torch.ones(2)
            self.call = (lambda: 2 * a + b) if workload == "tiny-forward" else lambda: a + b
            return
        data, label = batch_of(workload)
        self.data = torch.from_numpy(data)
        self.label = torch.from_numpy(label).long()
        if workload == "mlp":
            self.net = nn.Sequential(
                nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(),
                nn.Linear(64, 10),
            )
        elif workload == "lenet":
            self.net = nn.Sequential(
                nn.Conv2d(1, 20, 5), nn.Tanh(), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.Tanh(),
                nn.MaxPool2d(2), nn.Flatten(), nn.Linear(800, 500), nn.Tanh(), nn.Linear(500, 10),
            )
        else:
            self.net = self.resnet()
        self.loss = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)

    def resnet(self):
        nn = self.torch.nn
        relu = self.torch.relu

        class Unit(nn.Module):
            def __init__(self, before, filters, stride, widens):
                super().__init__()
                self.bn1 = nn.BatchNorm2d(before)
                self.conv1 = nn.Conv2d(before, filters, 3, stride, 1, bias=False)
                self.bn2 = nn.BatchNorm2d(filters)
                self.conv2 = nn.Conv2d(filters, filters, 3, 1, 1, bias=False)
                self.shortcut = nn.Conv2d(before, filters, 1, stride, bias=False) if widens else None

            def forward(self, data):
                first = relu(self.bn1(data))
                rest = data if self.shortcut is None else self.shortcut(first)
                return self.conv2(relu(self.bn2(self.conv1(first)))) + rest

        layers = [nn.BatchNorm2d(3), nn.Conv2d(3, 16, 3, 1, 1, bias=False)]
        before = 16
        for stage, filters in enumerate((16, 32, 64)):
            for unit in range(3):
                stride = 2 if unit == 0 and stage > 0 else 1
                layers.append(Unit(before, filters, stride, unit == 0))
                before = filters
        layers += [nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
        return nn.Sequential(*layers, nn.Linear(64, 10))

    def steps(self, count):
        for _ in range(count if self.call is not None else 0):
            self.call()
        for _ in range(count if self.call is None else 0):
            self.optimizer.zero_grad()
            self.loss(self.net(self.data), self.label).backward()
            self.optimizer.step()


def main():
    library, devices = sys.argv[1], int(sys.argv[2])
    answers = sys.stdout
    sys.stdout = sys.stderr  # a library that prints must not disturb the answers
    sys.path.insert(0, str(ROOT))
    started = time.time()
    backend = (TorchBackend if library == "torch" else ModuleBackend)(library, devices)
    imported = time.time() - started
    for line in sys.stdin:
        request = json.loads(line)
        started = time.perf_counter()
        if "build" in request:
            backend.build(request["build"])
        else:
            backend.steps(request["steps"])
        answer = {
            "seconds": time.perf_counter() - started, "import": imported,
            "since_start": time.time() - START,
        }
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
