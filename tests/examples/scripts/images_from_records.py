"""Train a small network on pictures out of a file of records, through ImageIter and its augmenters.

    python images_from_records.py [--epochs 4]

The pictures are written first: 64 of 12 x 12 pixels, with a bright upper or a bright lower half.
"""

import argparse
import random
import tempfile
from pathlib import Path

import numpy as np

import refimpl as mx


def write(folder, count):
    """A file of records with an index; returns their names."""
    index, records = str(folder / "halves.idx"), str(folder / "halves.rec")
    file = mx.recordio.MXIndexedRecordIO(index, records, "w")
    rng = np.random.RandomState(1)
    for number in range(count):
        picture = rng.randint(0, 100, (12, 12, 3)).astype(np.uint8)
        label = number % 2
        picture[6 * label : 6 * label + 6] += 120
        header = mx.recordio.IRHeader(0, float(label), number, 0)
        file.write_idx(number, mx.recordio.pack_img(header, picture, quality=3, img_fmt=".png"))
    file.close()
    return index, records


def network():
    """A convolution and a classifier."""
    data = mx.sym.Variable("data")
    net = mx.sym.Convolution(data, kernel=(3, 3), num_filter=4, stride=(2, 2), name="conv")
    net = mx.sym.Activation(net, act_type="relu")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=2, name="fc")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def main(options=None):
    """Train, and return the accuracy on pictures cut from the middle."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    arguments = parser.parse_args(options)
    random.seed(7)
    np.random.seed(7)
    mx.random.seed(7)
    with tempfile.TemporaryDirectory() as name:
        index, records = write(Path(name), 64)
        train = mx.image.ImageIter(
            batch_size=16, data_shape=(3, 10, 10), path_imgrec=records, path_imgidx=index, shuffle=True, rand_crop=True,
            rand_mirror=True, mean=True, std=True,
        )
        test = mx.image.ImageIter(batch_size=16, data_shape=(3, 10, 10), path_imgrec=records, mean=True, std=True)
        module = mx.mod.Module(network())
        module.fit(
            train, eval_data=test, num_epoch=arguments.epochs, optimizer_params={"learning_rate": 0.05},
            initializer=mx.init.Xavier(),
        )
        found = {"accuracy": dict(module.score(test, "acc"))["accuracy"]}
        for iterator in (train, test):
            iterator.imgrec.close()
    print(found)
    return found


if __name__ == "__main__":
    main()
