"""Figures become files."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.papers.figures import Panel, Panels, Series, draw

LINES = Panel("lines", "x", "y", (Series("a", np.arange(5), np.arange(5) ** 2, "k--"),))
POINTS = np.random.default_rng(0).random((2, 60))
COUNTS = Panel("counts", "x", "y", (Series("", *POINTS),), kind="counts")


@pytest.fixture
def figure():
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    return Panels("pair", (LINES, COUNTS, LINES), columns=2)


def test_a_figure_is_written_twice(figure, tmp_path):
    """As PNG and as SVG, in a folder that is made."""
    written = draw([figure], tmp_path / "new" / "folder")
    assert [path.name for path in written] == ["pair.png", "pair.svg"]
    assert written[0].read_bytes().startswith(b"\x89PNG")
    svg = written[1].read_text("utf-8")
    assert svg.startswith("<?xml")
    assert svg.count('<g id="axes_') == 3


def test_equal_figures_are_equal_files(figure, tmp_path):
    """No date, no random identifiers."""
    first, second = draw([figure], tmp_path / "a"), draw([figure], tmp_path / "b")
    for one, other in zip(first, second):
        assert one.read_bytes() == other.read_bytes()


def test_without_figures_nothing_is_written(tmp_path):
    """The folder is there all the same."""
    assert draw([], tmp_path) == []


def test_boxes_are_drawn_and_named(tmp_path):
    """A box per series, its label under it."""
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    from matplotlib.figure import Figure as Canvas

    from truerisk.papers.figures import _draw_panel

    series = tuple(Series(name, np.empty(0), np.arange(5.0)) for name in ("first", "second"))
    ax = Canvas().subplots()
    _draw_panel(ax, Panel("", "", "risk", series, kind="boxes"))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["first", "second"]
    assert ax.get_legend() is None
