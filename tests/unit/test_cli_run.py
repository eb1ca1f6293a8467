"""``refimpl run``: scripts run as Python runs them, but for mxnet, GPUs and old names of NumPy."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import refimpl as mx
from refimpl import cli
from refimpl.cli.porting import numpy_names


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys):
    """Runs a text as a script; returns exit code, standard output and standard error."""

    def ran(text, *arguments, flags=(), name="script.py"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
        code = cli.run(["run", *flags, name, *arguments])
        return (code, *capsys.readouterr())

    return ran


@pytest.mark.clause("run/import-mxnet")
def test_mxnet_is_refimpl_inside_and_nothing_outside(run):
    before = sys.argv, list(sys.path), list(sys.meta_path), sys.modules["__main__"]
    code, out, err = run("import mxnet as mx\nprint(mx.__name__, float(mx.nd.ones(1).asscalar()))\n")
    assert (code, out) == (0, "refimpl 1.0\n")
    assert err == f"refimpl run: import mxnet was answered with refimpl {mx.__version__}\n"
    assert (sys.argv, list(sys.path), list(sys.meta_path), sys.modules["__main__"]) == before
    assert not [name for name in sys.modules if name.partition(".")[0] == "mxnet"]


@pytest.mark.clause("run/import-mxnet")
def test_an_installed_mxnet_is_not_asked(run):
    Path("mxnet.py").write_text("raise AssertionError('this one was imported')\n", encoding="utf-8")
    assert run("import mxnet\nprint(mxnet.__name__)\n")[:2] == (0, "refimpl\n")


@pytest.mark.clause("run/same-modules")
@pytest.mark.parametrize(
    ("imports", "own"), [
        ("import mxnet.ndarray.ndarray as m", "refimpl.ndarray.ndarray"),
        ("import mxnet.module.base_module as m", "refimpl.module.base_module"),
        ("from mxnet import sym as m", "refimpl.symbol"),
        ("from mxnet.contrib import svrg_optimization as m", "refimpl.contrib.svrg_optimization"),
        ("import importlib; m = importlib.import_module('mxnet.kv')", "refimpl.kvstore"),
    ],
)
def test_modules_are_the_same_and_keep_their_names(run, imports, own):
    spec = sys.modules[own].__spec__
    told = f"print(m is sys.modules[{own!r}], m.__name__, m.__spec__.name)"
    code, out, _ = run(f"import sys, refimpl\n{imports}\n{told}\n")
    assert (code, out) == (0, f"True {own} {own}\n")
    assert sys.modules[own].__spec__ is spec


@pytest.mark.clause("run/missing-module")
@pytest.mark.parametrize(
    ("imports", "name", "said"), [
        ("import mxnet.gluon", "mxnet.gluon", "train it with mx.mod.Module"),
        ("from mxnet.gluon import nn", "mxnet.gluon", "train it with mx.mod.Module"),
        ("from mxnet import gluon", "mxnet.gluon", "train it with mx.mod.Module"),
        ("from mxnet.contrib import quant", "mxnet.contrib.quant", "nothing rewrites a network"),
        ("import mxnet.nowhere", "mxnet.nowhere", "see spec/reference/porting/bring-your-script.md"),
    ],
)
def test_a_missing_module_says_what_stands_instead(run, imports, name, said):
    text = f"try:\n    {imports}\nexcept ImportError as error:\n    print(type(error).__name__, error.name, error)\n"
    code, out, _ = run(text)
    assert code == 0
    assert out.startswith(f"ModuleNotFoundError {name} {name} is not in refimpl: ")
    assert said in out
    assert "[run/missing-module]" in out
    assert out.count("\n") == 1


@pytest.mark.clause("run/as-python")
@pytest.mark.parametrize(
    ("ending", "code", "said"), [
        ("", 0, ""), ("sys.exit()", 0, ""), ("sys.exit(7)", 7, ""), ("sys.exit('no data')", 1, "no data\n"),
        ("raise SystemExit(True)", 1, ""), ("raise KeyboardInterrupt", 130, None), ("{}['key']", 1, None),
    ],
)
def test_exit_codes(run, ending, code, said):
    found, _, err = run(f"import sys\n{ending}\n")
    assert found == code
    assert err == said if said is not None else err.startswith("Traceback (most recent call last):\n  File ")


PROGRAM = """
import sys
import pickle
import beside

class Kept(object):
    pass

def fail(number):
    return number / 0

