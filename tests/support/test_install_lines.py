"""`make wheel` types the install lines of the pages."""

from __future__ import annotations

from tests.support.install_lines import PAGES, PURE, ROOT, install_lines, whole


def test_lines_are_read_from_sentences_and_from_blocks():
    """Without the comment beside them, and each once."""
    page = (
        "With `pip install '.[io]'`, or\n\n    pip install .    # in a clone\n\n`pip install .`\n"
    )
    assert install_lines(page) == ["pip install '.[io]'", "pip install ."]


def test_each_page_has_its_lines():
    """Every page names the install in a clone, and the one without a compiler."""
    for page in PAGES:
        text = (ROOT / page).read_text("utf-8")
        assert {"pip install .", f"pip install . -C {PURE}"} <= set(install_lines(text)), page


def test_a_line_is_typed_with_the_one_that_installs_more():
    """A line with another setting of the build is no part of it."""
    lines = {"pip install .", "pip install '.[io]'", f"pip install . -C {PURE}"}
    assert whole(lines) == ["pip install '.[io]'", f"pip install . -C {PURE}"]
