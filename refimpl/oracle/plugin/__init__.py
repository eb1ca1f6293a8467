"""The pytest plugin of the oracle: ``pytest --oracle-backend=package.module:Name``.

It is installed as the package ``refimpl_oracle``, so that pytest can load it without importing refimpl; that happens
when the option is given. The plugin brings tests of its own, a few for each level, so that it works in an empty folder
and with any number of workers: shard ``k`` of ``n`` draws the programs that it would draw alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

SHARDS = 4
"""Tests for each level."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, each of which begins with ``--oracle-``."""
    group = parser.getgroup("oracle", "property-based testing of another implementation against refimpl")
    group.addoption("--oracle-backend", metavar="MODULE:NAME", help="the implementation under test: object or class")
    group.addoption("--oracle-level", type=int, metavar="N", help="the highest level of programs, 1 to 7")
    group.addoption("--oracle-budget", default="60s", metavar="TIME", help="for how long to search: 60s, 5m")
    group.addoption("--oracle-programs", type=int, metavar="N", help="how many programs, instead of a time")
    group.addoption("--oracle-seed", type=int, default=0, metavar="N", help="which programs")
    group.addoption("--oracle-relations", action="store_true", help="compare two runs of the implementation instead")
    group.addoption("--oracle-isolate", action="store_true", help="run the implementation in a process of its own")
    group.addoption("--oracle-python", metavar="PYTHON", help="run it in processes of this Python")
    group.addoption("--oracle-corpus", metavar="FOLDER", help="programs as files that are run first; shipped: ours")
    group.addoption("--oracle-config", metavar="FILE", default="oracle.toml", help="differences that are expected")
    group.addoption("--oracle-report", metavar="FOLDER", help="where to write scripts, results.json and report.html")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the oracle's tests, if an implementation was named."""
    if config.getoption("--oracle-backend"):
        collector = Oracle.from_parent(session, name="oracle", path=config.rootpath, nodeid="oracle")
        items.extend(collector.collect())


class Oracle(pytest.Collector):
    """The oracle's tests."""

    def collect(self) -> Iterator[pytest.Item]:
        """A few tests for each level."""
        for name, run in self.drawn():
            yield OracleTest.from_parent(self, name=name, run=run)

    def drawn(self) -> Iterator[tuple[str, Callable[[], str]]]:
        """The names of the tests and their functions; refimpl is imported only if the option is given."""
        from refimpl.oracle import pytest_items

        return pytest_items.tests(self.config, SHARDS)


class OracleTest(pytest.Item):
    """One shard of one level: it fails with a report of all causes that it found."""

    def __init__(self, *, run: Any, **others: Any) -> None:
        super().__init__(**others)
        self._run = run

    def runtest(self) -> None:
        """Search."""
        report = self._run()
        if report:
            raise Differences(report)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report alone: a traceback of the plugin tells nobody anything."""
        if isinstance(excinfo.value, Differences):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int, str]:
        """The place of the test, as pytest prints it."""
        return self.path, 0, f"oracle: {self.name}"


class Differences(AssertionError):
    """The implementation differs; the text is the report."""
