"""Scales and marks."""

import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import truerisk as tr
from truerisk.report.figure import evenly_spread_positions, find_corner_indices
from truerisk.report.svg import Drawing, PixelScale, round_ticks, tick_text


@settings(max_examples=60, deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 9))
def test_round_ticks_lie_inside_and_are_evenly_spaced(low, width, about):
    ticks = round_ticks(low, low + width, about)
    assert all(low - 1e-6 * width <= tick <= low + width * (1 + 1e-6) for tick in ticks)
    assert len(ticks) <= 2 * about + 1
    gaps = [b - a for a, b in pairwise(ticks)]
    assert all(gap == pytest.approx(gaps[0]) for gap in gaps)


def test_pixel_scale_maps_its_ends():
    """Also a logarithmic one, whose ticks are powers of ten; without width it has its middle."""
    assert [PixelScale(0, 2, 10, 20)(v) for v in (0, 1, 2)] == [10, 15, 20]
    assert [PixelScale(1, 100, 0, 10, log=True)(v) for v in (1, 10, 100)] == [0, 5, 10]
    assert PixelScale(3, 3, 0, 10)(3) == 5
    assert PixelScale(0.005, 200, 0, 1, log=True).ticks(6) == [0.01, 0.1, 1, 10, 100]
    assert len(PixelScale(1e-9, 1e9, 0, 1, log=True).ticks(6)) <= 7


def test_tick_text_is_short():
    said = [tick_text(v) for v in (0.1, 1e-5, 20.0, 1e6, -0.5)]
    assert said == ["0.1", "1e-5", "20", "1e6", "−0.5"]


def test_drawing_is_sound_xml_whatever_it_says():
    hostile = "</svg><script>alert('1')</script>\"&"
    drawing = Drawing(hostile, hostile, 100, PixelScale(0, 1, 0, 100), PixelScale(0, 1, 100, 0))
    drawing.left_axis(hostile)
    drawing.bottom_axis(hostile)
    drawing.line([0, 1], [0, 1], "s0")
    drawing.band([0, 1], [0, 0], [1, 1], "s0")
    drawing.point(0.5, 0.5, "s0", hostile, shape="diamond")
    drawing.bar(0, 1, 0, 1, "s0", hostile)
    drawing.row_label(0.5, hostile)
    drawing.note(0.5, hostile)
    drawing.box([0, 0.2, 0.4, 0.6, 1], 0.5, 5, "s0", hostile)
    drawing.cell(0, 0, 3, hostile)
    drawing.cell_text(0, 0, 3, hostile)
    drawing.column_labels({0.5: hostile}, hostile)
    root = ET.fromstring(str(drawing.svg("name")))
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags == {"svg", "title", "desc", "text", "line", "path", "rect"}
    assert hostile in {element.text for element in root.iter()}


@pytest.mark.parametrize(("n", "most"), [(5, 10), (10, 10), (1000, 10)])
def test_thinned_keeps_the_ends(n, most):
    kept = evenly_spread_positions(n, most)
    assert kept[0] == 0
    assert kept[-1] == n - 1
    assert len(kept) == min(n, most)


def test_corners_keep_the_line_and_its_area():
    """Points on straight pieces go, all others stay: the area under a ROC curve is the AUC."""
    rng = np.random.default_rng(0)
    y = rng.random(900) < 0.4
    roc = tr.RocCurve.from_scores(y, y + rng.standard_normal(900))
    at = find_corner_indices(roc.fpr, roc.tpr)
    assert len(at) < len(roc.fpr)
    right, up, tpr = np.diff(roc.fpr[at]), np.diff(roc.tpr[at]), roc.tpr[at]
    assert right @ (tpr[1:] + tpr[:-1]) / 2 == pytest.approx(roc.auc, abs=1e-12)
    assert not (right * up).any()  # no slanted step: no two scores are equal
    # Points without weight stand on others.
    assert find_corner_indices(np.array([0, 0, 0, 1, 1]), np.array([0, 0.5, 0.5, 0.5, 1])) == [
        0,
        2,
        3,
        4,
    ]
    assert find_corner_indices(np.zeros(3), np.zeros(3)) == [0, 2]
