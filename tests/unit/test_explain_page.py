"""The page of ``refimpl explain``: well-formed, self-contained, every link resolved; and its command."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl import cli, explain
from refimpl.explain import brevity, layout, markup
from refimpl.model.networks import resnet20

VOID = {"meta", "img", "br", "link", "input", "hr"}


class Reader(HTMLParser):
    """Checks that elements close in the order in which they open, and notes what the page has."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, list[str]] = {}
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), (tag, attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.setdefault(self.open[-1] if self.open else "", []).append(data)

    def values(self, name: str) -> list[str]:
        """Every value of an attribute."""
        return [value for _, attributes in self.elements if (value := attributes.get(name)) is not None]


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return explain.digits(batch_size=24)


@pytest.fixture(scope="module")
def page(found: dict[str, Any]) -> str:
    return explain.page(found)


@pytest.fixture(scope="module")
def reader(page: str) -> Reader:
    return Reader(page)


@pytest.mark.clause("Explain/one-file")
def test_nothing_is_fetched(page: str, reader: Reader) -> None:
    words = re.sub(r'src="data:[^"]*"', "", page)
    assert not re.search(r"(?i)https?:|//[a-z]|url\((?!#)|@import|fetch\(|XMLHttp|<link|<iframe|<object", words)
    assert all(value.startswith("data:image/png;base64,") for value in reader.values("src"))
    assert all(value.startswith("#") for value in reader.values("href"))
    policy = [a["content"] for tag, a in reader.elements if tag == "meta" and a.get("http-equiv")]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"]


@pytest.mark.clause("Explain/rules")
def test_every_link_leads_somewhere(found: dict[str, Any], reader: Reader) -> None:
    identities = reader.values("id")
    assert len(identities) == len(set(identities))
    links = {link.removeprefix("#") for link in reader.values("href")}
    assert links <= set(identities)
    assert {f"rule-{name}" for name in found["rules"]} <= links
    assert set(reader.values("aria-labelledby")) - {"reader-title"} <= set(identities)


def test_one_heading_and_every_part(reader: Reader) -> None:
    tags = [tag for tag, _ in reader.elements]
    assert tags.count("h1") == 1
    titles = "".join(reader.text["h2"])
    for words in ("batch is cut", "forward and backward", "share memory", "takes its time", "meet in", "Weights move"):
        assert words in titles
    assert all(a.get("alt") for tag, a in reader.elements if tag == "img")
    assert all(a.get("aria-label") for tag, a in reader.elements if tag == "svg")


def test_every_operator_is_a_box_and_a_text(found: dict[str, Any], reader: Reader) -> None:
    steps = [node["id"] for node in found["graph"] if node["phase"] != "variable"]
    assert len(steps) == 22
    assert {f"#node-{name}" for name in steps} <= set(reader.values("href"))
    assert {f"node-{name}" for name in steps} <= set(reader.values("id"))


@pytest.mark.clause("Explain/words-first")
def test_it_reads_without_javascript(found: dict[str, Any], page: str) -> None:
    plain = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    for rule in found["rules"].values():
        assert markup.prose(rule["text"]) in plain
    for entry in found["update"]["parameters"]:
        assert markup.value(entry["sample"]["after"]) in plain


@pytest.mark.clause("Explain/words-first")
def test_both_color_schemes_and_small_screens(page: str) -> None:
    for words in ("prefers-color-scheme: dark", "prefers-reduced-motion", "max-width: 36rem", "width=device-width"):
        assert words in page


def test_names_are_escaped() -> None:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name='<b>"fc"&')
    made = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    made.bind([("data", (2, 2))], [("softmax_label", (2,))])
    made.init_params(mx.init.One())
    made.init_optimizer()
    data = explain.step(made, mx.io.DataBatch([mx.nd.ones((2, 2))], [mx.nd.zeros(2)]))
    made_page = explain.page(data)
    assert '<b>"fc"&' not in made_page
    Reader(made_page)


# --- large networks ------------------------------------------------------------------------------


Deep = tuple[list[dict[str, np.ndarray]], dict[str, Any]]


def of(made: mx.mod.Module) -> dict[str, np.ndarray]:
    """The parameters of a module."""
    return {name: value.asnumpy().astype(np.float64) for name, value in made.get_params()[0].items()}


