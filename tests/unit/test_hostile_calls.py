"""Every way in which a pickle makes Python's own reader run something; the readers of optimizers refuse each."""

from __future__ import annotations

import contextlib
import copyreg
import pickle
import struct
import sys
from pathlib import Path

import pytest

from .hostile import READERS, refused

HERE = "tests.unit.hostile"
SPRING = f"c{HERE}\nspring\n".encode()
EXTENSION = 0xF00D


def short(text: str) -> bytes:
    """Text by the operation of protocol 4."""
    raw = text.encode()
    return b"\x8c" + bytes([len(raw)]) + raw


def of_class(name: str, operations: bytes) -> bytes:
    """A trap's class, and what is done with it."""
    return f"\x80\x04c{HERE}\n{name}\n".encode("latin-1") + operations


# Each springs its trap under pickle.loads.
CALLS = {
    "REDUCE": SPRING + b"(tR",
    "REDUCE, with arguments": SPRING + b"(I1\nS'x'\ntR",
    "REDUCE, one argument": b"\x80\x02" + SPRING + b"K\x01\x85R",
    "REDUCE, what was recalled": SPRING + b"p5\n0g5\n(tR",
    "REDUCE, in a frame": b"\x80\x04\x95" + struct.pack("<Q", len(SPRING) + 2) + SPRING + b")R",
    "INST": f"(i{HERE}\nspring\n".encode(),
    "OBJ": b"(" + SPRING + b"o",
    "STACK_GLOBAL": b"\x80\x04" + short(HERE) + short("spring") + b"\x93)R",
    "STACK_GLOBAL, of parts recalled": b"\x80\x04"
    + short(HERE)
    + b"\x940"
    + short("spring")
    + b"\x940h\x00h\x01\x93)R",
    "a dotted name": b"\x80\x04" + short("tests.unit") + short("hostile.spring") + b"\x93)R",
    "a function of a class": b"\x80\x04" + short(HERE) + short("OnUse.append") + b"\x93)R",
    "a function of another module": b"\x80\x04"
    + short("os")
    + short("path.os.mkdir")
    + b"\x93"
    + short("sprung")
    + b"\x85R",
    "EXT1": b"\x80\x02\x82\xf0)R",
    "EXT2": b"\x80\x02\x83" + struct.pack("<H", EXTENSION) + b")R",
    "EXT4": b"\x80\x02\x84" + struct.pack("<i", EXTENSION) + b")R",
    "a metaclass": of_class("OnType", b")R"),
    "NEWOBJ": of_class("OnNew", b")\x81"),
    "NEWOBJ_EX": of_class("OnNew", b")}\x92"),
    "a class that is called": of_class("OnInit", b")R"),
    "BUILD, __setstate__": of_class("OnState", b")\x81}b"),
    "BUILD, of slots": of_class("OnSlot", b")\x81N}" + short("slot") + b"K\x01s\x86b"),
    "APPEND": of_class("OnUse", b")\x81K\x01a"),
    "APPENDS": of_class("OnUse", b")\x81(K\x01e"),
    "SETITEM": of_class("OnUse", b")\x81K\x01K\x02s"),
    "SETITEMS": of_class("OnUse", b")\x81(K\x01K\x02u"),
    "ADDITEMS": of_class("OnUse", b")\x81(K\x01\x90"),
    "a key's hash": b"\x80\x04}c" + f"{HERE}\nOnUse\n".encode() + b")\x81K\x01s",
    "a set's hash": b"\x80\x04\x8f(c" + f"{HERE}\nOnUse\n".encode() + b")\x81\x90",
    "a frozen set's hash": b"\x80\x04(c" + f"{HERE}\nOnUse\n".encode() + b")\x81\x91",
    "what is thrown away": of_class("OnEnd", b")\x810N"),
    "eval": b'cbuiltins\neval\n(S\'__import__("os").mkdir("sprung")\'\ntR',
    "exec": b"c__builtin__\nexec\n(S'import os; os.mkdir(\"sprung\")'\ntR",
    "getattr": b"cbuiltins\ngetattr\n(cos\npath\nS'os'\ntRp1\n0cbuiltins\ngetattr\n(g1\nS'mkdir'\ntR(S'sprung'\ntR",
    "functools.partial": b"cfunctools\npartial\n(" + SPRING + b"tR(tR",
    "functools.reduce": b"cfunctools\nreduce\n(" + SPRING + b"(I1\nI2\nltR",
    "builtins.map": b"cbuiltins\nlist\n(cbuiltins\nmap\n(" + SPRING + b"(I1\nltRtR",
    "operator.attrgetter": b"coperator\nattrgetter\n(S'os.mkdir'\ntR(cos\npath\ntR(S'sprung'\ntR",
    "operator.methodcaller": b"\x80\x04coperator\nmethodcaller\n(S'mkdir'\nS'sprung'\ntR"
    + short("os")
    + short("path.os")
    + b"\x93\x85R",
    "a pickle in a pickle": b"cpickle\nloads\n(cbuiltins\nbytes\n(("
    + b"".join(b"I%d\n" % v for v in SPRING + b"(tR.")
    + b"ltRtR",
    "a class made on the spot": b"cbuiltins\ntype\n(S'X'\n(t(S'__init__'\n" + SPRING + b"dtR(tR",
    "copyreg.__newobj__": b"ccopyreg\n__newobj__\n(c" + f"{HERE}\nOnNew\n".encode() + b"tR",
    "copyreg._reconstructor": b"ccopyreg\n_reconstructor\n(" + 2 * f"c{HERE}\nOnInit\n".encode() + b"NtR",
    "object.__new__": b"\x80\x04"
    + short("builtins")
    + short("object.__new__")
    + b"\x93c"
    + f"{HERE}\nOnState\n".encode()
    + b"\x85R}b",
}
PLACES = {
    "alone": (b"", b""),
    "as a state": (b"(I0\n", b"d"),
    "as a key": (b"(", b"I0\nd"),
    "in a tuple": (b"((I1\n", b"tI2\nt"),
    "thrown away": (b"", b"0(d"),
    "thrown away with a mark": (b"((d(", b"1t"),
    "kept in the memo": (b"", b"p9\n0(d"),
    "in an optimizer": (b"(dcmxnet.optimizer.optimizer\nSGD\n)\x81(S'lr_scheduler'\n", b"db\x86"),
    "as an optimizer's state": (b"cmxnet.optimizer.optimizer\nSGD\n)\x81", b"b"),
    "as the bytes of an array": (b"(I0\ncmxnet.ndarray.ndarray\nNDArray\n(NtR(S'handle'\n", b"dbd"),
    "as what an array is made of": (b"(I0\ncmxnet.ndarray.ndarray\nNDArray\n(", b"tRd"),
    "as a class of Python 2": (b"ccopy_reg\n_reconstructor\n(", b"c__builtin__\nobject\nNtR"),
    "as text of bytes": (b"c_codecs\nencode\n(", b"Vlatin1\ntR"),
    "as a type of number": (b"cnumpy\ndtype\n(", b"I0\nI1\ntR"),
    "as a number": (b"cnumpy.core.multiarray\nscalar\n(", b"S'x'\ntR"),
}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True, scope="module")
def _extensions():
    """Two extension codes, one of which Python has used before and so keeps the function of."""
    copyreg.add_extension(HERE, "spring", EXTENSION)
    copyreg.add_extension("tests.unit.test_hostile_calls", "_sprung", 0xF0)
    yield
    copyreg.remove_extension(HERE, "spring", EXTENSION)
    copyreg.remove_extension("tests.unit.test_hostile_calls", "_sprung", 0xF0)


