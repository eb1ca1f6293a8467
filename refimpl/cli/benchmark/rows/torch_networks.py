"""The networks of :mod:`networks` in PyTorch: the same layers in the same order."""

RESNET50 = ((3, 256), (4, 512), (6, 1024), (3, 2048))
MOBILENET = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1))


def mlp(torch, classes, image):
    """Two hidden layers."""
    nn = torch.nn
    return nn.Sequential(
        nn.Flatten(), nn.Linear(image[0] * image[1] * image[2], 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(),
        nn.Linear(64, classes),
    )


def lenet(torch, classes, image):
    """With 3 x 3 kernels where images are small."""
    nn = torch.nn
    kernel, pad = (3, 1) if image[1] < 28 else (5, 0)
    side = image[1]
    for _ in range(2):
        side = (side + 2 * pad - kernel + 1) // 2
    return nn.Sequential(
        nn.Conv2d(image[0], 20, kernel, padding=pad), nn.Tanh(), nn.MaxPool2d(2),
        nn.Conv2d(20, 50, kernel, padding=pad), nn.Tanh(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(50 * side * side, 500), nn.Tanh(), nn.Linear(500, classes),
    )


def residual(torch, main, shortcut, after=None, before=None):
    """``main(x) + shortcut(x)``, with layers before both and after the sum."""
    class Unit(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.before, self.main, self.shortcut, self.after = before, main, shortcut, after

        def forward(self, data):
            first = data if before is None else self.before(data)
            rest = data if shortcut is None else self.shortcut(first)
            made = self.main(first) + rest
            return made if after is None else self.after(made)

    return Unit()


def resnet20(torch, classes, image):
    """Pre-activation."""
    nn = torch.nn
    layers = [nn.BatchNorm2d(image[0]), nn.Conv2d(image[0], 16, 3, 1, 1, bias=False)]
    width = 16
    for stage, filters in enumerate((16, 32, 64)):
        for unit in range(3):
            stride = 2 if unit == 0 and stage > 0 else 1
            main = nn.Sequential(
                nn.Conv2d(width, filters, 3, stride, 1, bias=False), nn.BatchNorm2d(filters), nn.ReLU(),
                nn.Conv2d(filters, filters, 3, 1, 1, bias=False),
            )
            shortcut = nn.Conv2d(width, filters, 1, stride, bias=False) if unit == 0 else None
            layers.append(residual(torch, main, shortcut, before=nn.Sequential(nn.BatchNorm2d(width), nn.ReLU())))
            width = filters
    layers += [nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(64, classes))


def normalised(torch, before, filters, kernel, stride, groups=1, relu=True):
    """A convolution, batch norm and activation."""
    nn = torch.nn
    convolution = nn.Conv2d(before, filters, kernel, stride, kernel // 2, groups=groups, bias=False)
    return [convolution, nn.BatchNorm2d(filters), *([nn.ReLU()] if relu else [])]


def resnet50(torch, classes, image):
    """Version 1."""
    nn = torch.nn
    layers = [*normalised(torch, image[0], 64, 7, 2), nn.MaxPool2d(3, 2, 1)]
    width = 64
    for stage, (units, filters) in enumerate(RESNET50):
        for unit in range(units):
            stride = 2 if unit == 0 and stage > 0 else 1
            inner = filters // 4
            main = nn.Sequential(
                *normalised(torch, width, inner, 1, stride), *normalised(torch, inner, inner, 3, 1),
                *normalised(torch, inner, filters, 1, 1, relu=False),
            )
            shortcut = None
            if unit == 0:
                shortcut = nn.Sequential(*normalised(torch, width, filters, 1, stride, relu=False))
            layers.append(residual(torch, main, shortcut, after=nn.ReLU()))
            width = filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes))


def mobilenet(torch, classes, image):
    """Depthwise and 1x1 convolutions in turn."""
    nn = torch.nn
    layers, width = normalised(torch, image[0], 32, 3, 2), 32
    for filters, stride in MOBILENET:
        layers += normalised(torch, width, width, 3, stride, groups=width)
        layers += normalised(torch, width, filters, 1, 1)
        width = filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes))


def lstm(torch, words, hidden):
    """Two layers of LSTM over words, each of which is predicted."""
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(words, hidden)
            self.lstm = nn.LSTM(hidden, hidden, num_layers=2, batch_first=True)
            self.out = nn.Linear(hidden, words)

        def forward(self, data):
            made, _ = self.lstm(self.embed(data))
            return self.out(made.reshape(-1, made.shape[-1]))

    return Model()


TORCH = {
    "mlp": mlp, "lenet": lenet, "resnet-20": resnet20, "resnet-50": resnet50, "mobilenet": mobilenet, "lstm": lstm,
}
