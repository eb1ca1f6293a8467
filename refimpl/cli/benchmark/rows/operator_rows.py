"""The 180 rows of operators: 96 forward, 84 of them both ways too, on the shapes that networks have."""

from . import operator_cases as op
from .work import row

IMAGES = (32, 16, 32, 32)  # "512K": 2 ** 19 numbers
MATRIX = (1024, 512)


def single(title, family, /, **numbers):
    """One row: forward alone."""
    return [row("operators", f"{title}, forward", family, both=False, **numbers)]


def both_ways(title, family, /, **numbers):
    """Two rows: forward alone, and with all gradients."""
    return [*single(title, family, **numbers), row("operators", f"{title}, both ways", family, both=True, **numbers)]


def convolutions():
    """Convolutions of ResNet, LeNet and MobileNet, and some of sizes between."""
    table = [
        ("3x3 16>16 32^2 b32", (32, 16, 32, 16, 3), {}), ("3x3 64>64 8^2 b32", (32, 64, 8, 64, 3), {}),
        ("3x3/2 16>32 32^2 b32", (32, 16, 32, 32, 3), {"s": 2}), ("3x3 64>64 56^2 b4", (4, 64, 56, 64, 3), {}),
        ("3x3 256>256 14^2 b4", (4, 256, 14, 256, 3), {}), ("3x3 512>512 7^2 b4", (4, 512, 7, 512, 3), {}),
        ("7x7/2 3>64 224^2 b2", (2, 3, 224, 64, 7), {"s": 2}),
        ("5x5 20>50 12^2 p0 b64", (64, 20, 12, 50, 5), {"p": 0}),
        ("5x5 1>20 28^2 p0 b64", (64, 1, 28, 20, 5), {"p": 0}), ("1x1 64>256 56^2 b4", (4, 64, 56, 256, 1), {}),
        ("1x1 1024>256 14^2 b4", (4, 1024, 14, 256, 1), {}), ("1x1/2 256>512 56^2 b4", (4, 256, 56, 512, 1), {"s": 2}),
        ("1x1 2048>512 7^2 b4", (4, 2048, 7, 512, 1), {}),
        ("depthwise 3x3 128 56^2 b4", (4, 128, 56, 128, 3), {"g": 128}),
        ("depthwise 3x3/2 256 28^2 b4", (4, 256, 28, 256, 3), {"s": 2, "g": 256}),
        ("depthwise 3x3 1024 7^2 b4", (4, 1024, 7, 1024, 3), {"g": 1024}),
        ("3x3 g8 128 28^2 b4", (4, 128, 28, 128, 3), {"g": 8}),
        ("3x3 dilated 64 28^2 b4", (4, 64, 28, 64, 3), {"d": 2}),
        ("3x3 37>41 29^2 b3", (3, 37, 29, 41, 3), {}),
    ]
    found = []
    for name, sizes, rest in table:
        found += both_ways(f"conv {name}", op.convolution, **dict(zip("nchfk", sizes)), **rest)
    return found + both_ways("deconv 4x4/2 64>32 14^2 b4", op.deconvolution, n=4, c=64, h=14, f=32, k=4, s=2, p=1)


def products():
    """Square, of layers, and of awkward sizes."""
    sizes = [(n, n, n) for n in (32, 128, 512, 1024)]
    sizes += [(100, 784, 128), (32, 200, 800), (37, 131, 61), (1, 1024, 1000), (8, 2048, 1000)]
    found = []
    for m, k, n in sizes:
        found += both_ways(f"fc {m}x{k}x{n}", op.fully_connected, m=m, k=k, n=n)
    for left in (False, True):
        for right in (False, True):
            found += both_ways(f"dot 256^3 {'NT'[left]}{'NT'[right]}", op.dot, n=256, left=left, right=right)
    return found + both_ways("batch_dot 64x(64x64x64)", op.batch_dot, b=64, n=64)