@pytest.fixture(scope="module")
def deep() -> Deep:
    """The parameters of a network of 480 operators before and after a step, and what is told of that step."""
    net = mx.sym.Variable("data")
    for number in range(80):
        net = mx.sym.Convolution(net, num_filter=24, kernel=(3, 3), pad=(1, 1), no_bias=True, name=f"conv{number}")
        net = mx.sym.Activation(mx.sym.BatchNorm(net, name=f"norm{number}"), act_type="relu", name=f"relu{number}")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=3, name="fc"), name="softmax")
    made = mx.mod.Module(net)
    made.bind([("data", (2, 3, 4, 4))], [("softmax_label", (2,))])
    mx.random.seed(0)
    made.init_params(mx.init.Xavier())
    made.init_optimizer(optimizer_params={"learning_rate": 1e-6})
    before = of(made)
    data = np.random.default_rng(0).normal(size=(2, 3, 4, 4))
    found = explain.step(made, mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array([0, 1])]))
    return [before, of(made)], found


@pytest.mark.heavy
@pytest.mark.clause("Explain/small")
def test_a_deep_network_makes_a_small_page(deep: Deep) -> None:
    parameters, data = deep
    page = explain.page(data)
    reader = Reader(page)
    assert len(page.encode()) < 700_000
    steps = [node for node in data["graph"] if node["phase"] != "variable"]
    assert len(steps) > 480
    identities = reader.values("id")
    assert len(identities) == len(set(identities))
    assert {link.removeprefix("#") for link in reader.values("href")} <= set(identities)
    assert {f"node-{node['id']}" for node in steps} <= set(identities)
    assert {f"rule-{name}" for name in data["rules"]} <= {link.removeprefix("#") for link in reader.values("href")}
    assert page.count("<code>--json</code> has the rest") == 5  # operators, places, times, gradients, weights
    assert_weights_are_right(page, *parameters)


def assert_weights_are_right(page: str, before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> None:
    """The table of the update shows sizes, norms and a number that was followed."""
    words = {row.split("<")[0]: row for row in re.split('<th scope="row">', page.partition('id="update"')[2])}
    for number in (10, 40, 70):  # a convolution in the middle of the table
        name = f"conv{number}_weight"
        sides, *norms, followed = re.findall("<td>(.*?)</td>", words[name])
        assert sides == "24 \u00d7 24 \u00d7 3 \u00d7 3"
        old, new = before[name], after[name]
        assert norms == [markup.value(float(np.linalg.norm(one))) for one in (old, new - old, new)]
        pairs = {tuple(map(markup.value, map(float, pair))) for pair in zip(old.flat, new.flat, strict=True)}
        assert tuple(followed.split(" \N{RIGHTWARDS ARROW} ")) in pairs


@pytest.mark.heavy
@pytest.mark.clause("Explain/small")
def test_an_operator_of_the_table_shows_the_numbers_of_the_run(deep: Deep) -> None:
    _, data = deep
    page = explain.page(data)
    for name in ("conv40", "norm41", "relu42"):
        node = next(node for node in data["graph"] if node["name"] == name)
        (row,) = re.findall(f'<span id="node-{node["id"]}">.*?</tr>', page)
        seen = next(value["seen"] for value in node["values"] if value["kept"])
        cells = re.findall("<td>(.*?)</td>", row)
        assert cells[:3] == [name, node["operator"], "2 \u00d7 24 \u00d7 4 \u00d7 4"]
        assert cells[3].split() == [markup.value(one) for one in seen["window"][0][:6]]
        assert cells[4] == markup.value(seen["norm"])


def test_ends_of_a_list() -> None:
    assert brevity.ends(5, 6) == {0, 1, 2, 3, 4}
    assert brevity.ends(9, 4) == {0, 1, 7, 8}
    assert brevity.ends(9, 5) == {0, 1, 2, 7, 8}
    assert brevity.greatest([3, 1, 4, 1, 5], 2) == {2, 4}


# --- small pieces ---------------------------------------------------------------------------------


def test_a_picture_is_a_png() -> None:
    pixels = np.arange(24).reshape(2, 3, 4)
    content = base64.b64decode(markup.png(pixels).partition(",")[2])
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", content[16:24]) == (3, 2)
    length = struct.unpack(">I", content[33:37])[0]
    lines = zlib.decompress(content[41 : 41 + length])
    assert lines == b"\0" + bytes(range(12)) + b"\0" + bytes(range(12, 24))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (markup.size(512), "512 bytes"), (markup.size(1536), "1.5 KiB"), (markup.size(3 * 2**30), "3.0 GiB"),
        (markup.duration(7.25), "7.2 \u00b5s"), (markup.duration(123.4), "123 \u00b5s"),
        (markup.duration(2500), "2.50 ms"),
        (markup.shape([2, 3]), "2 \u00d7 3"), (markup.shape([]), "one number"),
        (markup.value(None), "not finite"), (markup.value(-0.5), "\u22120.5"),
        (markup.prose("see [the rule](x.md) of `a<b` & **c**"), "see the rule of <code>a&lt;b</code> &amp; c"),
    ],
)
def test_words_and_units(written: str, expected: str) -> None:
    assert written == expected


