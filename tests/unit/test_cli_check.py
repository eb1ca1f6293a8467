"""``refimpl check``: names of MXNet that a script uses and that are missing, what stands instead, what differs."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from refimpl import cli
from refimpl.cli.porting import checking, touches
from refimpl.cli.porting.imports import own_module
from refimpl.cli.porting.instead import INSTEAD
from refimpl.cli.porting.uses import uses
from refimpl.kernels.foundation import REGISTRY


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def names_of(text):
    file = Path("script.py")
    file.write_text(text, encoding="utf-8")
    return [tuple(use) for use in uses(file).names]


@pytest.fixture
def check(capsys):
    """Checks a text; returns exit code and lines."""

    def checked(text, *flags):
        Path("script.py").write_text(text, encoding="utf-8")
        return cli.run(["check", "script.py", *flags]), capsys.readouterr().out.splitlines()

    return checked


@pytest.mark.clause("check/names")
@pytest.mark.parametrize(
    ("text", "names"), [
        ("import numpy\nnumpy.sym.x\n", []),
        ("import mxnet as mx\nmx.sym.A.b(mx.nd.c[0].d)\n", [("mxnet", 1), ("mxnet.nd.c", 2), ("mxnet.sym.A.b", 2)]),
        ("import mxnet.io\nmxnet.io.I\n", [("mxnet.io", 1), ("mxnet.io.I", 2)]),
        ("import mxnet.symbol as S\nS.A\nS.A\n", [("mxnet.symbol", 1), ("mxnet.symbol.A", 2)]),
        ("from mxnet import nd as N, gluon\nN.a(gluon.b)\n", [
            ("mxnet.gluon", 1), ("mxnet.nd", 1), ("mxnet.gluon.b", 2), ("mxnet.nd.a", 2),
        ]),
        ("from mxnet.io import *\nNDArrayIter(NoIter, len(3))\n", [
            ("mxnet.io", 1), ("mxnet.io.NDArrayIter", 2), ("mxnet.io.NoIter", 2),
        ]),
        ("from numpy import *\nfrom mxnet.io import *\nNoIter\n", [("mxnet.io", 2)]),
        ("import mxnet as mx\nsym = mx.sym\nsym.A\nsym = 3\nsym.B\n", [
            ("mxnet", 1), ("mxnet.sym", 2), ("mxnet.sym.A", 3),
        ]),
        ("from mxnet import sym\ndef f(sym): return sym.A\ndef g(x): return sym.B\n", [
            ("mxnet.sym", 1), ("mxnet.sym.B", 3),
        ]),
        ("from mxnet import nd\nf = lambda nd: nd.A\ndef g():\n    nd = 1\n    return nd.A\n", [("mxnet.nd", 1)]),
        ("def f(x=1):\n    import mxnet as mx\n    return mx.A\nclass C:\n    def g(self): return mx.B\n", [
            ("mxnet", 2), ("mxnet.A", 3), ("mxnet.B", 5),
        ]),
        ("from .mxnet import a\nfrom . import mxnet\nfrom mxnet_tools import b\n", []),
    ],
)
def test_names_that_a_script_uses(text, names):
    assert names_of(text) == names


PYTHON_2 = '''import mxnet as mx
from mxnet.gluon import (nn,  # layers
    loss)
from mxnet import symbol as S, \\
    nd
"""mx.in_a_text"""
print "mx.in_a_text", mx.sym.A  # mx.in_a_comment
print S.B, nd.C
'''


@pytest.mark.clause("check/python-2")
def test_python_2_is_read_by_lines(check):
    code, lines = check(PYTHON_2)
    assert code == 1
    assert lines[0].startswith("script.py:7: this is Python 2 (print ")
    assert "2to3 -w script.py" in lines[0]
    assert names_of(PYTHON_2) == [
        ("mxnet", 1), ("mxnet.gluon.loss", 2), ("mxnet.gluon.nn", 2), ("mxnet.nd", 4), ("mxnet.symbol", 4),
        ("mxnet.sym.A", 7), ("mxnet.nd.C", 8), ("mxnet.symbol.B", 8),
    ]


@pytest.mark.clause("check/python-2")
def test_what_no_python_reads_is_said_too(check):
    code, lines = check("import mxnet as mx\nmx.sym.FullyConnected\nx = (\n")
    assert code == 0
    assert lines[0].startswith("script.py:3: Python cannot read this: ")


@pytest.mark.clause("check/missing")
@pytest.mark.parametrize(
    ("name", "gone"), [
        ("mxnet.sym.FullyConnected", None), ("mxnet.symbol.contrib.MultiBoxPrior", None),
        ("mxnet.mod.Module.load", None),
        ("mxnet.module.base_module.BaseModule", None), ("mxnet.nd.NDArray.asnumpy.anything", None),
        ("mxnet.init.Xavier.dumps", None), ("mxnet.mod.Module.loader_of", "mxnet.mod.Module.loader_of"),
        ("mxnet.gluon.nn.Dense", "mxnet.gluon"), ("mxnet.sym.contrib.fft", "mxnet.sym.contrib.fft"),
        ("mxnet.nowhere.x", "mxnet.nowhere"), ("mxnet.module.nowhere", "mxnet.module.nowhere"),
    ],
)
def test_names_that_are_missing(name, gone):
    found = checking.absent(name)
    assert (found and found[0]) == gone


@pytest.mark.clause("check/instead")
@pytest.mark.parametrize(
    ("name", "said"), [
        ("mxnet.gluon.nn.Dense", "mx.mod.Module"), ("mxnet.contrib.quantization.quantize_model", "nothing rewrites"),
        ("mxnet.sym.contrib.fft", "operator _contrib_fft of MXNet 1.9.1 is not implemented here"),
        ("mxnet.sym.FullyConected", "did you mean FullyConnected?"),
        ("mxnet.io.qqq", "spec/reference/porting/bring-your-script.md"),
    ],
)
def test_what_stands_instead(name, said):
    assert said in checking.absent(name)[1]


@pytest.mark.clause("check/instead")
@pytest.mark.parametrize("name", INSTEAD)
def test_the_table_is_about_what_is_missing(name):
    assert own_module(name) is None
    assert "\n" not in INSTEAD[name]


def touched(text):
    Path("script.py").write_text(text, encoding="utf-8")
    return {row.clause for row in checking.check([Path("script.py")]).deviations}


@pytest.mark.clause("check/deviations")
def test_deviations_of_what_is_used():
    leaky = touched("import mxnet as mx\nmx.sym.LeakyReLU()\n")
    assert "LeakyReLU/selu-slope" in leaky
    assert {clause.partition("/")[0] for clause in leaky} == {"LeakyReLU"}
    assert "reduce/prod-gradient" in touched("from mxnet.nd import prod\n")
    assert "Module/num-batch" in touched("import mxnet as mx\nmx.mod.Module(mx.sym.var('x'))\n")
    assert "Module/num-batch" not in touched("import mxnet as mx\nmx.kv.create()\n")
    assert "NAG/rule" in touched("import mxnet as mx\nmod.fit(optimizer='nag')\n")
    proposal = touched("import mxnet as mx\nmx.sym.contrib.Proposal()\n")
    assert any(name.startswith("_contrib_Proposal/") for name in proposal)
    assert touched("import numpy as np\n'nag'; np.prod\n") == set()


@pytest.mark.clause("check/deviations")
def test_every_subject_is_one_of_the_chapters():
    subjects = {row.clause.partition("/")[0] for row in touches.rows()}
    assert set(touches.SUBJECTS) <= subjects
    assert "LeakyReLU" in REGISTRY


@pytest.mark.clause("check/report")
def test_the_report_has_an_order_and_an_exit_code(check):
    text = "import mxnet as mx\nmx.sym.LeakyReLU(act_type='selu')\nmx.gluon.nn\nmx.gluon.loss\n"
    code, lines = check(text)
    assert code == 1
    kinds = [kind for kind, _ in itertools.groupby(line.split(" ")[0] for line in lines)]
    assert kinds == ["script.py:3:", "quirk", "deviations", "files:"]
    slope = "quirk selu-slope [LeakyReLU/selu-slope]: MXNet: below 0 the slope of selu is "
    assert any(line.startswith(slope) for line in lines)
    assert lines[-2].startswith("deviations of LeakyReLU: selu-slope, ")
    assert lines[-1].startswith("files: 1; names of MXNet: 4; missing: 1; deviations: ")
    code, lines = check("import mxnet as mx\nmx.sym.LeakyReLU()\n", "--deviations")
    assert code == 0
    functions = "deviation LeakyReLU/functions: MXNet rounds float64 through float32, leaky and prelu below 0, "
    assert any(line.startswith(functions) and "; here: it does not" in line for line in lines)


@pytest.mark.clause("check/report", "Cli/check-exists")
def test_folders_are_read_and_nothing_runs(capsys):
    Path("deep/er").mkdir(parents=True)
    Path("deep/b.py").write_text("import mxnet as mx\nmx.rtc.CudaModule\nraise SystemExit(9)\n", encoding="utf-8")
    Path("deep/er/a.py").write_text("from mxnet.notebook import callback\n", encoding="utf-8")
    Path("deep/notes.txt").write_text("import mxnet\nmx.gluon", encoding="utf-8")
    assert cli.run(["check", "deep"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" is missing")[0] for line in lines[:-1]] == [
        f"{Path('deep/b.py')}:2: mxnet.rtc", f"{Path('deep/er/a.py')}:1: mxnet.notebook",
    ]
    assert lines[-1].startswith("files: 2; names of MXNet: 3; missing: 2; ")


@pytest.mark.clause("Cli/check-exists")
def test_a_path_has_to_be_there(capsys):
    assert cli.run(["check", "nowhere"]) == 2
    assert "Cli/check-exists" in capsys.readouterr().err


def test_a_script_for_this_package_is_not_one_of_mxnet(check):
    code, lines = check("import refimpl as mx\nmx.gluon\n")
    assert (code, len(lines)) == (0, 1)
