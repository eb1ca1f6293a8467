"""Sphinx's settings; ``python spec/site/build.py`` hands them to it."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

project = "refimpl"
html_title = "refimpl"
copyright = "the refimpl authors, Apache-2.0"  # noqa: A001  # Sphinx's name
root_doc = "index"
extensions = ["myst_parser", "sphinx_copybutton", "spec.site.rule_links", "spec.site.code_pages"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]  # the entries of the API
myst_disable_syntax = ["html_block", "html_inline"]  # what looks like a tag in prose is shown as it stands
myst_url_schemes = {"http": None, "https": None, "file": None}  # ``file:`` is resolved in clauses.py
suppress_warnings = ["myst.header"]  # a file that starts below the first level

html_theme = "furo"
html_static_path = [str(Path(__file__).parent / "assets")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
templates_path: list[str] = []
highlight_language = "text"  # of blocks that name none
toc_object_entries = False
smartquotes = False  # a quotation mark may be a value

copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
