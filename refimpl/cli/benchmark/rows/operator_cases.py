"""One operator at a time, forward and both ways, on the shapes that networks have.

A family maps a row's numbers to the operator's inputs, its call on symbols, and PyTorch's function. ``both`` is whether
the gradients of all inputs are computed too.
"""

import numpy as np

from .work import FLOAT, Below, Case, Uniform, Work


def operator(inputs, symbol, function, both, flops=0, training=False, tensors=None):
    """The case of an operator.

    ``inputs`` are the numbers by name; ``symbol(sym, ...)`` composes it on variables of these names;
    ``function(torch)`` is called with tensors, made of ``tensors`` where PyTorch's inputs differ. Forward runs in
    training mode with ``training``. The least traffic is each input and output once, and each of their gradients.
    """
    def mx(mx):
        random = np.random.RandomState(0)
        net = symbol(mx.sym, **{name: mx.sym.Variable(name) for name in inputs})
        arrays = {name: mx.nd.array(each.draw(random)) for name, each in inputs.items()}
        _, outputs, states = net.infer_shape(**{name: array.shape for name, array in arrays.items()})
        requests = {name: "null" if each.constant or not both else "write" for name, each in inputs.items()}
        gradients = {name: mx.nd.zeros(arrays[name].shape) for name in inputs if requests[name] == "write"}
        states = {name: mx.nd.ones(shape) for name, shape in zip(net.list_auxiliary_states(), states)}
        executor = net.bind(
            mx.current_context(), arrays, args_grad=gradients or None, grad_req=requests, aux_states=states
        )
        heads = [mx.nd.ones(shape) for shape in outputs]

        def step():
            executor.forward(is_train=both or training)
            if both:
                executor.backward(heads)

        moved = sum(array.size for array in [*arrays.values(), *heads])
        if both:
            moved += sum(array.size for array in [*gradients.values(), *heads])
        return Work(step, flops * (3 if both else 1), moved * FLOAT)

    def torch(torch):
        random = np.random.RandomState(0)
        given = [each.tensor(torch, random) for each in (tensors or inputs).values()]
        call = function(torch)
        made = call(*given)
        several = isinstance(made, (tuple, list))
        heads = [torch.ones_like(each) for each in (made if several else [made])]
        trained = [tensor for tensor in given if tensor.requires_grad]

        def step():
            if both:
                made = call(*given)
                torch.autograd.grad(made if several else [made], trained, heads)
            else:
                with torch.no_grad():
                    call(*given)

        return Work(step)

    return Case(mx, torch)


