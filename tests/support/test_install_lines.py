"""`make wheel` types the install lines of the pages."""

from __future__ import annotations

import re

from tests.support.install_lines import PAGES, PURE, ROOT, install_lines, whole


def test_lines_are_read_from_sentences_and_from_blocks():
    """Without the comment beside them, and each once."""
    page = (
        "With `pip install '.[io]'`, or\n\n    pip install .    # in a clone\n\n`pip install .`\n"
    )
    assert install_lines(page) == ["pip install '.[io]'", "pip install ."]


def test_each_page_has_its_lines():
    """Each page has the install in a clone and the one without a compiler; all install truerisk."""
    for page in PAGES:
        lines = set(install_lines((ROOT / page).read_text("utf-8")))
        assert {"pip install .", f"pip install . -C {PURE}"} <= lines, page
        assert all(re.match(r"pip install ('\.\[|\.)", line) for line in lines), page


def test_a_line_is_typed_with_the_one_that_installs_more():
    """A line with another setting of the build is no part of it."""
    lines = {"pip install .", "pip install '.[io]' pandas", f"pip install . -C {PURE}"}
    assert whole(lines) == ["pip install '.[io]' pandas", f"pip install . -C {PURE}"]
