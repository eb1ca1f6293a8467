"""Whether the tree may be released under a tag; the release workflow asks before it builds.

    python spec/release.py v0.1.0    exit code 1, and a line for each thing that is not ready
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONED = {
    "pyproject.toml": r'^version = "(.+)"$', "refimpl/libinfo.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$", "CHANGELOG.md": r"^## (\S+)",
}
"""Files that say which version this is, and how."""


def versions(root: Path) -> dict[str, str]:
    """File -> the version that it names first."""
    found = {}
    for name, pattern in VERSIONED.items():
        match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        found[name] = match[1] if match else "no version"
    return found


def problems(root: Path, tag: str) -> list[str]:
    """What stands between a tree and its release, a sentence each."""
    wanted = tag.removeprefix("v")
    found = [
        f"{name} says {version}, the tag says {wanted}" for name, version in versions(root).items() if version != wanted
    ]
    if f"## {wanted} (unreleased)" in (root / "CHANGELOG.md").read_text(encoding="utf-8"):
        found.append(f"CHANGELOG.md calls {wanted} unreleased: write the date there")
    if re.search(r"https?://[^/\"]*\.example\b", (root / "pyproject.toml").read_text(encoding="utf-8")):
        found.append("the project's URLs in pyproject.toml are placeholders: write the repository's address there")
    return found


def main(tag: str) -> int:
    """Print the problems; exit code 1 where there are any."""
    found = problems(ROOT, tag)
    print("\n".join(found) or f"{tag} may be released")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
