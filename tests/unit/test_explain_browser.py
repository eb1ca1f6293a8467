"""The page of ``refimpl explain`` in a real browser: looked at, clicked through, photographed."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np
import pytest

from refimpl import explain

from . import browser

PARTS = ("header", "#slices", "#graph", "#memory", "#times", "#store", "#update", "#rules")

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        browser.found() is None,
        reason=f"no Chromium, Chrome or Edge on the search path; name one in {browser.SETTING}",
    ),
]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    folder = tmp_path_factory.mktemp("page")
    file = folder / "step.html"
    file.write_text(explain.page(explain.digits()), encoding="utf-8")
    program = browser.found()
    assert program is not None
    with browser.Browser(program, folder / "profile") as page:
        page.resize(1200, 900)
        page.open(file.as_uri())
        yield page


def pixels(content: bytes) -> np.ndarray:
    """A PNG of 8 bits per channel as an array (height, width, channels)."""
    width, height, depth, kind = struct.unpack(">IIBB", content[16:26])
    assert depth == 8
    channels = {2: 3, 6: 4}[kind]
    packed, at = b"", 8
    while at < len(content):
        (length,) = struct.unpack(">I", content[at : at + 4])
        if content[at + 4 : at + 8] == b"IDAT":
            packed += content[at + 8 : at + 8 + length]
        at += 12 + length
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * channels)
    found = np.zeros((height, width, channels), np.int64)
    above = np.zeros((width, channels), np.int64)
    for row, line in enumerate(lines):
        above = found[row] = _unfiltered(int(line[0]), line[1:].reshape(width, channels).astype(np.int64), above)
    return found


def _unfiltered(method: int, line: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Undo one of PNG's five filters."""
    if method == 0:
        return line
    if method == 1:
        return line.cumsum(axis=0) % 256
    if method == 2:
        return (line + above) % 256
    made = np.zeros_like(line)
    left = corner = np.zeros(line.shape[1], np.int64)
    for x, part in enumerate(line):
        guess = (left + above[x]) // 2
        if method == 4:
            whole = left + above[x] - corner
            distances = np.stack([abs(whole - left), abs(whole - above[x]), abs(whole - corner)])
            guess = np.choose(distances.argmin(axis=0), [left, above[x], corner])
        made[x] = left = (part + guess) % 256
        corner = above[x]
    return made


def colors(content: bytes) -> int:
    """How many colors a picture has."""
    found = pixels(content)
    return len(np.unique(found.reshape(-1, found.shape[2]), axis=0))


@pytest.mark.clause("Explain/one-file")
def test_nothing_fails_and_nothing_is_fetched(shown: browser.Browser) -> None:
    assert shown.errors == []
    assert [address[:5] for address in shown.requests if not address.startswith("data:image/png")] == ["file:"]


@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_to_be_seen(shown: browser.Browser, part: str) -> None:
    sides = shown.run(f"(() => {{ const r = document.querySelector('{part}').getBoundingClientRect();"
                      " return [r.width, r.height]; })()")
    assert min(sides) > 100


@pytest.mark.parametrize("part", ["#slices", "#graph .scroll", "#memory", "#times", "#store"])
def test_pictures_are_not_blank(shown: browser.Browser, part: str) -> None:
    assert colors(shown.picture(part)) > 20


def test_a_box_opens_its_operator(shown: browser.Browser) -> None:
    shown.click('#graph a[href="#node-f3"] rect')
    assert shown.run("document.getElementById('node-f3').open")
    assert shown.run("location.hash") == "#node-f3"
    assert "Convolution" in shown.run("document.getElementById('node-f3').innerText")
    chosen = "[...document.querySelectorAll('.chosen')].map(e => e.closest('section').id)"
    assert {"graph", "memory", "times"} <= set(shown.run(chosen))


def test_a_rule_is_read_and_closed_by_keyboard(shown: browser.Browser) -> None:
    shown.click('#slices a.rule[href="#rule-split/half-to-even"]')
    assert shown.run("document.getElementById('reader').open")
    assert "rounded to the even neighbour" in shown.run("document.getElementById('reader').innerText")
    shown.press("Escape", 27)
    assert not shown.run("document.getElementById('reader').open")
    shown.click('#slices a.rule[href="#rule-split/partition"]')
    shown.click("#reader .buttons a")
    assert not shown.run("document.getElementById('reader').open")
    assert shown.run("location.hash") == "#rule-split/partition"


def test_a_fold_opens_by_keyboard(shown: browser.Browser) -> None:
    shown.run("document.querySelector('#memory summary').focus()")
    shown.press("Enter", 13)
    assert shown.run("document.querySelector('#memory details').open")
    shown.click("#times summary")
    assert shown.run("document.querySelector('#times details').open")
    assert shown.run("document.querySelectorAll('#times tbody tr').length") == 22


@pytest.mark.clause("Explain/words-first")
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 768, 1600])
def test_it_fits_every_screen(shown: browser.Browser, width: int, dark: bool) -> None:
    shown.resize(width, 900, dark)
    assert shown.run("document.documentElement.scrollWidth <= innerWidth")
    ground = shown.run("getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, ground.strip("rgb()").split(","))) / 3
    assert (brightness < 128) == dark
