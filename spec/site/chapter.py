"""A chapter as the site shows it: its links lead to pages of the site."""

from __future__ import annotations

import re
from pathlib import Path

from spec.site import operator_pages
from spec.trace import ROOT, chapters

ABOUT = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
"""What lies beside README.md and is a page of the site too."""
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)")
COMMENT = re.compile(r"^<!--.*-->\n?", re.MULTILINE)


def chapter(file: Path) -> str:
    """A chapter's text: links to files that are no chapters lead to the pages of these files."""
    return with_links_aimed(COMMENT.sub("", file.read_text(encoding="utf-8")), file)


def with_links_aimed(text: str, file: Path) -> str:
    """The text of a file, its links led to pages of the site; ValueError where one leads to a folder, say."""

    def aimed(link: re.Match[str]) -> str:
        there = (file.parent / link[1]).resolve()
        inside = there.relative_to(ROOT)
        if there == ROOT / "README.md":
            return f"]({link[1].removesuffix('README.md')}index.md{link[2] or ''})"
        if there in chapters() or inside.as_posix() in ABOUT or (there.suffix == ".svg" and there.is_file()):
            return link[0]
        if inside.parts[0] == "kernels" and there.suffix == ".py":
            up = "../" * (len(file.relative_to(ROOT).parts) - 1)
            return f"]({up}{operator_pages.document(inside)}.md)"
        if there.suffix == ".py" and there.is_file():
            return f"](file:{inside.as_posix()}{link[2] or ''})"
        raise ValueError(f"{file.relative_to(ROOT)} links to {link[1]}, which is not on the site")

    # Whole blocks of code and code in lines are left alone.
    parts = re.split(r"(^```.*?^```$|`[^`\n]+`)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if number % 2 else LINK.sub(aimed, part) for number, part in enumerate(parts))
