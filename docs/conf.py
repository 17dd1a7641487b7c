"""How Sphinx builds the site; ``make docs`` calls it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import isthmus

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "isthmus"
author = "The isthmus developers"
copyright = author
version = release = isthmus.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    # Of this project, in docs/_extensions.
    "command_line",
    "llms",
    "mathml",
    "names",
    "references",
]
exclude_patterns = ["_build", "reproduction/*/*", "gallery/**/*.ipynb", "gallery/**/*.py"]
templates_path = ["_templates"]
nitpicky = True
smartquotes = False  # "--drop" is an option, and no dash

# Pages are written in Markdown. Headings get the anchors that GitHub gives them, so that a link
# works there and on the site.
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 4

# Types are in the docstrings, in words; signatures stay short enough for a phone.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
autosummary_ignore_module_all = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# ISTHMUS_GALLERY=skip builds the pages of the gallery without running it.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "plot_gallery": os.environ.get("ISTHMUS_GALLERY", "run") != "skip",
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_",),  # what is shown is printed, drawn, or a table
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "reference_url": {"isthmus": None},
    "doc_module": ("isthmus",),
    "backreferences_dir": None,
    "write_computation_times": False,
}

html_math_renderer = "mathml"
html_theme = "furo"
html_title = "isthmus"
html_baseurl = "https://isthmus-ml.github.io/isthmus/"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = True
html_copy_source = True
html_theme_options = {
    "source_repository": "https://github.com/isthmus-ml/isthmus/",
    "source_branch": "main",
    "source_directory": "docs/",
}
