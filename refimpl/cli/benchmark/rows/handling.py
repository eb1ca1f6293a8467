"""Work around the operators: handing over calls, binding, updating, storing, buckets, memory."""

import os
import sys

import numpy as np

from .graphs import GRAPHS, chain
from .networks import images, module_of, pictures, resnet50
from .work import Case, Work, row

try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None  # type: ignore[assignment]

# --- calls on arrays too small to take time themselves


def tiny_bound():
    """``2 * a + b`` on two numbers, bound; in PyTorch two calls."""
    def mx(mx):
        graph = 2 * mx.sym.Variable("a") + mx.sym.Variable("b")
        return Work(graph.bind(mx.cpu(), {"a": mx.nd.ones((2,)), "b": mx.nd.ones((2,))}).forward)

    def torch(torch):
        a, b = torch.ones(2), torch.ones(2)
        return Work(lambda: 2 * a + b)

    return Case(mx, torch)


def tiny_called():
    """``a + b`` on two numbers."""
    def add(a, b):
        return Work(lambda: a + b)

    return Case(
        lambda mx: add(mx.nd.ones((2,)), mx.nd.ones((2,))), lambda torch: add(torch.ones(2), torch.ones(2))
    )


def recorded(length):
    """A chain of operators that is recorded and differentiated."""
    def mx(mx):
        x = mx.nd.ones((2,))
        x.attach_grad()

        def step():
            with mx.autograd.record():
                y = x
                for _ in range(length // 2):
                    y = (y + x) * x
            y.backward()

        return Work(step, items=length)

    def torch(torch):
        x, ones = torch.ones(2, requires_grad=True), torch.ones(2)

        def step():
            y = x
            for _ in range(length // 2):
                y = (y + x) * x
            y.backward(ones)

        return Work(step, items=length)

    return Case(mx, torch)


def sparse_sum(rows, columns):
    """csr + csr, four numbers in each row."""
    def mx(mx):
        def matrix(seed):
            quarter = columns // 4
            places = np.random.RandomState(seed).randint(0, quarter, (rows, 4)) + np.arange(4) * quarter
            data = (np.ones(4 * rows, np.float32), places.ravel(), np.arange(0, 4 * rows + 1, 4))
            return mx.nd.sparse.csr_matrix(data, shape=(rows, columns))

        left, right = matrix(0), matrix(1)
        return Work(lambda: left + right)

    return Case(mx, None)


# --- graphs


def bound(graph, nodes):
    """``simple_bind`` with gradients, per node."""
    def mx(mx):
        net, shapes = GRAPHS[graph](mx, nodes)
        count = len(net.get_internals().list_outputs())
        return Work(lambda: net.simple_bind(mx.cpu(), **shapes), items=count)

    return Case(mx, None)


def bound_resnet(size):
    """``simple_bind`` of ResNet-50."""
    def mx(mx):
        net = resnet50(mx, 1)
        return Work(lambda: net.simple_bind(mx.cpu(), data=(1, 3, size, size), softmax_label=(1,)))

    return Case(mx, None)


def chain_step(nodes):
    """Forward and backward of a bound chain, per node."""
    def mx(mx):
        net, shapes = chain(mx, nodes)
        executor = mx.sym.make_loss(net).simple_bind(mx.cpu(), **shapes)

        def step():
            executor.forward(is_train=True)
            executor.backward()

        return Work(step, items=nodes)

    return Case(mx, None)


def text_of_graph(what, nodes):
    """Composing, ``tojson`` and ``load_json``, per node."""
    def mx(mx):
        net, _ = chain(mx, nodes)
        text = net.tojson()
        step = {"compose": lambda: chain(mx, nodes), "tojson": net.tojson, "load_json": lambda: mx.sym.load_json(text)}
        return Work(step[what], items=nodes)

    return Case(mx, None)


# --- parameters, keys, buckets


def update(optimizer, parameters):
    """``Module.update``, per parameter of eight numbers; in PyTorch the optimizer's step."""
    def mx(mx):
        net = mx.sym.Variable("data")
        for number in range(parameters):
            net = mx.sym.broadcast_add(net, mx.sym.Variable(f"w{number}_weight", shape=(1, 8)))
        loss = mx.sym.make_loss(net, name="loss")
        module = mx.mod.Module(loss, label_names=None, context=mx.cpu())
        module.bind([("data", (2, 8))])
        module.init_params(mx.init.One())
        rates = {"learning_rate": 0.01, "momentum": 0.9} if optimizer == "sgd" else {}
        module.init_optimizer(optimizer=optimizer, optimizer_params=rates)
        module.forward_backward(mx.io.DataBatch([mx.nd.ones((2, 8))], []))
        for _ in range(2):  # states are made by the first update, what repeats it by the second
            module.update()
        return Work(module.update, items=parameters)

    def torch(torch):
        weights = [torch.nn.Parameter(torch.ones(1, 8)) for _ in range(parameters)]
        for weight in weights:
            weight.grad = torch.ones(1, 8)
        made = {
            "sgd": lambda: torch.optim.SGD(weights, lr=0.01, momentum=0.9), "adam": lambda: torch.optim.Adam(weights),
        }
        return Work(made[optimizer]().step, items=parameters)

    return Case(mx, torch)


def store(keys):
    """Push and pull of a local store, two values for each key, per key."""
    def mx(mx):
        made = mx.kv.create("local")
        values = [[mx.nd.ones((8,)), mx.nd.ones((8,))] for _ in range(keys)]
        names = [str(number) for number in range(keys)]
        made.init(names, [pair[0] for pair in values])

        def step():
            made.push(names, values)
            made.pull(names, out=values)

        return Work(step, items=keys)

    return Case(mx, None)


def buckets(count, first):
    """One pass over all buckets of an LSTM: with binding them, or later."""
    def mx(mx):
        def network(length):
            cell = mx.rnn.LSTMCell(16, prefix="l_")
            words = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=50, output_dim=16, name="embed")
            made, _ = cell.unroll(length, inputs=words, merge_outputs=True)
            made = mx.sym.FullyConnected(mx.sym.Reshape(made, shape=(-1, 16)), num_hidden=50, name="pred")
            label = mx.sym.Reshape(mx.sym.Variable("softmax_label"), shape=(-1,))
            return mx.sym.SoftmaxOutput(made, label, name="softmax"), ("data",), ("softmax_label",)

        def batch(length):
            return mx.io.DataBatch(
                [mx.nd.ones((4, length))], [mx.nd.ones((4, length))], bucket_key=length,
                provide_data=[("data", (4, length))], provide_label=[("softmax_label", (4, length))],
            )

        batches = [batch(5 + number) for number in range(count)]

        def fresh():
            module = mx.mod.BucketingModule(network, default_bucket_key=5 + count, context=mx.cpu())
            module.bind([("data", (4, 5 + count))], [("softmax_label", (4, 5 + count))])
            module.init_params()
            module.init_optimizer()
            return module

        kept = fresh()

        def step():
            module = fresh() if first else kept
            for each in batches:
                module.forward_backward(each)
                module.update()

        return Work(step)

    return Case(mx, None)


# --- memory


def planned(version, request, plan, batch, size):
    """Megabytes that ``debug_str`` reports for ResNet-50."""
    def mx(mx):
        os.environ["REFIMPL_MEMORY_PLAN"] = plan
        executor = resnet50(mx, version).simple_bind(
            mx.cpu(), grad_req=request, data=(batch, 3, size, size), softmax_label=(batch,)
        )
        found = int(executor.debug_str().split("Total ")[1].split(" MB")[0])
        return Work(None, value=lambda: found)

    return Case(mx, None)


def resident():
    """The most memory that this process ever had in use, in megabytes; 0 where the system does not say."""
    if resource is None:
        return 0
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit


def trained(plan, batch, size):
    """Megabytes that the process of ResNet-50's training gained in three steps, code and parameters included."""
    def measured(make):
        before = resident()
        step, wait = make()
        for _ in range(3):
            step()
        wait()
        found = resident() - before
        return Work(None, value=lambda: found)

    def mx(mx):
        def make():
            os.environ["REFIMPL_MEMORY_PLAN"] = plan
            module, data = module_of(mx, resnet50(mx, 1), *images(batch, (3, size, size), 1000))

            def step():
                module.forward_backward(data)
                module.update()

            return step, mx.nd.waitall

        return measured(make)

    def torch(torch):
        return measured(lambda: (
            pictures("resnet-50", batch, (3, size, size), 1000, 1).torch(torch).step, lambda: None
        ))

    return Case(mx, torch)


ROWS = [
    row("calls", "2 * a + b, bound", tiny_bound), row("calls", "a + b, called", tiny_called),
    row("calls", "recorded and differentiated, per operator", recorded, length=100),
    row("calls", "csr + csr", sparse_sum, rows=64, columns=1000),
    *[
        row("bind", f"{graph} of {nodes} nodes, per node", bound, graph=graph, nodes=nodes)
        for graph in GRAPHS for nodes in (100, 1000, 5000)
    ],
    row("bind", "ResNet-50", bound_resnet, size=32),
    *[
        row("bind", f"{what}, chain of {nodes} nodes, per node", text_of_graph, what=what, nodes=nodes)
        for what in ("compose", "tojson", "load_json") for nodes in (100, 1000, 5000)
    ],
    *[
        row("bind", f"step of a chain of {nodes} nodes, per node", chain_step, nodes=nodes)
        for nodes in (100, 1000, 5000)
    ],
    *[
        row("update", f"{optimizer}, {count} parameters, per parameter", update, optimizer=optimizer, parameters=count)
        for optimizer in ("sgd", "adam") for count in (10, 100, 1000, 3000)
    ],
    *[row("store", f"push and pull of {count} keys, per key", store, keys=count) for count in (10, 300, 3000)],
    *[
        row("buckets", f"{'first' if first else 'later'} pass over {count} buckets", buckets, count=count, first=first)
        for count in (5, 20) for first in (True, False)
    ],
    *[
        row(
            "memory", f"ResNet-50 v{version} b32, {'training' if request == 'write' else 'inference'}, plan {plan}",
            planned, version=version, request=request, plan=plan, batch=32, size=224,
        )
        for version in (1, 2) for request in ("write", "null") for plan in ("keep", "once")
    ],
    *[
        row("memory", f"ResNet-50 v1 b8, peak of training, plan {plan}", trained, plan=plan, batch=8, size=224)
        for plan in ("keep", "once")
    ],
]
