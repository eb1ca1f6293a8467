"""The pytest plugin of the oracle: ``pytest --oracle-backend=package.module:Name``.

It is installed as the package ``refimpl_oracle``, so that pytest can load it without importing refimpl; that happens
when the option is given. The plugin brings tests of its own, so that it works in an empty folder: one for each stored
program, and one that searches. Each cause that the search finds is reported as a test that failed, with an id that is
the cause, so that equal causes of two runs have equal ids, whatever program showed them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, each of which begins with ``--oracle-``."""
    group = parser.getgroup("oracle", "property-based testing of another implementation against refimpl")
    group.addoption("--oracle-backend", metavar="MODULE:NAME", help="the implementation under test: object or class")
    group.addoption("--oracle-level", type=int, metavar="N", help="the highest level of programs, 1 to 7; all without")
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
        """Stored programs, and the search."""
        for name, run in self.drawn():
            yield OracleTest.from_parent(self, name=name, run=run)

    def drawn(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        """The names of the tests and their functions; refimpl is imported only if the option is given."""
        from refimpl.oracle import pytest_items

        return pytest_items.tests(self.config)


class OracleTest(pytest.Item):
    """A stored program, or the search, which passes; its causes fail."""

    def __init__(self, *, run: Any, **others: Any) -> None:
        super().__init__(**others)
        self._run = run
        self.causes: list[dict[str, Any]] = []
        self.lines: list[str] = []

    def runtest(self) -> None:
        """Run the program, or search."""
        outcome = self._run()
        if isinstance(outcome, str):
            if outcome:
                raise Differences(outcome)
        else:
            self.causes, self.lines = outcome

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report alone: a traceback of the plugin tells nobody anything."""
        if isinstance(excinfo.value, Differences):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int, str]:
        """The place of the test, as pytest prints it."""
        return self.path, 0, f"oracle: {self.name}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Send the causes along with the report of the search: a worker of pytest-xdist has no other way."""
    outcome: Any = yield
    if isinstance(item, OracleTest) and call.when == "call":
        report = outcome.get_result()
        report.oracle_causes, report.oracle_lines = item.causes, item.lines


def pytest_configure(config: pytest.Config) -> None:
    """Report causes in the process that prints; a worker of pytest-xdist leaves that to it."""
    if config.getoption("--oracle-backend") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Causes(config))


class Causes:
    """Reports each cause as a test of its own."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.lines: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a failed test for each cause that came with a report."""
        self.lines += getattr(report, "oracle_lines", ())
        for cause in getattr(report, "oracle_causes", ()):
            shown: dict[str, Any] = {
                "nodeid": f"oracle::{cause['id']}", "location": ("oracle", 0, f"oracle: {cause['id']}"), "keywords": {},
                "user_properties": list(cause["properties"].items()),
            }
            log = self.config.hook.pytest_runtest_logreport
            log(report=pytest.TestReport(outcome="failed", longrepr=cause["text"], when="call", **shown))
            log(report=pytest.TestReport(outcome="passed", longrepr=None, when="teardown", **shown))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say how far the search came."""
        if self.lines:
            terminalreporter.section("oracle")
            for line in self.lines:
                terminalreporter.write_line(line)


class Differences(AssertionError):
    """The implementation differs; the text is the report."""
