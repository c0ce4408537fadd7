"""Each figure draws the numbers that it tabulates, and is left out where it has none."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from matplotlib.cbook import boxplot_stats
from tests.report.conftest import draw_any

import truerisk as tr
from truerisk.core.formats import number
from truerisk.core.tables import five_numbers
from truerisk.report.curves import draw_curves, draw_heat
from truerisk.report.ladder import draw_boxes, draw_ladder, draw_stability
from truerisk.report.rates import draw_calibration


@pytest.fixture
def document(content):
    return tr.Assessment.from_dict(content)


def said(figure) -> str:
    """Everything that a drawing says."""
    return str(figure.svg)


def test_the_ladder_has_every_learner_and_the_whole_search(document, found):
    """Apparent, selected, honest, interval and optimism of each, as the assessment has them."""
    table = draw_ladder(document).table
    assert [row[0] for row in table.rows] == [*found.ranking, "whole search"]
    for row in table.rows[:-1]:
        one = found.learners[row[0]]
        selected = None if one.selected is None else one.selected.value
        expected = (one.apparent.value, selected, one.risk.value)
        assert row[1:4] == tuple(number(v) for v in expected)
        assert row[4] == str(one.risk.interval)
    assert table.rows[-1][3] == number(found.choice.value)


def test_a_far_baseline_is_named_and_not_drawn(content):
    """A constant answer ten times as bad would press all others into a corner."""
    far = draw_ladder(tr.Assessment.from_dict({**content, "baseline": 9.0}))
    near = draw_ladder(tr.Assessment.from_dict({**content, "baseline": 0.3}))
    assert 'class="baseline"' not in said(far)
    assert "beyond the axis" in far.keys[-1].text
    assert 'class="baseline"' in said(near)


def test_a_curve_has_every_criterion_and_marks_what_each_chooses(document, found):
    """One line and one ring per criterion; the table marks the chosen settings."""
    (figure,) = draw_curves("knn", document.learners["knn"], document, 0)
    curve = found.curves["knn"]
    assert said(figure).count('class="line') == 2
    assert said(figure).count("point ring") == 2
    chosen = [row for row in figure.table.rows if "← chosen" in row[1]]
    assert [row[0] for row in chosen] == [f"n_neighbors={curve.best_params['n_neighbors']}"]
    assert number(curve.values[0]) in figure.table.rows[0][1]
    told = [row for row in figure.table.rows if "may be best (95 %)" in row[1]]
    assert len(told) == len(curve.best_set(0.95)) - 1 > 0


def test_a_criterion_in_another_loss_has_its_own_drawing(content):
    """An AIC and an error share no axis."""
    changed = copy.deepcopy(content)
    for one in changed["learners"]["knn"]["criteria"]["loo"]["estimates"]:
        one["scoring"] = "aic"
    document = tr.Assessment.from_dict(changed)
    figures = draw_curves("knn", document.learners["knn"], document, 0)
    assert [figure.title for figure in figures] == [
        "knn: zero-one risk against its settings",
        "knn: aic risk against its settings",
    ]


def test_a_setting_without_risk_is_a_gap(content):
    """A candidate whose fit failed has no point and a dash in the table."""
    changed = copy.deepcopy(content)
    changed["learners"]["knn"]["curve"]["estimates"][1]["value"] = None
    document = tr.Assessment.from_dict(changed)
    (figure,) = draw_curves("knn", document.learners["knn"], document, 0)
    assert figure.table.rows[1][1].startswith("–")


def test_two_parameters_make_a_heat_grid(document, found):
    """A full grid of two is shaded; the frame is on the chosen cell."""
    figure = draw_heat("tree", document.curves["tree"], "heat")
    values = found.curves["tree"].values
    cells = [cell for row in figure.table.rows for cell in row[1:]]
    assert sorted(cells) == sorted(number(v) for v in values)
    assert said(figure).count('class="frame"') == 1
    assert said(figure).count('class="cell') == 6
    assert draw_heat("knn", document.curves["knn"], "heat") is None


def test_boxes_are_tukeys():
    """Quartiles and whiskers are matplotlib's."""
    values = np.random.default_rng(0).gamma(2.0, size=57)
    stats = boxplot_stats(values)[0]
    expected = [stats[name] for name in ("whislo", "q1", "med", "q3", "whishi")]
    np.testing.assert_allclose(five_numbers(values), expected)


def test_boxes_need_random_splits(content):
    """Without Monte-Carlo risks there is no box; with them one per learner."""
    assert draw_boxes(tr.Assessment.from_dict(content)) is None
    risks = {name: [0.1, 0.2, 0.4] for name in content["learners"]}
    figure = draw_boxes(tr.Assessment.from_dict({**content, "monte_carlo": risks}))
    assert said(figure).count('class="box') == 3
    assert figure.table.rows[0][1:] == (
        "3",
        "0.1000",
        "0.1500",
        "0.2000",
        "0.3000",
        "0.4000",
        "0.2333",
    )


def test_calibration_has_a_point_per_bin(document, found):
    """Probabilities, shares and counts are those of the assessment."""
    figure = draw_calibration(document.calibration)
    assert len(figure.table.rows) == len(found.calibration.counts)
    assert figure.table.rows[0][1] == number(found.calibration.observed[0])


def test_stability_counts_the_outer_choices(document, found):
    """The counts of each learner add up to its outer splits; the chosen setting comes first."""
    rows = draw_stability(document).table.rows
    for name in ("knn", "tree"):
        mine = [row for row in rows if row[0] == name]
        assert (
            sum(int(row[2].split()[0]) for row in mine) == found.learners[name].stability.n_splits
        )
    assert "bayes" not in {row[0] for row in rows}


def test_what_is_not_there_is_left_out(content):
    """A null in the JSON is no figure."""
    assert '<section id="calibration"' in draw_any(content)
    assert '<section id="calibration"' not in draw_any({**content, "calibration": None})
