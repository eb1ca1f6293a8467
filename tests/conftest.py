"""What every test shares: how many calls Hypothesis draws, and which tests run in one process."""

from __future__ import annotations

import gc
import os
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=15, database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("few", settings.get_profile("ci"), max_examples=4)  # README's command, repeated laws
settings.register_profile("long", settings.get_profile("ci"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "few"))


def pytest_configure(config):
    # a kernel is compiled once if all tests of its page run in one process
    if config.getoption("dist", "no") == "load":
        config.option.dist = "loadgroup"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Group tests of operators by page, all others by file, which share what a file's fixtures make."""
    from refimpl import kernels  # not in the process that only hands tests out

    pages = {module.__doc__: name for name, module in vars(kernels).items() if isinstance(module, ModuleType)}
    of = {op.name: pages.get(op.doc) for op in kernels.distinct()}
    for item in items:
        drawn = getattr(item, "callspec", None) and item.callspec.params
        page = drawn and (of.get(drawn.get("name")) or drawn.get("page"))
        item.add_marker(pytest.mark.xdist_group(page or item.location[0]))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    gc.disable()  # thousands of tests are made and none is garbage
    try:
        return (yield)
    finally:
        gc.freeze()  # nor will they be
        gc.enable()


@pytest.fixture
def write(tmp_path):
    """Write a file of text or bytes and return its path."""
    def writing(content, name="data.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return writing
