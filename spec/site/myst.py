"""Text of this tree as MyST: what is prose stays prose, and nothing in it becomes markup by chance."""

from __future__ import annotations

import inspect
import re
import textwrap

CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
MARKUP = re.compile(r"([\\*_\[\]<>|#~$&!{}^])")
SECTION = re.compile(r"(\w+):|(\w+)\n-{3,}")
SECTIONS = {"Args", "Arguments", "Attributes", "Parameters", "Returns", "Raises", "Yields"}
ENTRY = re.compile(r"([*\w, .]+?) ?: (.*)", re.DOTALL)
ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod|obj):(?=`)")


def escaped(text: str) -> str:
    """Plain text, in which only code between backticks is markup."""
    out, end = [], 0
    for code in CODE.finditer(text):
        out += [MARKUP.sub(r"\\\1", text[end : code.start()]), f"``{code[2].strip()}``"]
        end = code.end()
    return "".join([*out, MARKUP.sub(r"\\\1", text[end:]).replace("`", r"\`")])


def fenced(code: str, language: str = "python") -> str:
    """A block of code."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{fence}{language}\n{code.rstrip()}\n{fence}\n"


def docstring(doc: str | None) -> str:
    """A docstring: paragraphs, examples, and its sections (of either usual form) as lists."""
    out, section = [], False
    for block in re.split(r"\n\s*\n", ROLE.sub("", inspect.cleandoc(doc or ""))):
        found = SECTION.match(block)
        name = (found[1] or found[2]) if found else None
        if found and name in SECTIONS and block[found.end() :][:1] in {"", "\n"}:
            section = True
            out += [f"**{name}**\n", _entries(textwrap.dedent(block[found.end() :].lstrip("\n")))]
        else:
            section = section and block.startswith("    ")
            out.append(_entries(textwrap.dedent(block)) if section else _paragraph(block))
    return "\n".join(out)


def _paragraph(block: str) -> str:
    if block.lstrip().startswith((">>>", "-----")) or block.startswith("    "):
        return fenced(textwrap.dedent(block), "text" if ">>>" not in block else "python")
    lines = block.splitlines()
    if all(line.startswith(("- ", "* ", "  ")) for line in lines):
        return "\n".join(line[:2].replace("*", "-") + escaped(line[2:]) for line in lines) + "\n"
    words, indented = [], []
    for line in lines:
        (indented if indented or line.startswith("    ") else words).append(line)
    return escaped("\n".join(words)) + "\n" + ("\n" + fenced("\n".join(indented), "text") if indented else "")


def _entries(block: str) -> str:
    entries: list[str] = []
    for line in block.splitlines():
        if line.startswith(" ") and entries:
            entries[-1] += " " + line.strip()
        else:
            entries.append(line)
    named = ((ENTRY.fullmatch(entry), entry) for entry in entries)
    return "".join(
        f"- ``{found[1]}``: {escaped(found[2])}\n" if found else f"- {escaped(entry)}\n" for found, entry in named
    )