def _sprung() -> None:
    Path("sprung").mkdir()


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_python_would_run_it(call: str) -> None:
    """The traps are armed: the tests below would see them spring."""
    with contextlib.suppress(TypeError, AttributeError, pickle.UnpicklingError):  # after the trap
        pickle.loads(CALLS[call] + b".")
    assert Path("sprung").exists()


@pytest.mark.clause("States/valid", "Command/optimizer")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("place", PLACES)
def test_it_is_refused_wherever_it_stands(place: str, reader: str) -> None:
    before, after = PLACES[place]
    for call in CALLS.values():
        refused(reader, before + call + after + b".")


# --- names ------------------------------------------------------------------------------------------

NAMES = """
os.system posix.system nt.system os.popen os.execv os.spawnl os.remove os._exit posix.fork posixpath.join os.path
subprocess.Popen subprocess.call subprocess.check_output subprocess.getoutput commands.getoutput popen2.popen3
builtins.eval builtins.exec builtins.compile builtins.__import__ builtins.getattr builtins.setattr builtins.open
builtins.globals builtins.vars builtins.type builtins.input builtins.print builtins.map builtins.apply builtins.file
builtins.execfile builtins.memoryview builtins.range builtins.tuple builtins.list builtins.dict builtins.set
builtins.bytes builtins.str builtins.int builtins.complex builtins.super builtins.classmethod
builtins.object.__subclasses__ __builtin__.eval __builtin__.execfile __builtin__.getattr __builtin__.__import__
__builtin__.file __builtins__.eval io.open io.FileIO _io.FileIO pathlib.Path pathlib.PosixPath tempfile.mkdtemp
shutil.rmtree shutil.copy codecs.open _codecs.lookup _codecs.register _codecs.decode codecs.encode
importlib.import_module importlib.reload imp.load_source runpy.run_path runpy._run_code code.InteractiveInterpreter
timeit.timeit pdb.run bdb.Bdb.run cProfile.run trace.Trace pty.spawn platform.popen webbrowser.open
idlelib.autocomplete.AutoComplete.get_entity test.support.script_helper.assert_python_ok types.FunctionType
types.CodeType types.MethodType types.ModuleType ctypes.CDLL ctypes.pythonapi.PyRun_SimpleString _ctypes.dlopen
functools.partial functools.reduce functools.partialmethod operator.attrgetter operator.methodcaller
operator.itemgetter itertools.starmap itertools.repeat itertools.count collections.Counter collections.defaultdict
collections.namedtuple copyreg.__newobj__ copyreg.__newobj_ex__ copyreg.add_extension copyreg.pickle
copyreg._reduce_ex copy_reg.__newobj__ pickle.loads pickle.Unpickler _pickle.loads cPickle.loads dill.loads
cloudpickle.loads joblib.load marshal.loads shelve.open socket.socket urllib.request.urlopen
http.client.HTTPConnection ftplib.FTP smtplib.SMTP asyncio.run threading.Thread multiprocessing.Process signal.signal
sys.exit sys.setrecursionlimit sys.settrace sys.modules atexit.register gc.collect logging.config.listen unittest.main
doctest.testmod site.main venv.create ensurepip.bootstrap sqlite3.connect numpy.load numpy.fromfile numpy.memmap
numpy.array numpy.float64
numpy.core.numeric._frombuffer numpy.core.multiarray.scalar.__reduce__ numpy.testing.rundocs
numpy.testing._private.utils.runstring numpy.f2py.compile numpy.random._pickle.__randomstate_ctor numpy.dtype.__new__
numpy.scalar mxnet.nd.load mxnet.ndarray.ndarray.load mxnet.ndarray.ndarray.array mxnet.kvstore.KVStore
mxnet.kvstore_server.KVStoreServer mxnet.optimizer.optimizer.create mxnet.optimizer.Optimizer.register
mxnet.optimizer.optimizer.SGD.__init__ mxnet.optimizer.optimizer.pickle.loads mxnet.optimizer.get_updater
mxnet.optimizer.optimizer.Updater mxnet.lr_scheduler.LRScheduler.__call__ mxnet.lr_scheduler.cos mxnet.misc.logging
mxnet.operator.CustomOp mxnet.library.load mxnet.gluon.block.Block mxnet.symbol.symbol.Symbol mxnet.image.imread
mxnet.ndarray.NDArray.__del__ refimpl.optimizer.create refimpl.optimizer.states.loads
refimpl.optimizer.optimizer.Optimizer.register refimpl.library.load refimpl.optimizer.updater.Updater
refimpl.recordio.MXRecordIO refimpl.optimizer.optimizer.pickle tests.unit.hostile.Unregistered antigravity.geohash
this.d
""".split()
# What NumPy arrays of Python 2 are made by: read there, refused everywhere else.
MAKERS = ["numpy.ndarray", "numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct"]
SPELLINGS = {
    "GLOBAL": lambda module, name: f"c{module}\n{name}\n(tR".encode(),
    "INST": lambda module, name: f"(i{module}\n{name}\n".encode(),
    "STACK_GLOBAL": lambda module, name: b"\x80\x04" + short(module) + short(name) + b"\x93)R",
    "a dotted name": lambda module, name: b"\x80\x04" + short(module.partition(".")[0])
    + short(".".join([*module.split(".")[1:], name])) + b"\x93)R",
    "no call": lambda module, name: f"c{module}\n{name}\n".encode(),
    "a class of Python 2": lambda module, name: f"ccopy_reg\n_reconstructor\n(c{module}\n{name}\n"
    "c__builtin__\nobject\nNtR".encode(),
}


