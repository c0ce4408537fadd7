"""Sphinx's settings; `make docs` builds with warnings as errors and needs no network."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from docutils import nodes

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import api_names

from truerisk import __version__

project = "truerisk"
author = "The truerisk developers"
copyright = "2026, the truerisk developers; BSD-3-Clause"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "example_report",
    "experiment_pictures",
    "cards",
    "typed_words",
    "api_names",
    "page_cards",
    "for_readers",
]

templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "auto_examples/**/*.ipynb"]
default_role = "code"  # docstrings quote names with single backticks
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
myst_update_mathjax = False
html_math_renderer = "mathml"

autosummary_generate = [f"{page}{api_names.IN_FULL}" for page in api_names.PAGES] + ["api/parts.md"]
autosummary_context = {  # where a name is used, said on its page
    "guide": {
        "HonestSearchCV": ["honest-search", "coming-from", "auto_examples/plot_honest_search"],
        "assess": ["assess", "auto_examples/plot_mixed_table"],
        "audit": ["audit", "gate", "auto_examples/plot_audit"],
        "estimate_risk": ["methods", "scores", "auto_examples/plot_intervals"],
        "risk_curve": ["selection", "auto_examples/plot_risk_curve"],
        "compare": ["compare", "auto_examples/plot_compare"],
        "compare_many": ["compare-many", "auto_examples/plot_many_data_sets"],
        "validate": ["validation", "clinical-model", "auto_examples/plot_validation"],
        "validate_predictions": ["validation", "survival"],
        "permutation_test": ["permutation-test", "auto_examples/plot_permutation_test"],
        "learning_curve": ["learning-curves", "auto_examples/plot_learning_curve"],
        "plan_sample": ["plan"],
        "plan_comparison": ["plan"],
        "audit_table": ["any-search", "auto_examples/plot_optuna"],
        "Ladder": ["ladder"],
        "risk_over_time": ["time", "auto_examples/plot_time"],
        "bayesian_error": ["methods-bayesian"],
        "Study": ["studies", "auto_examples/plot_study"],
        "RiskEstimate": ["intervals", "scores", "gate"],
        "Assessment": ["assess", "report"],
        "RocCurve": ["roc", "auto_examples/plot_threshold"],
        "ErrorPosterior": ["posterior"],
    }
}
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "show-inheritance": False}
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "copyfile_regex": r"index\.rst",
    "within_subsection_order": "gallery_order.ByJob",
    "minigallery_sort_order": "gallery_order.by_job",
    "thumbnail_size": (640, 400),
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "show_signature": False,
    "capture_repr": (),
    "remove_config_comments": True,
    "plot_gallery": True,
    "abort_on_example_error": True,
}

suppress_warnings = ["sphinx_gallery.config"]  # groups name files, and need no back references

html_theme = "pydata_sphinx_theme"
html_title = f"truerisk {release}"
# Where the site will stand, as far as the builder knows: Read the Docs says it, and so can you.
html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL") or os.environ.get("DOCS_URL", "")
html_static_path = ["_static"]
html_css_files = ["house.css"]
html_favicon = "_static/logo.svg"
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_sidebars = {page: [] for page in ("getting-started", "which-call", "404")}  # of no group
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {
        "text": "truerisk",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "alt_text": "",
    },
    "show_toc_level": 2,
    "navigation_depth": 2,
    "collapse_navigation": True,
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": ["this-version"],
    "secondary_sidebar_items": ["page-toc"],
    "use_edit_page_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def left_out(app, what, name, obj, skip, options):
    """scikit-learn's generated `set_*_request` methods link to its own pages: not ours to list."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def trimmed(app, doctree):
    """Drop the empty line that ends an example on a page (and its output, for doctest)."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip("\n")
        if block.rawsource == block.astext() and text != block.rawsource:
            block.rawsource = text
            block.children = []
            block += nodes.Text(text)


def setup(app):
    app.connect("autodoc-skip-member", left_out)
    app.connect("doctree-read", trimmed)
