"""How Sphinx builds these pages: `python run.py docs`.

They are written for readers of the repository as well; what Sphinx wants otherwise is said here.
"""

import re

import wengert

project = "wengert"
author = "the wengert authors"
version = release = wengert.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_copy_source = False
html_show_copyright = False

myst_heading_anchors = 3
default_role = "code"  # what docstrings quote is code
autodoc_typehints = "none"

DECISIONS = "\n```{toctree}\n:hidden:\n:glob:\n\n0*\n```\n"


def _for_sphinx(_app: object, page: str, source: list[str]) -> None:
    """Targets in HTML are Sphinx's own, and links to files at the root lead to their pages."""
    text = re.sub(r'<a id="([\w-]+)"></a>', r"(\1)=", source[0])
    text = re.sub(r"\]\((?:\.\./)+([A-Z]+\.md)", r"](/\1", text)
    source[0] = text + DECISIONS if page == "adr/README" else text


def setup(app: object) -> None:
    """Sphinx calls this."""
    app.connect("source-read", _for_sphinx)  # type: ignore[attr-defined]
