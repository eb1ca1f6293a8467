"""A pytest plugin that collects tests and then does something else with them than to run each once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import Phase, settings


class InsteadOfTests:
    """A plugin for ``pytest.main``; a subclass says in ``work`` what is done."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """Hypothesis draws, and does not shrink."""
        settings.register_profile("unshrunk", settings.get_profile("ci"), phases=(Phase.explicit, Phase.generate))
        settings.load_profile("unshrunk")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Do the work, in place of pytest's loop over tests."""
        capture = session.config.pluginmanager.getplugin("capturemanager")

        def out(line: str) -> None:
            with capture.global_and_fixture_disabled():
                print(line, flush=True)

        self.work(session.items, out)
        return True

    def work(self, items: Sequence[pytest.Item], out: Callable[[str], None]) -> None:
        """What is done with the collected tests; ``out`` prints a line."""
        raise NotImplementedError