def windows_and_norms():
    """Pooling, normalisation and softmax."""
    return [
        *both_ways("maxpool 3x3/2 64 112^2 b2", op.pooling, n=2, c=64, h=112, kind="max", k=3, s=2, p=1),
        *both_ways("maxpool 2x2/2 64 56^2 b4", op.pooling, n=4, c=64, h=56, kind="max", k=2, s=2),
        *both_ways("avgpool 3x3/1 64 28^2 b8", op.pooling, n=8, c=64, h=28, kind="avg", k=3, p=1),
        *both_ways("avgpool global 2048 7^2 b8", op.pooling, n=8, c=2048, h=7, kind="global"),
        *both_ways("BN train 64 56^2 b4", op.batch_norm, n=4, c=64, h=56),
        *both_ways("BN train 512 7^2 b8", op.batch_norm, n=8, c=512, h=7),
        *both_ways("LayerNorm 1120x512", op.layer_norm, n=1120, c=512),
        *both_ways("softmax 1120x1000", op.softmax, name="softmax", shape=(1120, 1000)),
        *both_ways("softmax 1000x10", op.softmax, name="softmax", shape=(1000, 10)),
        *both_ways("softmax 128x128", op.softmax, name="softmax", shape=(128, 128)),
        *both_ways("log_softmax 1120x1000", op.softmax, name="log_softmax", shape=(1120, 1000)),
        *both_ways("SoftmaxOutput 1120x1000", op.softmax_output, rows=1120, classes=1000),
        *both_ways(
            "LRN 64 28^2 b4", op.unary, shape=(4, 64, 28, 28), symbol=lambda sym, x: sym.LRN(x, nsize=5),
            function=lambda torch: lambda x: torch.nn.functional.local_response_norm(x, 5),
        ),
        *both_ways(
            "L2Norm 1024x512", op.unary, shape=MATRIX, symbol=lambda sym, x: sym.L2Normalization(x),
            function=lambda torch: torch.nn.functional.normalize,
        ),
        *both_ways(
            "norm 512K", op.unary, shape=IMAGES, symbol=lambda sym, x: sym.norm(x),
            function=lambda torch: lambda x: x.norm(),
        ),
        *both_ways("LSTM T35 b32 H200", op.lstm, t=35, n=32, h=200),
    ]


def elementwise():
    """One number at a time."""
    found = []
    for name in ("relu", "tanh", "sigmoid"):
        found += both_ways(f"{name} 512K", op.activation, name=name, shape=IMAGES)
    for name in ("exp", "log", "sqrt", "square", "erf"):
        found += both_ways(f"{name} 512K", op.plain, name=name, shape=IMAGES)
    return [
        *found,
        *both_ways("add 512K", op.binary, symbol="elemwise_add", function="add", left=IMAGES, right=IMAGES),
        *both_ways("mul 512K", op.binary, symbol="elemwise_mul", function="mul", left=IMAGES, right=IMAGES),
        *both_ways(
            "add (1,C,1,1) 512K", op.binary, symbol="broadcast_add", function="add", left=IMAGES, right=(1, 16, 1, 1)
        ),
        *both_ways(
            "mul (N,1) 1024x512", op.binary, symbol="broadcast_mul", function="mul", left=MATRIX, right=(1024, 1)
        ),
        *both_ways(
            "mul (1,M) 1024x512", op.binary, symbol="broadcast_mul", function="mul", left=MATRIX, right=(1, 512)
        ),
        *both_ways(
            "gelu 512K", op.unary, shape=IMAGES, symbol=lambda sym, x: sym.LeakyReLU(x, act_type="gelu"),
            function=lambda torch: torch.nn.functional.gelu,
        ),
        *both_ways(
            "clip 512K", op.unary, shape=IMAGES, symbol=lambda sym, x: sym.clip(x, a_min=-0.5, a_max=0.5),
            function=lambda torch: lambda x: x.clamp(-0.5, 0.5),
        ),
        *both_ways(
            "dropout 0.5 512K", op.unary, shape=IMAGES, symbol=lambda sym, x: sym.Dropout(x, p=0.5),
            function=lambda torch: torch.nn.functional.dropout, training=True,
        ),
        *both_ways("where 512K", op.where, shape=IMAGES),
        *single(
            "cast float32>float64 512K", op.unary, shape=IMAGES, symbol=lambda sym, x: sym.Cast(x, dtype="float64"),
            function=lambda torch: lambda x: x.double(),
        ),
    ]