@pytest.mark.clause("States/valid", "Command/optimizer")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_names_are_refused(spelling: str, reader: str) -> None:
    for each in NAMES:
        module, _, name = each.rpartition(".")
        message = refused(reader, b"(I0\n" + SPELLINGS[spelling](module, name) + b"d.")
        assert each in message, each
        assert "not an optimizer or learning rate scheduler" in message


@pytest.mark.clause("States/valid", "Command/optimizer")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_makers_of_arrays_make_nothing_else(spelling: str, reader: str) -> None:
    for each in MAKERS:
        module, _, name = each.rpartition(".")
        refused(reader, b"(I0\n" + SPELLINGS[spelling](module, name) + b"d.")


@pytest.mark.clause("States/own-classes", "Command/optimizer")
@pytest.mark.parametrize("reader", READERS)
def test_no_module_is_imported_for_its_classes(reader: str) -> None:
    """Not even one that exists and holds an optimizer under that name."""
    Path("hidden_rule.py").write_text("import os\nos.mkdir('sprung')\nSGD = int\n")
    sys.path.insert(0, str(Path.cwd()))
    try:
        refused(reader, b"(I0\nchidden_rule\nSGD\n)\x81}bd.")
    finally:
        sys.path.remove(str(Path.cwd()))


@pytest.mark.clause("States/valid", "Command/optimizer")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("module", "name"),
    [("", ""), (".", "."), ("os", ""), ("", "SGD"), ("mxnet.optimizer", ""), ("mxnet.optimizer", "SGD."),
     ("mxnet.optimizer", ".SGD"), ("mxnet..optimizer", "SGD"), ("mxnet.optimizer ", "SGD"), ("\u00b5mxnet", "NDArray"),
     ("mxnet.optimizer", "SGD\0"), ("x" * 100_000, "y" * 100_000), ("mxnet.optimizer", "\x1b[31mSGD")],
)
def test_odd_names_are_refused_and_shown_safely(module: str, name: str, reader: str) -> None:
    for content in (
        f"c{module}\n{name}\n.".encode(),
        b"\x80\x04X" + struct.pack("<I", len(module.encode())) + module.encode() + b"X" + struct.pack("<I", len(name))
        + name.encode() + b"\x93.",
    ):
        message = refused(reader, content)
        assert message.isprintable()


@pytest.mark.clause("States/valid", "Command/optimizer")
@pytest.mark.parametrize("reader", READERS)
def test_a_refusal_says_where(reader: str) -> None:
    assert "byte 6: it names os.system, which is" in refused(reader, b"}K\x00NNNcos\nsystem\n.")
    assert "byte 1: it names a class by a number" in refused(reader, b"N\x82\x01.")
    assert "byte 3: it ends where 1 more" in refused(reader, b"NNN")
