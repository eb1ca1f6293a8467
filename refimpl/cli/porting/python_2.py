"""Recognises scripts in Python 2, and advises how to convert them."""

from __future__ import annotations

import re

_TEXT = re.compile(r"'[^']*'|\"[^\"]*\"")
_SAYS_SO = ("Missing parentheses in call to", "multiple exception types must be parenthesized")
_ERROR_LINES = {  # of a line that Python 3 cannot read
    "print": r"^\s*print\b(?!\s*[=(.])",
    "exec": r"^\s*exec\s+[\w\"']",
    "except X, e": r"^\s*except\s+[\w.()]+\s*,\s*\w+\s*:",
    "raise X, message": r"^\s*raise\s+[\w.]+\s*,",
    "<>": r"<>",
    "backticks": r"`",
    "0777": r"\b0\d+\b",
    "1L": r"\b\d+[lL]\b",
    "ur''": r"\b[uU][rR][\"']",
    "tuple parameters": r"(\bdef\s+\w+|\blambda)\s*\(?[^)]*\(",
}
_MODULES = frozenset({
    "cPickle", "cStringIO", "StringIO", "ConfigParser", "Queue", "urllib2", "urlparse", "httplib", "cookielib",
    "commands", "__builtin__", "copy_reg", "HTMLParser", "SocketServer", "thread", "Tkinter",
})
_NAMES = frozenset({
    "xrange", "raw_input", "unicode", "basestring", "long", "unichr", "reduce", "reload", "execfile", "cmp", "file",
})
_METHODS = frozenset({"iteritems", "itervalues", "iterkeys", "has_key"})

ADVICE = "convert it with `2to3 -w {file}` (Python up to 3.12 has 2to3) and run it again"


def is_syntax(error: SyntaxError) -> bool:
    """Whether a file that Python 3 cannot read is Python 2, by the line where reading stopped."""
    message, line = error.msg or "", _TEXT.sub("''", error.text or "").partition("#")[0]
    if message.startswith(_SAYS_SO):
        return True
    if isinstance(error, TabError):
        return True  # Python 2 took a tab for eight blanks
    return any(re.search(pattern, line) for pattern in _ERROR_LINES.values())


def explanation(error: SyntaxError) -> str:
    """One line about a file in Python 2: the place, the syntax, and advice."""
    text = " ".join((error.text or "").split())
    return (
        f"{error.filename}:{error.lineno}: this is Python 2 ({text[:60] or error.msg}); "
        f"{ADVICE.format(file=error.filename)}"
    )


def missing(error: BaseException) -> str | None:
    """The name of Python 2 that an error at run time misses, such as ``xrange``; None for other errors."""
    if isinstance(error, TypeError) and "for >>" in str(error) and "print" in str(error):
        return "print >>file"
    name = getattr(error, "name", None)
    known = (
        (isinstance(error, ImportError) and name in _MODULES)
        or (isinstance(error, NameError) and name in _NAMES)
        or (isinstance(error, AttributeError) and name in _METHODS)
    )
    return name if known else None
