"""Tables of pickles that call nothing: those that must be refused, and those that are read as data."""

from __future__ import annotations

import struct
from typing import Any

import refimpl as mx
from refimpl.ndarray.file_format import record
from refimpl.optimizer.revival import DEEPEST

SGD_OBJECT = b"cmxnet.optimizer.optimizer\nSGD\n)\x81"
ARRAY = b"cmxnet.ndarray.ndarray\nNDArray\nN\x85R"
HUGE = 2**63 - 1
RECORD = record(mx.nd.zeros(20_000))


def colliding(count: int) -> bytes:
    """Whole numbers with one hash."""
    numbers = ((2**61 - 1) * k for k in range(1, count))
    return b"(" + b"".join(b"\x8a" + bytes([len(raw)]) + raw + b"N" for raw in map(_raw, numbers)) + b"d"


def _raw(number: int) -> bytes:
    return number.to_bytes(number.bit_length() // 8 + 1, "little", signed=True)


def again(maker: bytes, arguments: bytes, count: int) -> bytes:
    """A list of what many calls with the same arguments make."""
    return maker + b"q\x000" + arguments + b"q\x010(" + b"h\x00h\x01R" * count + b"l"


def laughing(doubling: bytes, levels: int = 64) -> bytes:
    """A value that holds the same value twice, that holds the same value twice, ..."""
    return b"\x80\x02N" + doubling * levels


REFUSED = {
    # outside
    "PERSID": b"Pobject 7\n",
    "BINPERSID": b"K\x01Q",
    "NEXT_BUFFER": b"\x97",
    "READONLY_BUFFER": b"C\x01x\x98",
    "NEXT_BUFFER, read-only": b"\x97\x98",
    # what no state is made of
    "EMPTY_SET": b"\x8f",
    "FROZENSET": b"(K\x01\x91",
    "ADDITEMS": b"\x8f(K\x01\x90",
    "NEWOBJ_EX": SGD_OBJECT[:-2] + b")}\x92",
    "a class": SGD_OBJECT[:-2],
    "a protocol of the future": b"\x80\x06N",
    "protocol 255": b"\x80\xffN",
    # the memo
    "GET of nothing": b"g0\n",
    "BINGET of nothing": b"h\x05",
    "LONG_BINGET of nothing": b"j\xff\xff\xff\xff",
    "GET, negative": b"Np-1\ng-2\n",
    "GET, huge": b"g" + b"9" * 300 + b"\n",
    "GET, endless": b"g" + b"9" * 10**6 + b"\n",
    "GET, no number": b"gx\n",
    "PUT of nothing": b"p0\n",
    "MEMOIZE of nothing": b"\x94",
    "PUT, no number": b"Np1_0\n",
    "PUT, huge": b"Np" + b"9" * 19 + b"\n",
    "PUT, negative": b"Np-1\n",
    # the stack and its marks
    "an empty program": b"",
    "POP of nothing": b"00",
    "POP_MARK without a mark": b"1",
    "DUP of nothing": b"02",
    "below a mark": b"K\x01(\x851",
    "a mark left over, before": b"(}",
    "TUPLE, no mark": b"t",
    "TUPLE2 across a mark": b"N(N\x86",
    "APPENDS, no mark": b"](",
    "REDUCE of nothing": b")R",
    "BUILD of nothing": b"}b",
    "STACK_GLOBAL of numbers": b"K\x01K\x02\x93",
    "OBJ of nothing": b"(o",
    "INST without a mark": b"ios\nsystem\n",
    "REDUCE of text": b"U\x02ab)R",
    "REDUCE of an object": SGD_OBJECT + b")R",
    "REDUCE with a list": b"cbuiltins\nbytearray\n]R",
    "NEWOBJ of a number": b"K\x01)\x81",
    "BUILD of a dict": b"}}b",
    "BUILD of a list": b"]}b",
    "BUILD of a class": SGD_OBJECT[:-2] + b"}b",
    "APPEND to a dict": b"}Na",
    "APPEND to bytes": b"\x96\x01\0\0\0\0\0\0\0xK\x01a",
    "SETITEM of a list": b"]K\x00Ns",
    "SETITEM of an object": SGD_OBJECT + b"K\x01Ns",
    "SETITEMS, odd": b"}(K\x01u",
    "DICT, odd": b"(K\x01d",
    "two values": b"}}",
    "a mark left over": b"}(",
    # keys
    "a list as a key": b"}]Ns",
    "a tuple as a key": b"})Ns",
    "an object as a key": b"}" + SGD_OBJECT + b"Ns",
    "a class as a key": b"}cbuiltins\nobject\nNs",
    "a large key": b"}\x8a\x08\0\0\0\0\0\0\0\x10Ns",
    # lengths that lie
    **{
        f"{name}, longer than the file": b"\x80\x05" + operation
        for name, operation in {
            "BINSTRING": b"T\xff\xff\xff\x7f",
            "BINSTRING, negative": b"T\xff\xff\xff\xff",
            "SHORT_BINSTRING": b"U\xff",
            "BINUNICODE": b"X\xff\xff\xff\xff",
            "SHORT_BINUNICODE": b"\x8c\xff",
            "BINUNICODE8": b"\x8d" + struct.pack("<Q", HUGE),
            "BINBYTES": b"B\xff\xff\xff\xff",
            "SHORT_BINBYTES": b"C\xff",
            "BINBYTES8": b"\x8e" + b"\xff" * 8,
            "BYTEARRAY8": b"\x96" + b"\xff" * 8,
            "LONG1": b"\x8a\xff",
            "LONG4": b"\x8b\xff\xff\xff\x7f",
            "LONG4, negative": b"\x8b\xff\xff\xff\xff",
            "BININT": b"J\x01",
            "BINFLOAT": b"G\0\0",
            "FRAME": b"\x95" + b"\xff" * 8,
            "FRAME, by one": b"\x95\x02\0\0\0\0\0\0\0",
            "INT": b"I123",
            "PROTO": b"\x80",
        }.items()
    },
    # numbers and text
    "LONG4 of a megabyte": b"\x8b" + struct.pack("<i", 10**6) + b"\x7f" * 10**6,
    "INT of a megabyte": b"I" + b"9" * 10**6 + b"\n",
    "LONG of a megabyte": b"L" + b"9" * 10**6 + b"L\n",
    "FLOAT of a megabyte": b"F" + b"9" * 10**6 + b"\n",
    "INT, hexadecimal": b"I0x10\n",
    "INT, spaces": b"I 1 \n",
    "INT, no digits": b"I\n",
    "LONG, no digits": b"LL\n",
    "FLOAT, no digits": b"F\n",
    "FLOAT, text": b"Fone\n",
    "STRING, no quotes": b"Sx\n",
    "STRING, one quote": b"S'\n",
    "STRING, two kinds": b"S'x\"\n",
    "STRING, escape": b"S'\\N{DIGIT ONE}'\n",
    "STRING, cut escape": b"S'\\x4'\n",
    "STRING, open escape": b"S'\\'\n",
    "UNICODE, half a character": b"V\\ud800\n",
    "UNICODE, beyond Unicode": b"V\\Uffffffff\n",
    "BINUNICODE, half a character": b"X\x03\0\0\0\xed\xa0\x80",
    "BINUNICODE, not UTF-8": b"X\x01\0\0\0\xff",
    "bytes of wide text": b"c_codecs\nencode\n(V\\u20ac\nVlatin1\ntR",
    "bytes by a codec": b"c_codecs\nencode\n(Vabc\nVrot13\ntR",
    "bytes by idna": b"c_codecs\nencode\n(V" + b"a" * 10**5 + b"\nVidna\ntR",
    "bytes by a size": b"cbuiltins\nbytearray\n(I1000000000000\ntR",
    "bytes of a list": b"cbuiltins\nbytearray\n((I1\nltR",
    "an operation that is none": b"\xfe",
    "text after all": b"hello",
    # objects
    "an object's state, no dict": SGD_OBJECT + b"]b",
    "an object's state, of slots": SGD_OBJECT + b"N}U\x02lrK\x01s\x86b",
    "an attribute without a name": SGD_OBJECT + b"}K\x01K\x02sb",
    "an attribute's name of bytes": SGD_OBJECT + b"}C\x02lrK\x01sb",
    "a hidden method": SGD_OBJECT + b"}U\x06updateNsb",
    "a hidden special method": SGD_OBJECT + b"}U\x0c__getstate__Nsb",
    "a hidden property": SGD_OBJECT + b"}U\x0dlearning_rateK\x01sb",
    "a hidden class": SGD_OBJECT + b"}U\x09__class__Nsb",
    "a hidden call": b"cmxnet.lr_scheduler\nPolyScheduler\n)\x81}U\x08__call__Nsb",
    "a rate of text": SGD_OBJECT + b"}U\x02lrU\x01xsb",
    "counts of text": SGD_OBJECT + b"}U\x18_all_index_update_countsU\x01xsb",
    "counts of numbers": SGD_OBJECT + b"}U\x18_all_index_update_counts}K\x00K\x01ssb",
    "a group size of text": SGD_OBJECT + b"}U\x0daggregate_numU\x01xsb",
    "a scheduler that is none": SGD_OBJECT + b"}U\x0clr_scheduler}sb",
    "an optimizer as a scheduler": SGD_OBJECT + b"}U\x0clr_scheduler" + SGD_OBJECT + b"}bsb",
    "a schedule that stands still": b"cmxnet.lr_scheduler\nFactorScheduler\n)\x81}U\x04stepK\x00sb",
    "a schedule of text": b"cmxnet.lr_scheduler\nMultiFactorScheduler\n)\x81}U\x04step]U\x01xasb",
    "a schedule of a text": b"cmxnet.lr_scheduler\nPolyScheduler\n)\x81}U\x07base_lrU\x01xsb",
    "an object of object": b"cbuiltins\nobject\n)\x81}b",
    "Python 2: a base that is not object": b"ccopy_reg\n_reconstructor\n(cmxnet.optimizer\nSGD\n"
    b"cmxnet.optimizer\nSGD\nNtR}b",
    "Python 2: a state beside the class": b"ccopy_reg\n_reconstructor\n(cmxnet.optimizer\nSGD\n"
    b"c__builtin__\nobject\n(tK\x01tR",
    "Python 2: itself": b"ccopy_reg\n_reconstructor\n(ccopy_reg\n_reconstructor\nc__builtin__\nobject\nNtR",
    "a dict of no pairs": b"ccollections\nOrderedDict\n((K\x01ltR",
    "a dict of a number": b"ccollections\nOrderedDict\n(K\x01tR",
    # arrays and numbers of NumPy
    "an array without a state": ARRAY,
    "an array of nothing": ARRAY + b"}U\x06handleC\x00sb",
    "an array of a list": ARRAY + b"}U\x06handle]sb",
    "an array of noise": ARRAY + b"}U\x06handleC\x08noisyyyysb",
    "an array of four exabytes": ARRAY
    + b"}U\x06handleC"
    + bytes([0x24])
    + bytes.fromhex("c9fa93f9 00000000 01000000 ffffffffffffff0f 01000000 00000000 00000000 0000803f")
    + b"sb",
    "a type of objects": b"cnumpy\ndtype\n(U\x01OK\x00K\x01tR",
    "a type of records": b"cnumpy\ndtype\n(U\x05f4,f4K\x00K\x01tR",
    "a type of itself": b"cnumpy\ndtype\n(cnumpy\ndtype\nK\x00K\x01tR",
    "a type of a size": b"cnumpy\ndtype\n(U\x0bV1000000000tR",
    "a number of no type": b"cnumpy.core.multiarray\nscalar\n(K\x01C\x01xtR",
    "a number of too few bytes": b"cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(U\x02f8K\x00K\x01tRC\x01xtR",
    # cycles
    "a list in itself": b"]q\x00h\x00a",
    "a dict in itself": b"}q\x00K\x00h\x00s",
    "a tuple in itself": b"(]q\x00tq\x010h\x00h\x01a",
    "an array in itself": ARRAY + b"q\x00}U\x06handleh\x00sb",
    "an object of Python 2 with a value of its own": (
        b"ccopy_reg\n_reconstructor\n(cmxnet.optimizer.optimizer\nSGD\nc__builtin__\nobject\nK\x05tR}b"
    ),
    # much of little
    "laughing tuples": laughing(b"2\x86"),
    "laughing lists": laughing(b"q\x000(h\x00h\x00l"),
    "laughing dicts": laughing(b"q\x000(K\x00h\x00K\x01h\x00d"),
    "laughing thirds": laughing(b"22\x87"),
    "laughing keys": b"}" + laughing(b"2\x86")[2:] + b"Ns",
    "laughing as a number's type": b"cnumpy\ndtype\n" + laughing(b"2\x86")[2:] + b"\x85R",
    "deep tuples": b"N" + b"\x85" * 20_000,
    "deep lists": b"(" * 20_000 + b"l" * 20_000,
    "deep dicts": b"(K\x00" * 10_000 + b"N" + b"d" * 10_000,
    "deep arrays": ARRAY + b"}U\x06handleN" + b"\x85" * 20_000 + b"sb",
    "many marks": b"(" * 50_000,
    "keys of one hash": colliding(5_000),
    "keys of one hash, later": b"}" + colliding(5_000)[:-1] + b"u",
    "PUT of numbers of one hash": b"N" + b"".join(b"p%d\n" % ((2**61 - 1) * k) for k in range(1, 20_000)),
    "one list as many dicts": again(
        b"ccollections\nOrderedDict\n",
        b"(" + b"".join(b"J%sN\x86" % struct.pack("<i", k) for k in range(5_000)) + b"l\x85", 5_000,
    ),
    "one text as many bytes": again(
        b"c_codecs\nencode\n", b"X" + struct.pack("<I", 100_000) + b"x" * 100_000 + b"\x85", 25_000,
    ),
    "one record as many arrays": (
        b"cmxnet.ndarray.ndarray\nNDArray\nq\x000}U\x06handleB" + struct.pack("<I", len(RECORD)) + RECORD
        + b"sq\x010(" + b"h\x00)Rh\x01b" * 10_000 + b"l"
    ),
}


INERT: dict[str, tuple[bytes, Any]] = {
    "PUT of huge numbers": (b"Np" + b"9" * 18 + b"\nr\xff\xff\xff\xffq\xff", None),
    "frames that lie low": (b"\x80\x04\x95\0\0\0\0\0\0\0\0K\x07\x95\x01\0\0\0\0\0\0\0", 7),
    "many frames": (b"\x80\x04N" + b"\x95\0\0\0\0\0\0\0\0" * 20_000, None),
    "many protocols": (b"\x80\x02" * 20_000 + b"N", None),
    "a long number": (b"\x8a\xff" + b"\x7f" * 255, int.from_bytes(b"\x7f" * 255, "little")),
    "infinity": (b"F-inf\n", float("-inf")),
    "truth of protocol 0": (b"(I01\nI00\nl", [True, False]),
    "text of Python 2": (rb"S'\x00\xff\\\'\n'" + b"\n", "\0\xff\\'\n"),
    "double quotes": (b'S"it\'s"\n', "it's"),
    "halves of a character": (rb"V\ud83d\ude00" + b"\n", "\U0001f600"),
    "a whole character": (b"\x8c\x04\xf0\x9f\x98\x80", "\U0001f600"),
    "control characters": (b"\x8c\x05\x1b[2J\0", "\x1b[2J\0"),
    "BYTEARRAY8": (b"\x96\x02\0\0\0\0\0\0\0ab", b"ab"),
    "bytes of Python 2": (b"c__builtin__\nbytearray\n(Va\\u00ff\nS'latin-1'\ntR", b"a\xff"),
    "no bytes": (b"cbuiltins\nbytearray\n)R", b""),
    "an ordered dict of Python 2": (b"ccollections\nOrderedDict\n(((K\x01K\x02lltR", {1: 2}),
    "an ordered dict": (b"ccollections\nOrderedDict\n)RK\x01K\x02sNb", {1: 2}),
    "bytes by no call": (b"c_codecs\nencode\n)\x81}b", b""),
    "no array": (ARRAY + b"}U\x06handleNsb", None),
    "what was thrown away": (b"(]}((001N", None),
    "a number with its high byte first": (
        b"cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(S'f4'\nI0\nI1\ntR(I3\nS'>'\nNNNI-1\nI-1\nI0\ntb"
        rb"S'\x3f\x80\x00\x00'" + b"\ntR", 1.0,
    ),
    "the same list twice": (b"]q\x00h\x00\x86", ([], [])),
    "os.system as text": (b"U\x09os.system", "os.system"),
    "a hundred levels": (b"N" + b"\x85" * (DEEPEST - 2), None),
    "many keys": (
        b"(" + b"".join(b"J" + struct.pack("<i", k) + b"N" for k in range(20_000)) + b"d",
        dict.fromkeys(range(20_000)),
    ),
    "much that is shared": (b"]q\x00(" + b"h\x00" * 20_000 + b"l\x86", None),
}


__all__ = ["INERT", "REFUSED", "laughing"]