print(__name__, sys.argv, sys.path[0] == beside.__file__.rpartition("beside")[0][:-1])
print(sys.modules[__name__].fail is fail)
print(type(pickle.loads(pickle.dumps(Kept()))).__name__, __file__)
fail(1)
"""


@pytest.mark.clause("run/as-python")
def test_a_script_sees_and_says_what_python_shows(run):
    Path("folder").mkdir()
    Path("folder/beside.py").write_text("", encoding="utf-8")
    code, out, err = run(PROGRAM, "--cpu", "-x", "a b", name="folder/script.py")
    python = subprocess.run(
        [sys.executable, "folder/script.py", "--cpu", "-x", "a b"], capture_output=True, text=True, check=False,
    )
    assert (code, out, err) == (python.returncode, python.stdout, python.stderr)
    assert code == 1


@pytest.mark.clause("run/gpu-as-cpu")
def test_gpus_are_cpus_with_the_flag(run):
    text = (
        "import mxnet as mx\nfrom mxnet.context import gpu\n"
        "print(mx.gpu(2), gpu(), mx.Context('gpu', 1), mx.context.gpu(2) == mx.cpu(2), end=' ')\n"
        "print(mx.nd.ones(1, mx.gpu(3)).context)\n"
    )
    code, out, err = run(text, flags=["--cpu"])
    assert (code, out) == (0, "cpu(2) cpu(0) cpu(1) True cpu(3)\n")
    assert "refimpl run: gpu(0), gpu(1), gpu(2), gpu(3) ran as cpu of the same number\n" in err
    assert str(mx.gpu(2)) == "gpu(2)"


@pytest.mark.clause("run/gpu-hint")
@pytest.mark.skipif(mx.num_gpus() > 90, reason="gpu(90) is there")
def test_without_the_flag_a_missing_gpu_names_it(run):
    code, _, err = run("import mxnet as mx\nmx.nd.ones(1, mx.gpu(90))\n")
    assert code == 1
    assert "CUDA devices were found" in err
    assert "the script names GPUs that are not here; `refimpl run --cpu` takes cpu(i) for each gpu(i)\n" in err
    assert "--cpu" not in run("import mxnet as mx\nmx.nd.ones(-1)\n")[2]


# what NumPy 1.23.5 prints for each
OLD = {
    "np.float(3), np.int(2.5), np.object, np.str": "3.0 2 <class 'object'> <class 'str'>",
    "np.product([2, 3]), np.cumproduct([2, 3])": "6 [2 6]",
    "np.in1d([1, 2], [2]), np.in1d([[1], [2]], [2], invert=True)": "[False  True] [ True False]",
    "np.alltrue([1, 0]), np.sometrue([1, 0])": "False True",
    "np.fromstring('abcd', np.uint8), np.fromstring(b'abcd', np.uint8, 2)": "[ 97  98  99 100] [97 98]",
    "np.fromstring(b'', np.uint8).shape, np.fromstring('1 2 3', sep=' ')": "(0,) [1. 2. 3.]",
    "np.fromstring(b'abcd', np.uint8).flags.writeable": "True",
    "np.Inf, np.NINF, np.NaN, np.PZERO, np.NZERO": "inf -inf nan 0.0 -0.0",
    "np.cast['float32']([1, 2]).dtype, np.nbytes[np.float32]": "float32 4",
    "np.find_common_type([np.float32], [np.int64]), np.find_common_type([np.int8], [np.float64])": "float32 float64",
    "np.round_(1.26, 1), np.trapz([1, 2, 3])": "1.3 4.0",
    "np.asfarray([1], np.int32).dtype, np.asfarray([1], np.float32).dtype": "float64 float32",
    "np.msort([[3, 1], [1, 2]]).tolist(), np.mat([[1, 2]]).shape": "[[1, 1], [3, 2]] (1, 2)",
    "np.sctype2char(np.float32), np.obj2sctype(np.array([1.])).__name__": "f float64",
    "np.float_ is np.float64, np.complex_ is np.complex128, np.unicode_ is np.str_": "True True True",
    "np.issubsctype(np.float32, np.floating), np.issubclass_(3, int)": "True False",
    "issubclass(np.VisibleDeprecationWarning, UserWarning), np.math.pi == 3.141592653589793": "True True",
}


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # np.matrix
@pytest.mark.clause("run/numpy-names")
def test_names_of_numpy_are_back_inside(run):
    text = "import numpy as np\nnp.set_printoptions(legacy='1.21')\n" + "".join(f"print({line})\n" for line in OLD)
    kept = np.get_printoptions()
    try:
        code, out, err = run(text)
    finally:
        np.set_printoptions(**kept)
    assert code == 0, err
    assert out.splitlines() == list(OLD.values())
    assert "np.NINF" in err
    assert "np.fromstring" in err
    assert not hasattr(np, "NINF")
    with pytest.raises((ValueError, DeprecationWarning)):
        np.fromstring(b"abcd", np.uint8)


@pytest.mark.clause("run/numpy-names")
@pytest.mark.parametrize(
    ("call", "message"), [
        ("b'abc', np.float32", "string size must be a multiple of element size"),
        ("b'abcd', np.uint8, 9", "string is smaller than requested size"),
    ],
)
def test_fromstring_refuses_as_before(run, call, message):
    code, _, err = run(f"import numpy as np\nnp.fromstring({call})\n")
    assert code == 1
    assert f"ValueError: {message}\n" in err


@pytest.mark.clause("run/numpy-names")
def test_names_that_numpy_has_stay():
    assert not set(numpy_names.table()) & set(vars(np))
    with numpy_names.given_back() as used, pytest.raises(AttributeError):
        np.nothing_that_ever_was  # noqa: B018  # asking is the test
    assert used == set()


@pytest.mark.clause("run/python-2")
@pytest.mark.parametrize(
    "line", [
        "print 'epoch', 1", "exec 'pass'", "raise ValueError, 'no'", "x = 0777", "x = 10L",
        "x = `1`", "if 1 <> 2: pass", "x = ur'text'", "def f(a, (b, c)): pass",
        *(["try: pass\nexcept IOError, e: pass"] if sys.version_info < (3, 14) else []),  # 3.14 reads it as two types
    ],
)
def test_python_2_is_named(run, line):
    code, out, err = run(f"import mxnet\n{line}\n")
    assert (code, out) == (2, "")
    number = 2 + line.count("\n")
    assert err.startswith(f"refimpl: {Path('script.py').absolute()}:{number}: this is Python 2 (")
    assert "2to3 -w" in err
    assert err.count("\n") == 1


@pytest.mark.clause("run/python-2")
def test_python_2_in_a_file_that_is_imported(run):
    Path("helper.py").write_text("def f():\n    print 'here'\n", encoding="utf-8")
    code, _, err = run("import helper\n")
    assert code == 2
    assert f"{Path('helper.py').absolute()}:2: this is Python 2" in err


@pytest.mark.parametrize("text", ["x = (1,\n", "x = 1 1  # <>\n", "x = '`' '<>' 0x\n"])
def test_other_syntax_errors_are_shown_as_python_does(run, text):
    code, _, err = run(text)
    python = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, check=False)
    assert (code, err) == (python.returncode, python.stderr)


@pytest.mark.parametrize(
    ("text", "name"), [
        ("xrange(3)", "xrange"), ("import cPickle", "cPickle"), ("{}.iteritems()", "iteritems"),
        ("import sys\nprint >>sys.stderr, 'epoch'", "print >>file"),
    ],
)
def test_names_of_python_2_are_hinted_at(run, text, name):
    code, _, err = run(f"{text}\n")
    assert code == 1
    assert err.endswith(f"refimpl run: {name} is of Python 2; 2to3 (in Python up to 3.12) replaces it\n")


WORKER = """
import logging, pickle, sys
import mxnet as mx, numpy as np