def moves():
    """Reductions, copies, lookups and sorts."""
    found = []
    for axis, shape in (((), IMAGES), ((0,), MATRIX), ((1,), MATRIX), ((0, 2, 3), IMAGES), ((1,), (64, 128, 64))):
        sizes = "x".join(map(str, shape))
        found += both_ways(f"sum axis {axis} {sizes}", op.reduction, name="sum", axis=axis, shape=shape)
    return [
        *found,
        *single("topk 10 of 64x10000", op.topk, rows=64, width=10000, k=10),
        *single(
            "sort 64x10000", op.unary, shape=(64, 10000), symbol=lambda sym, x: sym.sort(x),
            function=lambda torch: torch.sort,
        ),
        *single(
            "argsort 64x10000", op.unary, shape=(64, 10000), symbol=lambda sym, x: sym.argsort(x),
            function=lambda torch: torch.argsort,
        ),
        *both_ways("max axis (1,) 1024x512", op.reduction, name="max", axis=(1,), shape=MATRIX),
        *single(
            "argmax axis 1 1024x512", op.unary, shape=MATRIX, symbol=lambda sym, x: sym.argmax(x, axis=1),
            function=lambda torch: lambda x: x.argmax(1),
        ),
        *both_ways("transpose 1024x512", op.transpose, axes=(1, 0), shape=MATRIX),
        *both_ways("transpose NCHW>NHWC 512K", op.transpose, axes=(0, 2, 3, 1), shape=IMAGES),
        *both_ways("transpose (1,0,2) 35x32x200", op.transpose, axes=(1, 0, 2), shape=(35, 32, 200)),
        *both_ways("concat 4x(8,64,28,28) axis 1", op.concatenation, shape=(8, 64, 28, 28)),
        *both_ways("slice_channel 4 (32,800)", op.slice_channel, n=32, c=800),
        *both_ways(
            "pad 1 512K", op.unary, shape=IMAGES,
            symbol=lambda sym, x: sym.Pad(x, mode="constant", pad_width=(0, 0, 0, 0, 1, 1, 1, 1)),
            function=lambda torch: lambda x: torch.nn.functional.pad(x, (1, 1, 1, 1)),
        ),
        *both_ways(
            "tile 256x256 x8", op.unary, shape=(256, 256), symbol=lambda sym, x: sym.tile(x, reps=(2, 4)),
            function=lambda torch: lambda x: x.repeat(2, 4),
        ),
        *both_ways(
            "UpSampling x2 64 28^2 b4", op.unary, shape=(4, 64, 28, 28),
            symbol=lambda sym, x: sym.UpSampling(x, scale=2, sample_type="nearest"),
            function=lambda torch: lambda x: torch.nn.functional.interpolate(x, scale_factor=2),
        ),
        *both_ways("Embedding 1120 of 10000x200", op.embedding, rows=1120, words=10000, width=200),
        *both_ways("take 4096 of 1000x64", op.take, rows=4096, words=1000, width=64),
        *both_ways("pick 1120x1000", op.pick, rows=1120, width=1000),
        *single("one_hot 1024x1000", op.one_hot, rows=1024, depth=1000),
    ]


def without_symbols():
    """Updates and random numbers."""
    found = []
    for rule in ("sgd", "sgd_mom", "adam", "rmsprop"):
        found += single(f"{rule} update 512K", op.update, rule=rule, count=1 << 19)
    for name in ("uniform", "normal"):
        found += single(f"random.{name} 512K", op.drawn, name=name, count=1 << 19)
    return found


ROWS = [
    *convolutions(), *products(), *windows_and_norms(), *elementwise(), *moves(), *without_symbols(),
]
