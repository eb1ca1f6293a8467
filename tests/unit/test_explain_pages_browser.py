"""The pages of clusters, of SVRG, and of unrolled networks in a real browser: they fit, they step, they read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import refimpl as mx
from refimpl import explain

from . import browser
from .planted_anomalies import PLANTED
from .test_explain_trainers import sentences

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        browser.found() is None,
        reason=f"no Chromium, Chrome or Edge on the search path; name one in {browser.SETTING}",
    ),
]
SIZES = [(width, dark) for width in (390, 900, 1440) for dark in (False, True)]


def unrolled() -> str:
    made = mx.mod.Module(sentences(24)[0], context=[mx.cpu(0), mx.cpu(1)])
    made.bind([("data", (4, 24))], [("softmax_label", (4, 24))])
    made.init_params(mx.init.Xavier())
    made.init_optimizer()
    return explain.page(explain.step(made, mx.io.DataBatch([mx.nd.ones((4, 24))], [mx.nd.ones((4, 24))])))


PAGES = {
    "cluster": lambda: explain.cluster_page(explain.cluster()),
    "broken": lambda: explain.cluster_page(explain.cluster(**PLANTED["out of order"].arguments())),
    "unrolled": unrolled,
    "many": lambda: explain.cluster_page(explain.cluster(workers=4, servers=2)),
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[browser.Browser, Path]]:
    folder = tmp_path_factory.mktemp("pages")
    for name, make in PAGES.items():
        (folder / f"{name}.html").write_text(make(), encoding="utf-8")
    program = browser.found()
    assert program is not None
    with browser.Browser(program, folder / "profile") as page:
        yield page, folder


@pytest.mark.clause("Explain/words-first", "Explain/one-file")
@pytest.mark.parametrize(("width", "dark"), SIZES)
@pytest.mark.parametrize("name", PAGES)
def test_it_fits_every_screen(shown: tuple[browser.Browser, Path], name: str, width: int, dark: bool) -> None:
    page, folder = shown
    page.resize(width, 900, dark)
    page.open((folder / f"{name}.html").as_uri())
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    ground = page.run("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground.strip("rgb()").split(","))) / 3 < 128) == dark
    assert page.errors == []
    assert all(address.startswith(("file:", "data:image/png")) for address in page.requests)


@pytest.mark.clause("Explain/diagram")
@pytest.mark.parametrize("name", ["cluster", "many"])
def test_every_server_is_in_sight(shown: tuple[browser.Browser, Path], name: str) -> None:
    page, folder = shown
    page.resize(1440, 900)
    page.open((folder / f"{name}.html").as_uri())
    hidden = "[...document.querySelectorAll('.tall')].map(one => one.scrollWidth - one.clientWidth)"
    assert page.run(hidden) == [0, 0]


@pytest.mark.clause("Explain/diagram")
def test_the_slider_walks_along_the_events(shown: tuple[browser.Browser, Path]) -> None:
    page, folder = shown
    page.open((folder / "cluster.html").as_uri())
    page.run("document.querySelector('.slider input').focus()")
    page.press("Home", 36)
    assert page.run("document.querySelector('.slider output').textContent").startswith("0 of ")
    for _ in range(3):
        page.press("ArrowRight", 39)
    assert page.run("document.querySelector('.slider output').textContent").startswith("3 of ")
    assert page.run("document.querySelectorAll('[data-run=\"0\"] svg .event:not(.future)').length") == 3
    assert page.run("document.querySelector('[data-run=\"0\"] svg .now').dataset.step") == "3"
    assert page.run("document.querySelector('[data-run=\"0\"] tr.now').dataset.step") == "3"
    assert page.run("document.querySelectorAll('[data-run=\"1\"] svg .future').length") == 0


@pytest.mark.clause("Explain/accused")
def test_the_accused_event_is_found_by_its_link(shown: tuple[browser.Browser, Path]) -> None:
    page, folder = shown
    page.open((folder / "broken.html").as_uri())
    page.click("#broken a[href^='#e0-']")
    assert page.run("document.querySelector('.run details').open")
    assert "Pull key 'w'" in page.run("document.querySelector('tr:target').innerText")
    assert page.run("document.querySelectorAll('svg .marked').length") == 2


@pytest.mark.clause("Explain/values")
def test_the_stepper_shows_values_and_live_memory(shown: tuple[browser.Browser, Path]) -> None:
    page, folder = shown
    page.open((folder / "unrolled.html").as_uri())
    page.run("document.querySelector('#stepper input').focus()")
    page.press("ArrowRight", 39)
    words = page.run("document.getElementById('stepper').innerText")
    assert "split0" in words
    assert "live:" in words
    assert page.run("document.querySelectorAll('#stepper img.heat').length") >= 1
    assert page.run("document.querySelector('#graph .operator.chosen b').textContent") == "split0"
    page.click(".operator summary")
    page.click(".operator .around a")
    assert page.run("location.hash").startswith("#in-")


@pytest.mark.clause("Explain/words-first")
@pytest.mark.parametrize("name", PAGES)
def test_without_javascript_every_part_is_there(shown: tuple[browser.Browser, Path], name: str) -> None:
    page, folder = shown
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.open((folder / f"{name}.html").as_uri())
        assert page.run("document.querySelectorAll('input').length") == 0
        assert page.run("[...document.querySelectorAll('section')].every(s => s.getBoundingClientRect().height > 60)")
        assert page.run("document.querySelectorAll('summary').length") >= 2
    finally:
        page.call("Emulation.setScriptExecutionDisabled", value=False)