def convolution(n, c, h, f, k, both, s=1, p=None, g=1, d=1):
    """``n`` images of ``c`` channels and ``h`` x ``h`` pixels, ``f`` filters of ``k`` x ``k`` in ``g`` groups."""
    p = (k - 1) * d // 2 if p is None else p
    size = (h + 2 * p - d * (k - 1) - 1) // s + 1
    return operator(
        {"x": Uniform(n, c, h, h), "w": Uniform(f, c // g, k, k)},
        lambda sym, x, w: sym.Convolution(
            x, w, num_filter=f, kernel=(k, k), stride=(s, s), pad=(p, p), num_group=g, dilate=(d, d), no_bias=True
        ),
        lambda torch: lambda x, w: torch.nn.functional.conv2d(x, w, None, s, p, d, g),
        both, 2 * n * f * size * size * c // g * k * k,
    )


def deconvolution(n, c, h, f, k, s, p, both):
    """A convolution's gradient by its data, as a layer."""
    return operator(
        {"x": Uniform(n, c, h, h), "w": Uniform(c, f, k, k)},
        lambda sym, x, w: sym.Deconvolution(
            x, w, num_filter=f, kernel=(k, k), stride=(s, s), pad=(p, p), no_bias=True
        ),
        lambda torch: lambda x, w: torch.nn.functional.conv_transpose2d(x, w, None, s, p),
        both, 2 * n * c * h * h * f * k * k,
    )


def fully_connected(m, k, n, both):
    """A product with a transposed weight."""
    return operator(
        {"x": Uniform(m, k), "w": Uniform(n, k)},
        lambda sym, x, w: sym.FullyConnected(x, w, num_hidden=n, no_bias=True),
        lambda torch: torch.nn.functional.linear, both, 2 * m * k * n,
    )


def dot(n, left, right, both):
    """A product of square matrices, transposed or not."""
    return operator(
        {"x": Uniform(n, n), "y": Uniform(n, n)},
        lambda sym, x, y: sym.dot(x, y, transpose_a=left, transpose_b=right),
        lambda torch: lambda x, y: (x.T if left else x) @ (y.T if right else y), both, 2 * n ** 3,
    )


def batch_dot(b, n, both):
    """Many small products."""
    return operator(
        {"x": Uniform(b, n, n), "y": Uniform(b, n, n)}, lambda sym, x, y: sym.batch_dot(x, y),
        lambda torch: torch.bmm, both, 2 * b * n ** 3,
    )


def pooling(n, c, h, kind, both, k=1, s=1, p=0):
    """Pooling of ``kind``; of whole images where ``kind`` is global."""
    whole = kind == "global"

    def function(torch):
        call = torch.nn.functional
        if whole:
            return lambda x: call.adaptive_avg_pool2d(x, 1)
        return lambda x: (call.max_pool2d if kind == "max" else call.avg_pool2d)(x, k, s, p)

    return operator(
        {"x": Uniform(n, c, h, h)},
        lambda sym, x: sym.Pooling(
            x, kernel=(k, k), stride=(s, s), pad=(p, p), pool_type="avg" if whole else kind, global_pool=whole
        ),
        function, both,
    )


def batch_norm(n, c, h, both):
    """With the batch's own mean and variance."""
    def function(torch):
        mean, variance = torch.zeros(c), torch.ones(c)
        return lambda x, gamma, beta: torch.nn.functional.batch_norm(x, mean, variance, gamma, beta, True)

    return operator(
        {"x": Uniform(n, c, h, h), "gamma": Uniform(c), "beta": Uniform(c)},
        lambda sym, x, gamma, beta: sym.BatchNorm(x, gamma, beta, fix_gamma=False, name="bn"),
        function, both, training=True,
    )


def layer_norm(n, c, both):
    """Over the last axis."""
    return operator(
        {"x": Uniform(n, c), "gamma": Uniform(c), "beta": Uniform(c)},
        lambda sym, x, gamma, beta: sym.LayerNorm(x, gamma, beta),
        lambda torch: lambda x, gamma, beta: torch.nn.functional.layer_norm(x, (c,), gamma, beta), both,
    )


def unary(shape, symbol, function, both, training=False):
    """An operator of one input of positive numbers."""
    return operator({"x": Uniform(*shape, low=0.1)}, symbol, function, both, training=training)


def plain(name, shape, both):
    """An operator of one input that has one name in all libraries."""
    return unary(shape, lambda sym, x: getattr(sym, name)(x), lambda torch: getattr(torch, name), both)


def activation(name, shape, both):
    """An activation."""
    return unary(shape, lambda sym, x: sym.Activation(x, act_type=name), lambda torch: getattr(torch, name), both)


def softmax(name, shape, both):
    """Over the last axis."""
    return unary(
        shape, lambda sym, x: getattr(sym, name)(x), lambda torch: lambda x: getattr(torch, name)(x, -1), both
    )


def binary(symbol, function, left, right, both):
    """An operator of two inputs, of one shape or not."""
    return operator(
        {"x": Uniform(*left), "y": Uniform(*right)}, lambda sym, x, y: getattr(sym, symbol)(x, y),
        lambda torch: getattr(torch, function), both,
    )


def reduction(name, axis, shape, both):
    """Over some axes; over all where there are none."""
    function = {"sum": "sum", "max": "amax"}[name]
    return unary(
        shape, lambda sym, x: getattr(sym, name)(x, axis=axis),
        lambda torch: lambda x: getattr(torch, function)(x, axis or tuple(range(x.dim()))), both,
    )


def transpose(axes, shape, both):
    """A copy with the axes in another order."""
    return unary(
        shape, lambda sym, x: sym.transpose(x, axes=axes), lambda torch: lambda x: x.permute(*axes).contiguous(), both
    )


def concatenation(shape, both):
    """Four inputs along axis 1."""
    return operator(
        {f"x{number}": Uniform(*shape) for number in range(4)},
        lambda sym, **parts: sym.Concat(*parts.values(), dim=1), lambda torch: lambda *x: torch.cat(x, 1), both,
    )


def slice_channel(n, c, both):
    """Four outputs along axis 1."""
    return operator(
        {"x": Uniform(n, c)}, lambda sym, x: sym.Group(list(sym.SliceChannel(x, num_outputs=4))),
        lambda torch: lambda x: [
            part.clone(memory_format=torch.contiguous_format) for part in x.split(c // 4, 1)
        ],
        both,
    )


def embedding(rows, words, width, both):
    """Rows of a table."""
    return operator(
        {"x": Below(words, rows), "w": Uniform(words, width)},
        lambda sym, x, w: sym.Embedding(x, w, input_dim=words, output_dim=width),
        lambda torch: torch.nn.functional.embedding, both,
    )


def take(rows, words, width, both):
    """Rows of an array."""
    return operator(
        {"x": Below(words, rows), "y": Uniform(words, width)}, lambda sym, x, y: sym.take(y, x),
        lambda torch: lambda x, y: y.index_select(0, x), both,
    )


def one_hot(rows, depth, both):
    """Rows with a single 1."""
    return operator(
        {"x": Below(depth, rows)}, lambda sym, x: sym.one_hot(x, depth=depth),
        lambda torch: lambda x: torch.nn.functional.one_hot(x, depth).float(), both,
    )


def topk(rows, width, k, both):
    """The largest numbers of each row."""
    return operator(
        {"x": Uniform(rows, width)}, lambda sym, x: sym.topk(x, k=k, ret_typ="value"),
        lambda torch: lambda x: x.topk(k), both,
    )


def pick(rows, width, both):
    """One number of each row."""
    return operator(
        {"x": Uniform(rows, width), "y": Below(width, rows)}, lambda sym, x, y: sym.pick(x, y),
        lambda torch: lambda x, y: x.gather(1, y[:, None]), both,
    )


def where(shape, both):
    """Numbers of one of two inputs."""
    def function(torch):
        return lambda c, x, y: torch.where(c != 0, x, y)

    return operator(
        {"c": Below(2, *shape), "x": Uniform(*shape), "y": Uniform(*shape)},
        lambda sym, c, x, y: sym.where(c, x, y), function, both,
    )


def softmax_output(rows, classes, both):
    """Softmax with the gradient of cross entropy."""
    return operator(
        {"x": Uniform(rows, classes), "y": Below(classes, rows)}, lambda sym, x, y: sym.SoftmaxOutput(x, y),
        lambda torch: torch.nn.functional.cross_entropy, both,
    )


def lstm(t, n, h, both):
    """One layer, fused, over ``t`` steps."""
    inputs = {
        "x": Uniform(t, n, h), "w": Uniform(8 * h * (h + 1)), "state": Uniform(1, n, h), "cell": Uniform(1, n, h),
    }
    parts = {"input": Uniform(4 * h, h), "hidden": Uniform(4 * h, h), "bias": Uniform(4 * h), "bias2": Uniform(4 * h)}

    def function(torch):
        def call(x, state, cell, *weights):
            return torch._VF.lstm(x, (state, cell), list(weights), True, 1, 0.0, True, False, False)[0]
        return call

    return operator(
        inputs,
        lambda sym, x, w, state, cell: sym.RNN(x, w, state, cell, state_size=h, num_layers=1, mode="lstm"),
        function, both, 16 * t * n * h * h,
        tensors={**{name: each for name, each in inputs.items() if name != "w"}, **parts},
    )


def update(rule, count, both):
    """One rule of an optimizer, on one parameter."""
    del both

    def mx(mx):
        random = np.random.RandomState(0)
        weight, gradient, first, second = (mx.nd.array(Uniform(count, low=0.1).draw(random)) for _ in range(4))
        call, states, rest = {
            "sgd": (mx.nd.sgd_update, (), {"lr": 0.01, "wd": 1e-4}),
            "sgd_mom": (mx.nd.sgd_mom_update, (first,), {"lr": 0.01, "momentum": 0.9, "wd": 1e-4}),
            "adam": (mx.nd.adam_update, (first, second), {"lr": 1e-4}),
            "rmsprop": (mx.nd.rmsprop_update, (first,), {"lr": 1e-5}),
        }[rule]
        return Work(
            lambda: call(weight, gradient, *states, out=weight, **rest), bytes=(3 + 2 * len(states)) * count * FLOAT
        )

    def torch(torch):
        weight = torch.nn.Parameter(torch.rand(count))
        weight.grad = torch.rand(count)
        made = {
            "sgd": lambda: torch.optim.SGD([weight], lr=0.01, weight_decay=1e-4),
            "sgd_mom": lambda: torch.optim.SGD([weight], lr=0.01, momentum=0.9, weight_decay=1e-4),
            "adam": lambda: torch.optim.Adam([weight], lr=1e-4),
            "rmsprop": lambda: torch.optim.RMSprop([weight], lr=1e-5),
        }[rule]()
        return Work(made.step)

    return Case(mx, torch)


def drawn(name, count, both):
    """Random numbers."""
    del both
    return Case(
        lambda mx: Work(lambda: getattr(mx.nd.random, name)(shape=count), bytes=count * FLOAT),
        lambda torch: Work(lambda: {"uniform": torch.rand, "normal": torch.randn}[name](count)),
    )
