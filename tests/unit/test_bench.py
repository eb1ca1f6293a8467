"""What ``refimpl bench`` and tests/bench measure runs, and what they print follows from what was measured."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from numba import cuda

import refimpl as mx
from refimpl import cli
from refimpl.cli.benchmark import interleaving, machine, markdown
from refimpl.cli.benchmark.rows import GROUPS, ROWS, case_of
from refimpl.kernels.foundation.devices import SIMULATED
from tests.bench import __main__ as bench
from tests.bench import devices

SMALL = 8  # no size is above it
TENTH = {id(row) for row in itertools.islice((row for row in ROWS if row.group == "operators"), None, None, 10)}
QUICK = {"calls", "bind", "update", "store", "contexts"}
DONE = [row for row in ROWS if row.family is not None]  # the others are whole processes


def _marks(row):
    return [] if id(row) in TENTH or (row.group in QUICK and row.name != "ResNet-50") else [pytest.mark.heavy]


@pytest.mark.parametrize(
    "row", [pytest.param(row, marks=_marks(row), id=f"{row.group}: {row.name}") for row in DONE]
)
def test_a_row_runs(row) -> None:
    work = case_of(row, SMALL).mx(mx)
    if work.value is None:
        work.step()
        mx.nd.waitall()
    else:
        assert work.value() >= 0
    assert work.items >= 1


def test_rows_have_names_of_their_own_and_groups() -> None:
    assert len({(row.group, row.name) for row in ROWS}) == len(ROWS)
    assert {row.group for row in ROWS} == set(GROUPS)
    assert sum(row.group == "operators" for row in ROWS) == 180


def _named(name: str):
    row, = (row for row in ROWS if row.name == name)
    return case_of(row).mx(mx)


def test_operations_and_bytes_are_the_least() -> None:
    conv = _named("conv 3x3 16>16 32^2 b32, forward")
    assert conv.flops == 150_994_944  # 2 * 32 images * 16 filters * 1024 pixels * 16 channels * 9
    assert conv.bytes == 4 * (2 * 32 * 16 * 1024 + 16 * 16 * 9)
    assert _named("conv 3x3 16>16 32^2 b32, both ways").flops == 3 * conv.flops
    added = _named("add 512K, both ways")  # two inputs, an output, and as many gradients
    assert (added.flops, added.bytes) == (0, 2 * 3 * 4 * 524_288)
    # 100 rows; forward and the gradient of the weight, and of the data but in the first layer
    assert _named("mlp, one context").flops == 2 * 100 * (2 * 784 * 128 + 3 * 128 * 64 + 3 * 64 * 10)


def test_the_limit_is_what_takes_longer() -> None:
    limits = machine.Limits()
    limits.flops = 100e9
    limits.copy = dict.fromkeys(limits.copy, 10e9)
    assert limits.seconds(2e9, 1e6) == pytest.approx(0.02)
    assert limits.seconds(2e9, 1e9) == pytest.approx(0.1)
    limits.copy[max(limits.copy)] = 5e9  # arrays far beyond the caches
    assert limits.seconds(0, 1e9) == pytest.approx(0.2)


@pytest.mark.parametrize(("group", "threads", "environment"), [
    ("training", 2, {}), ("operators", 1, {"MXNET_ENGINE_TYPE": "NaiveEngine", "MXNET_SUBGRAPH_BACKEND": "NONE"}),
])
def test_what_the_processes_of_a_row_may_use(group: str, threads: int, environment: dict, monkeypatch) -> None:
    made = []
    monkeypatch.setattr(interleaving, "Library", lambda *given: made.append(given) or SimpleNamespace(stop=list))
    wanted = interleaving.Wanted((group,), {"refimpl": "here", "mxnet": "there"})
    libraries = interleaving.Libraries(wanted, GROUPS[group])
    libraries.of(next(row for row in ROWS if row.group == group and row.threads == threads))
    assert made == [("refimpl", "here", threads, {}), ("mxnet", "there", threads, environment)]


def _row(group: str, name: str, here: float, mxnet: float | None, **more):
    median = {"refimpl": here, **({} if mxnet is None else {"mxnet": mxnet})}
    ratio = {} if mxnet is None else {"mxnet": mxnet / here}
    return {"group": group, "name": name, "unit": "s", "median": median, "ratio": ratio, "errors": {}, **more}


FOUND = {
    "date": "2020-01-02", "processor": "P", "cores": 2, "system": "S", "versions": {"refimpl": "1", "mxnet": "1.9.1"},
    "rounds": 5, "clock": "wall", "seconds": 120.0, "load": [0.0, 1.0], "libraries": ["refimpl", "mxnet"],
    "limits": {"flops": 1e11, "copy": {"2097152": 5e10}, "least_flops_seen": 9e10, "measured": 3},
    "rows": [
        _row("operators", "quick", 0.002, 0.003, limit=0.5), _row("operators", "slow", 0.0003, 0.00015),
        _row("calls", "alone", 2e-6, None), {
            "group": "calls", "name": "broken", "unit": "s", "median": {}, "errors": {"mxnet": "ValueError: no"},
        },
    ],
}


def test_tables_say_what_was_measured() -> None:
    text = markdown.markdown(FOUND)
    assert text.startswith("2020-01-02, P, 2 cores, S. refimpl 1, MXNet 1.9.1.\nMedian of 5 rounds, wall clock; 2 min")
    assert "One core: 100 GF/s of FMA (the slowest of 3 measurements in this run saw 90)" in text
    assert "50 GB/s at 2 MB" in text
    assert "Of 2 operator rows 1 are at least as fast as the best peer, and 1 take more than 1.5 times" in text
    assert "* slow: 0.50" in text
    assert "* broken (mxnet): ValueError: no" in text
    assert "| One operator | here | MXNet / here | of the limit |\n|---|---|---|---|\n" in text
    assert "| quick | 2 ms | 1.50 | 50 % |" in text
    assert "| slow | 300 us | 0.50 |  |" in text
    assert "| alone | 2 us |  |\n| broken |  | failed |\n" in text


def test_tables_stand_between_the_marks_of_a_chapter(write) -> None:
    chapter = write(f"before\n{markdown.BEGIN}\nold\n{markdown.END}\nafter\n", "chapter.md")
    markdown.write(FOUND, chapter)
    markdown.write(FOUND, chapter)
    assert chapter.read_text() == f"before\n{markdown.BEGIN}\n\n{markdown.markdown(FOUND)}\n{markdown.END}\nafter\n"
    with pytest.raises(ValueError, match="must have the lines"):
        markdown.write(FOUND, write("nothing", "other.md"))


def test_the_command_measures_prints_and_keeps(tmp_path, capsys) -> None:
    file = tmp_path / "found.json"
    assert cli.run(["bench", "calls", "--only", "called", "--rounds", "1", "--clock", "cpu", "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    row, = found["rows"]
    assert (row["name"], row["errors"]) == ("a + b, called", {})
    assert 0 < row["median"]["refimpl"] < 1
    assert found["limits"]["flops"] > 1e8
    printed = capsys.readouterr()
    assert printed.out == markdown.markdown(found)
    assert "| a + b, called |" in printed.err


def test_a_group_that_is_not_there_is_refused(capsys) -> None:
    assert cli.run(["bench", "nothing"]) == 2
    assert "nothing" in capsys.readouterr().err


def test_a_row_that_fails_leaves_the_others() -> None:
    wanted = interleaving.Wanted(("calls",), {interleaving.OURS: interleaving.sys.executable})
    libraries = interleaving.Libraries(wanted, GROUPS["calls"])
    try:
        library = libraries.of(ROWS[0])[interleaving.OURS]
        with pytest.raises(interleaving.RowFailed, match="IndexError"):
            library.ask(build=len(ROWS))
        assert library.ask(about=1)["version"] == mx.__version__
        library.process.kill()
        with pytest.raises(interleaving.RowFailed, match="the process ended"):
            library.ask(about=1)
    finally:
        libraries.stop()


# --- a CUDA device -------------------------------------------------------------------------------


@pytest.mark.skipif(cuda.is_available(), reason="there is a CUDA device, or a simulated one")
def test_without_a_device_nothing_is_measured() -> None:
    with pytest.raises(SystemExit, match="there is no CUDA device here, so nothing was measured"):
        bench.main(["--gpu"])


@pytest.mark.gpu
@pytest.mark.cuda_sim
@pytest.mark.skipif(not cuda.is_available(), reason="needs a CUDA device or NUMBA_ENABLE_CUDASIM=1")
def test_every_row_of_a_device_is_for_a_twin() -> None:
    for build, sizes in devices.ROWS.values():
        work = build(*(min(size, 40) for size in sizes))
        assert work.loop._by_blocks is not None
        assert work.loop._by_blocks.takes(work.args) and work.flops > 0 < work.bytes


@pytest.mark.gpu
@pytest.mark.cuda_sim
@pytest.mark.skipif(not cuda.is_available(), reason="needs a CUDA device or NUMBA_ENABLE_CUDASIM=1")
@pytest.mark.parametrize("name", ["product 64x784x128"] if SIMULATED else devices.ROWS)
def test_a_twin_is_measured_against_its_page(name: str) -> None:
    found = devices.measured(name, rounds=1, most=2 if SIMULATED else 40, least=0)
    assert found.same_bits
    assert found.page > 0 < found.twin
    assert "| same |" in "".join(devices.lines([found]))


@pytest.mark.gpu
@pytest.mark.cuda_sim
@pytest.mark.skipif(not cuda.is_available(), reason="needs a CUDA device or NUMBA_ENABLE_CUDASIM=1")
def test_the_command_measures_a_device(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(devices, "SIMULATED", False)
    file = tmp_path / "rows.json"
    bench.main(["--gpu", "--rounds", "1", "--most", "2", "--only", "product 64x784x128", "--json", str(file)])
    printed = capsys.readouterr()
    assert printed.err == "product 64x784x128\n"
    assert printed.out.count("| same |") == 1
    assert [row["name"] for row in json.loads(file.read_text())] == ["product 64x784x128"]


@pytest.mark.cuda_sim
@pytest.mark.skipif(not SIMULATED, reason="needs NUMBA_ENABLE_CUDASIM=1")
def test_the_simulator_is_not_measured() -> None:
    with pytest.raises(SystemExit, match="simulator says nothing about speed"):
        bench.main(["--gpu"])
