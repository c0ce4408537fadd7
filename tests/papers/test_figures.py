"""Figures become files."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.papers.figures import Panel, Panels, Series, draw, mean_line

LINES = Panel("lines", "x", "y", (Series("a", np.arange(5), np.arange(5) ** 2, "k--"),))
POINTS = np.random.default_rng(0).random((2, 60))
COUNTS = Panel("counts", "x", "y", (Series("", *POINTS),), kind="counts")


@pytest.fixture(scope="module")
def figure():
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    return Panels("pair", (LINES, COUNTS), columns=2)


@pytest.fixture(scope="module")
def written(figure, tmp_path_factory):
    """Its files, in a folder that is made."""
    return draw([figure], tmp_path_factory.mktemp("papers") / "new" / "folder")


def test_a_figure_is_written_twice(written):
    """As PNG and as SVG."""
    assert [path.name for path in written] == ["pair.png", "pair.svg"]
    assert written[0].read_bytes().startswith(b"\x89PNG")
    svg = written[1].read_text("utf-8")
    assert svg.startswith("<?xml")
    assert svg.count('<g id="axes_') == 2


def test_equal_figures_are_equal_files(figure, written, tmp_path):
    """No date, no random identifiers."""
    for one, other in zip(written, draw([figure], tmp_path), strict=True):
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


def test_points_have_the_size_that_is_given():
    """And matplotlib's own without one."""
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    from matplotlib.figure import Figure as Canvas

    from truerisk.papers.figures import _draw_panel

    ax, x = Canvas().subplots(), np.arange(3)
    points = Series("", x, x, "o", size=2.5), Series("", x, x, "o")
    _draw_panel(ax, Panel("", "", "", points))
    small, usual = (line.get_markersize() for line in ax.get_lines())
    assert small == 2.5 != usual


def test_a_line_of_means_has_a_band_of_two_standard_errors():
    """One for every line that knows its errors, and none for single curves."""
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    from matplotlib.figure import Figure as Canvas

    from truerisk.papers.figures import _draw_panel

    values = np.random.default_rng(0).normal(size=(100, 4))
    line = mean_line("mean", np.arange(4), values)
    assert line.error == pytest.approx(values.std(axis=0, ddof=1) / 10)
    ax = Canvas().subplots()
    _draw_panel(ax, Panel("", "", "", (line, Series("one", np.arange(4), values[0]))))
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx((line.y + 2 * line.error).max())
    assert heights.min() == pytest.approx((line.y - 2 * line.error).min())


def test_one_replicate_has_no_band():
    """There is no spread."""
    assert mean_line("", np.arange(2), np.ones((1, 2))).error is None


def test_bars_of_two_stand_side_by_side_and_are_named():
    """In two greys, with whiskers and a legend."""
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    from matplotlib.figure import Figure as Canvas

    from truerisk.papers.figures import _draw_panel

    x, error = np.arange(3.0), np.full(3, 0.1)
    both = tuple(Series(name, x, x + 1, error=error) for name in ("a1", "a2"))
    ax = Canvas().subplots()
    _draw_panel(ax, Panel("", "", "", both, kind="bars"))
    bars = [patch for patch in ax.patches if patch.get_height() > 0]
    assert len({patch.get_x() for patch in bars}) == 6
    assert len({patch.get_facecolor() for patch in bars}) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a1", "a2"]
    assert len(ax.collections) == 2


@pytest.mark.parametrize(
    ("word", "n_series"),
    [
        ("wallman-figure-4", [[1, 1, 1]]),
        ("wallman-figure-5", [[2, 2, 2, 2, 2]]),
        ("wallman-posterior", [[4]]),
        ("wallman-figure-1", [[2, 2, 2, 2]]),
        ("wallman-bias", [[3, 3, 1]]),
        ("kearns-figure-1", [[3, 3]]),
        ("kearns-figure-2", [[6, 2]]),
        ("kearns-figure-3", [[3, 5, 2, 2]]),
        ("mehta-rules", [[2, 4]]),
        ("insa-polynomial", [[3, 3, 3, 3], [1, 3]]),
        ("insa-bootstrap", [[3, 7, 5]]),
        ("insa-optimism", [[2 * 30 + 2]]),
        ("insa-decomposition", [[3, 6]]),
        ("bee-figure-1", [[10, 4, 1]]),
    ],
)
def test_every_experiment_draws_its_lines(word, n_series, findings_of):
    """As many panels as the document has, and in each the lines that it is about."""
    figures = findings_of(word).figures
    assert [[len(panel.series) for panel in figure.panels] for figure in figures] == n_series
