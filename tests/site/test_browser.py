"""The built site in a real browser: widths, both colour schemes, addresses of rules, search, accessibility.

    REFIMPL_SITE=FOLDER pytest -m long tests/site/test_browser.py

needs Chromium (``chromium`` or ``google-chrome`` on the path, or ``REFIMPL_CHROMIUM``). With ``REFIMPL_AXE``, the path
of axe-core's ``axe.min.js``, serious findings fail. Nothing is fetched but from this machine.
"""

from __future__ import annotations

import functools
import html
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .test_site import site  # noqa: F401  # the fixture

CHROMIUM = os.environ.get("REFIMPL_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
AXE = os.environ.get("REFIMPL_AXE")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium: install it, or set REFIMPL_CHROMIUM"),
]
PAGES = [
    "index.html", "spec/reference/running/slicing.html", "spec/course/07-store.html",
    "spec/reference/porting/deviations.html", "operators/pooling.html",
    "api/mx.mod.html", "code/kernels/pooling.py.html", "lenet-step.html", "search.html", "matrix.html",
]
WIDTHS = [390, 900, 1440]
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]
# A page that opens others in frames of a width and writes down what it sees.
HARNESS = """<!DOCTYPE html><meta charset="utf-8"><body><script>
const asked = %s;
async function opened(address, width) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  const loaded = new Promise(done => frame.onload = done);
  frame.src = "/" + address;
  document.body.append(frame);
  await loaded;
  return frame;
}
async function until(found, tries) {
  for (let n = 0; n < tries; n++) { const it = found(); if (it) return it; await new Promise(t => setTimeout(t, 100)); }
  return null;
}
(async () => {
  const seen = {dark: matchMedia("(prefers-color-scheme: dark)").matches, wide: [], serious: []};
  for (const width of asked.widths) for (const page of asked.pages) {
    const frame = await opened(page, width), inner = frame.contentDocument;
    const over = inner.documentElement.scrollWidth - width;
    if (over > 0) seen.wide.push([page, width, over]);
    seen.background = getComputedStyle(inner.body).backgroundColor;
    if (asked.axe) {
      const script = inner.createElement("script");
      script.src = "/axe.min.js";
      const ready = new Promise(done => script.onload = done);
      inner.head.append(script);
      await ready;
      const found = await frame.contentWindow.axe.run(inner, {iframes: false});
      for (const each of found.violations) if (["serious", "critical"].includes(each.impact))
        seen.serious.push([page, width, each.id, each.nodes[0].html.slice(0, 120)]);
    }
    frame.remove();
  }
  const rule = await opened("spec/slicing.html#split/half-to-even", 900);  // where the chapter stood before
  seen.target = await until(() => rule.contentDocument.querySelector(":target")?.id, 50);
  const search = await opened("search.html?q=half-to-even", 900);
  const results = await until(() => {
    const links = [...search.contentDocument.querySelectorAll("#search-results li a")].map(a => a.getAttribute("href"));
    return links.length ? links : null;
  }, 100);
  seen.results = results || [];
  const shown = document.createElement("pre");
  shown.id = "seen";
  shown.textContent = JSON.stringify(seen);
  document.body.append(shown);
})();
</script>"""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:  # noqa: F811
    asked = {"pages": PAGES, "widths": WIDTHS, "axe": bool(AXE)}
    (site / "harness.html").write_text(HARNESS % json.dumps(asked), encoding="utf-8")
    if AXE:
        shutil.copyfile(AXE, site / "axe.min.js")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(site))
    handler.func.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
    (site / "harness.html").unlink()
    (site / "axe.min.js").unlink(missing_ok=True)


@pytest.fixture(scope="module", params=["light", "dark"])
def seen(request: pytest.FixtureRequest, address: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    scheme = f"--blink-settings=preferredColorScheme={0 if request.param == 'dark' else 1}"
    profile = f"--user-data-dir={tmp_path_factory.mktemp('profile')}"
    command = [CHROMIUM, *FLAGS, profile, scheme, "--window-size=1500,1000"]
    done = subprocess.run(
        [*command, "--virtual-time-budget=600000", "--timeout=500000", "--dump-dom", f"{address}/harness.html"],
        capture_output=True, text=True, timeout=600, check=False,
    )
    found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr[-2000:]
    told = json.loads(html.unescape(found[1]))
    assert told["dark"] is (request.param == "dark")
    return told


def test_no_page_is_wider_than_the_screen(seen: dict[str, Any]) -> None:
    assert seen["wide"] == []


def test_the_background_follows_the_scheme(seen: dict[str, Any]) -> None:
    channels = [int(number) for number in re.findall(r"\d+", seen["background"])[:3]]
    assert (sum(channels) < 3 * 128) is seen["dark"]


def test_the_old_address_of_a_rule_opens_it(seen: dict[str, Any]) -> None:
    assert seen["target"] == "split/half-to-even"


def test_search_finds_a_rule(seen: dict[str, Any]) -> None:
    assert any(link.startswith("spec/reference/running/slicing.html#split/half-to-even") for link in seen["results"])


@pytest.mark.skipif(not AXE, reason="set REFIMPL_AXE to axe-core's axe.min.js")
def test_axe_finds_nothing_serious(seen: dict[str, Any]) -> None:
    assert seen["serious"] == []