def test_a_picture_of_numbers_has_their_signs_and_strengths() -> None:
    written = markup.heat({"window": [[-1.0, 0.0, 0.25], [None, 1.0, -1e-9]]}, 1.0, "words")
    content = base64.b64decode(written.partition("base64,")[2].partition('"')[0])
    assert struct.unpack(">IIBB", content[16:26]) == (3, 2, 4, 3)
    begin = content.index(b"IDAT") + 4
    (length,) = struct.unpack(">I", content[begin - 8 : begin - 4])
    # opaque blue, none, orange of half the strength (the root of a quarter); not finite is the strongest, tiny is none
    assert zlib.decompress(content[begin : begin + length]) == b"\0\x70\xb0" + b"\0\xee\x00"
    at = content.index(b"PLTE") + 4
    colors = [tuple(content[at + 3 * number : at + 3 * number + 3]) for number in range(15)]
    assert colors[1:] == [(37, 99, 235)] * 7 + [(217, 98, 11)] * 7
    at = content.index(b"tRNS") + 4
    assert list(content[at : at + 15]) == [0, *[36, 72, 109, 145, 182, 218, 255] * 2]


def test_boxes_never_overlap() -> None:
    made = mx.mod.Module(resnet20(10, (1, 8, 8)))
    made.bind([("data", (2, 1, 8, 8))], [("softmax_label", (2,))])
    made.init_params(mx.init.Xavier())
    made.init_optimizer()
    batch = mx.io.DataBatch([mx.nd.ones((2, 1, 8, 8))], [mx.nd.zeros(2)])
    nodes = explain.step(made, batch)["graph"]
    drawing = layout.arrange(nodes)
    drawn = [n["id"] for n in nodes if n["phase"] != "variable" or n["role"] == "data"]
    assert sorted(drawing.boxes) == sorted(drawn)
    boxes = [*drawing.boxes.values(), *(box for _, _, box in drawing.pills)]
    for number, one in enumerate(boxes):
        assert one.x >= 0
        assert one.x + one.width <= drawing.width
        assert one.y >= 0
        assert one.y + one.height <= drawing.height
        for other in boxes[:number]:
            beside = one.x + one.width <= other.x or other.x + other.width <= one.x
            below = one.y + one.height <= other.y or other.y + other.height <= one.y
            assert beside or below, (one, other)


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_writes_a_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["explain", "-o", "lenet.html", "--batch-size", "9", "--devices", "3"]) == 0
    assert "wrote lenet.html: LeNet on handwritten digits" in capsys.readouterr().out
    Reader(Path("lenet.html").read_text(encoding="utf-8"))
    assert [file.name for file in folder.iterdir()] == ["lenet.html"]


def test_the_command_prints_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["explain", "--json", "--batch-size", "9", "--devices", "1"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["contexts"] == ["cpu(0)"]
    assert printed["slices"]["batch_size"] == 9
    assert list(folder.iterdir()) == []


def test_the_command_takes_a_checkpoint(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", "--network", "mlp", "--num-epochs", "2", "--save-period", "1", "--batch-size", "200"]
    assert cli.run([*words, "--model-prefix", "net"]) == 0
    for options, title in (([], "net, epoch 2"), (["--epoch", "1"], "net, epoch 1")):
        capsys.readouterr()
        assert cli.run(["explain", "net", "--json", "--batch-size", "8", *options]) == 0
        assert json.loads(capsys.readouterr().out)["title"] == title


@pytest.mark.clause(
    "Cli/explain-source", "Cli/shape", "Cli/folder-exists", "Cli/checkpoint-exists", "Cli/batch-within-data",
    "Explain/script-trains",
)
@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("Cli/explain-source", ("nowhere.py",)),
        ("Cli/explain-source", ("nowhere",)),
        ("Cli/shape", ("net", "--shape", "1,1,8,8")),
        ("Cli/folder-exists", ("-o", "none/step.html")),
        ("Cli/folder-exists", ("-o", ".")),
        ("Cli/checkpoint-exists", ("net", "--epoch", "7")),
        ("Cli/batch-within-data", ("--batch-size", "1438")),
        ("Cli/batch-covers-devices", ("--batch-size", "1")),
        ("Explain/script-trains", ("idle.py",)),
    ],
)
def test_refusals(folder: Path, capsys: pytest.CaptureFixture[str], clause: str, words: tuple[str, ...]) -> None:
    Path("idle.py").write_text("print()")
    assert cli.run(["explain", *words]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert clause in error
    assert [file.name for file in folder.iterdir()] == ["idle.py"]