class Kept(object):
    pass

kv = mx.kv.create("dist_sync")
handler = logging.StreamHandler(sys.stdout)
handler.setFormatter(logging.Formatter("Node[%d] %%(message)s" % kv.rank))
logging.getLogger().addHandler(handler)
logging.getLogger().setLevel(20 + 10 * kv.rank)
kv.init("w", mx.nd.zeros(2))
for step in range(2):
    kv.push("w", mx.nd.array([kv.rank + 1, step]))
    total = mx.nd.zeros(2)
    kv.pull("w", out=total)
    logging.info("info of step %d", step)
    logging.warning("%s %s %s", sys.argv[1:], total.asnumpy().tolist(), kv.num_workers)
    mine = sys.modules["__main__"].Kept is Kept and type(pickle.loads(pickle.dumps(Kept()))) is Kept
    assert mine and __name__ == "__main__"
np.random.seed(kv.rank)
kv._barrier()
assert np.random.rand() == np.random.RandomState(kv.rank).rand()
"""


@pytest.mark.clause("run/workers")
@pytest.mark.clause("Cluster/run")
@pytest.mark.parametrize("flags", [["-n", "2"], ["--workers", "2", "--servers", "1"]])
def test_a_script_runs_as_several_workers(run, flags):
    before = sys.modules["__main__"], logging.root.handlers[:], logging.root.level
    code, out, err = run(WORKER, "-n", "7", flags=flags)
    assert code == 0, err
    lines = [f"Node[{rank}] ['-n', '7'] [3.0, {2.0 * step}] 2" for rank in (0, 1) for step in (0, 1)]
    assert sorted(out.splitlines()) == [*lines[:2], "Node[0] info of step 0", "Node[0] info of step 1", *lines[2:]]
    assert (sys.modules["__main__"], logging.root.handlers[:], logging.root.level) == before
    assert err == f"refimpl run: import mxnet was answered with refimpl {mx.__version__}\n"


@pytest.mark.clause("run/workers")
@pytest.mark.parametrize(("flags", "servers"), [(["-n", "3"], 3), (["-n", "2", "-s", "1"], 1), (["-n", "1"], 1)])
def test_there_are_as_many_servers_as_workers_unless_said(run, flags, servers):
    text = "import mxnet as mx\nkv = mx.kv.create('dist')\nprint(kv.num_workers, len(kv._transport.states))\n"
    assert run(text, flags=flags)[:2] == (0, f"{flags[1]} {servers}\n" * int(flags[1]))


@pytest.mark.clause("run/workers")
def test_a_worker_that_fails_ends_the_command_and_one_that_is_done_does_not(run):
    head = "import sys\nimport mxnet as mx\nkv = mx.kv.create('dist_sync')\n"
    code, out, _ = run(f"{head}if kv.rank == 1: sys.exit(0)\nprint('done', kv.rank)\n", flags=["-n", "2"])
    assert (code, out) == (0, "done 0\n")
    text = f"{head}if kv.rank == 1: sys.exit()\nkv.leave()\n1 / 0\n"
    assert run(text, flags=["-n", "2"])[0] == 1
    assert run(f"{head}if kv.rank == 1: sys.exit(7)\n", flags=["-n", "2"])[0] == 7
    code, out, err = run(f"{head}kv.rank == 0 or 1 / 0\nprint('done', kv.rank)\n", flags=["-n", "2"])
    assert (code, out) == (1, "done 0\n")
    assert f'Traceback (most recent call last):\n  File "{Path("script.py").absolute()}", line 4, in <module>' in err
    assert "ZeroDivisionError" in err


@pytest.mark.clause("run/workers-hint")
def test_a_script_without_its_cluster_is_told_of_the_flag(run):
    code, _, err = run("import mxnet as mx\nmx.kv.create('dist_sync')\n")
    assert code == 1
    said = "refimpl run: the script is one of several workers; `refimpl run -n 2` runs two of them"
    assert err.splitlines()[-2] == said


@pytest.mark.clause("Cli/servers-need-workers")
def test_servers_without_workers_are_refused(run):
    code, out, err = run("print('ran')\n", flags=["-s", "2"])
    assert (code, out) == (2, "")
    assert "--servers 2 needs --workers" in err
    assert "Cli/servers-need-workers" in err
    assert run("print('ran')\n", flags=["-n", "0"])[:2] == (2, "")


@pytest.mark.clause("run/report")
def test_a_script_that_needs_nothing_is_told_nothing(run):
    assert run("import numpy as np\nprint(np.ones(1))\n", flags=["--cpu"]) == (0, "[1.]\n", "")


@pytest.mark.clause("run/report")
def test_the_report_comes_last_and_after_failures_too(run):
    text = "import mxnet as mx, numpy as np, sys\nmx.gpu(1)\nnp.product([1])\n"
    text += "sys.stderr.write('mine\\n')\nraise KeyError(3)\n"
    code, _, err = run(text, flags=["--cpu"])
    assert code == 1
    assert err.startswith("mine\nTraceback")
    lines = err.splitlines()
    assert lines[-4] == "KeyError: 3"
    assert [line.split()[2] for line in lines[-3:]] == ["import", "gpu(1)", "np.product"]
    assert np.__version__ in lines[-1]


@pytest.mark.clause("Cli/script-exists")
def test_a_script_has_to_be_there(capsys):
    assert cli.run(["run", "nowhere.py"]) == 2
    assert "Cli/script-exists" in capsys.readouterr().err
    assert cli.run(["run", "."]) == 2
    assert "Cli/script-exists" in capsys.readouterr().err
