"""Sphinx for the site: tools/docs.sh calls it over the folder that stage.py makes."""

import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path[:0] = [str(HERE), str(TOP / "python/src")]

from comments import to_rst  # noqa: E402
from sphinx.ext.autodoc.mock import _MockObject  # noqa: E402

project = "Shoal"
author = "The Shoal authors"
copyright = "The Shoal authors"
release = re.search(r"^project\(shoal VERSION ([0-9.]+)", (TOP / "CMakeLists.txt").read_text(), re.M)[1]
version = release

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "pictures"]
root_doc = "index"
source_suffix = {".md": "markdown"}

# Markdown as it is read elsewhere: links to headings, and pictures in Mermaid's language.
myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

breathe_projects = {name: os.path.join(os.environ["SHOAL_DOCS_BUILD"], name, "xml") for name in ("c", "cpp")}
breathe_default_project = "c"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}

# The package is documented without being built: its compiled part is not needed for that.
autodoc_mock_imports = ["shoal._shoal", "mpi4py", "numpy", "xarray"]
_MockObject.__int__ = lambda self: 0  # constants of the compiled part are taken as numbers
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_use_type_comments = False
# What the pages refer to must be there; types in signatures (of MPI, of NumPy) are on nobody's page here.
nitpick_ignore_regex = [("py:class", ".*"), ("c:identifier", ".*"), ("cpp:identifier", ".*")]

html_theme = "furo"
html_title = f"Shoal {release}"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5f73", "color-brand-content": "#0b5f73"},
    "dark_css_variables": {"color-brand-primary": "#6cc4d8", "color-brand-content": "#6cc4d8"},
}
templates_path = []
pygments_style = "friendly"
highlight_language = "text"


def _docstring(app, what, name, obj, options, lines):
    lines[:] = to_rst(lines)


def setup(app):
    app.connect("autodoc-process-docstring", _docstring)
