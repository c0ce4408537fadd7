"""Each figure draws the numbers that it tabulates, and is left out where it has none."""

import copy

import numpy as np
import pytest
from matplotlib.cbook import boxplot_stats
from tests.report.conftest import draw_any

import truerisk as tr
from truerisk.core.formats import format_number
from truerisk.core.tables import five_numbers
from truerisk.report.curves import draw_curves, draw_heat_map
from truerisk.report.ladder import draw_boxes, draw_ladder, draw_stability
from truerisk.report.rates import draw_calibration


def test_ladder_has_every_learner_and_the_whole_search(found, content):
    """Apparent, selected, honest and interval of each; a far baseline is named and not drawn."""
    table = draw_ladder(found).table
    assert [row[0] for row in table.rows] == [*found.ranking, "whole search"]
    for row in table.rows[:-1]:
        one = found.learners[row[0]]
        selected = None if one.selected is None else one.selected.value
        expected = (one.apparent.value, selected, one.risk.value)
        assert row[1:4] == tuple(format_number(v) for v in expected)
        assert row[4] == str(one.risk.interval)
    assert table.rows[-1][3] == format_number(found.choice.value)
    far, near = (
        draw_ladder(tr.Assessment.from_dict({**content, "baseline": value})) for value in (9.0, 0.3)
    )
    assert 'class="baseline"' not in far.svg
    assert "beyond the axis" in far.keys[-1].text
    assert 'class="baseline"' in near.svg


def test_curves_mark_what_each_criterion_chooses(found):
    """One line and one ring per criterion; the table marks the chosen settings."""
    (figure,) = draw_curves("knn", found.learners["knn"], found, 0)
    curve = found.curves["knn"]
    assert figure.svg.count('class="line') == figure.svg.count("point ring") == 2
    chosen = [row for row in figure.table.rows if "← chosen" in row[1]]
    assert [row[0] for row in chosen] == [f"n_neighbors={curve.best_params['n_neighbors']}"]
    assert format_number(curve.values[0]) in figure.table.rows[0][1]
    told = [row for row in figure.table.rows if "may be best (95 %)" in row[1]]
    assert len(told) == len(curve.best_set(0.95)) - 1 > 0


def test_curves_of_another_loss_have_their_own_drawing(content):
    """An AIC and an error share no axis; a setting whose fit failed has a dash."""
    changed = copy.deepcopy(content)
    for one in changed["learners"]["knn"]["criteria"]["loo"]["estimates"]:
        one["scoring"] = "aic"
    changed["learners"]["knn"]["curve"]["estimates"][1]["value"] = None
    document = tr.Assessment.from_dict(changed)
    figures = draw_curves("knn", document.learners["knn"], document, 0)
    assert [figure.title for figure in figures] == [
        "knn: zero-one risk against its settings",
        "knn: aic risk against its settings",
    ]
    assert figures[0].table.rows[1][1].startswith("–")


def test_heat_grid_of_two_parameters(found):
    figure = draw_heat_map("tree", found.curves["tree"], "heat")
    values = found.curves["tree"].values
    cells = [cell for row in figure.table.rows for cell in row[1:]]
    assert sorted(cells) == sorted(format_number(v) for v in values)
    assert figure.svg.count('class="frame"') == 1
    assert figure.svg.count('class="cell') == 6
    assert draw_heat_map("knn", found.curves["knn"], "heat") is None


def test_boxes_are_tukeys(content):
    """Quartiles and whiskers are matplotlib's; without Monte-Carlo risks there is no box."""
    values = np.random.default_rng(0).gamma(2.0, size=57)
    stats = boxplot_stats(values)[0]
    expected = [stats[name] for name in ("whislo", "q1", "med", "q3", "whishi")]
    np.testing.assert_allclose(five_numbers(values), expected)
    assert draw_boxes(tr.Assessment.from_dict(content)) is None
    risks = {name: [0.1, 0.2, 0.4] for name in content["learners"]}
    figure = draw_boxes(tr.Assessment.from_dict({**content, "monte_carlo": risks}))
    assert figure.svg.count('class="box') == 3
    means = [mark.xs[0] for mark in figure.drawing.marks if getattr(mark, "css_class", "") == "s1"]
    assert means == pytest.approx([0.7 / 3] * len(risks))
    numbers = ("0.1000", "0.1500", "0.2000", "0.3000", "0.4000", "0.2333")
    assert figure.table.rows[0][1:] == ("3", *numbers)


def test_calibration_has_a_point_per_bin(found, content):
    """Probabilities, shares and counts are those of the assessment; a null is no figure."""
    figure = draw_calibration(found.calibration)
    assert len(figure.table.rows) == len(found.calibration.counts)
    assert figure.table.rows[0][1] == format_number(found.calibration.observed[0])
    assert '<section id="calibration"' in draw_any(content)
    assert '<section id="calibration"' not in draw_any({**content, "calibration": None})


def test_stability_counts_the_outer_choices(found):
    """The counts of each learner add up to its outer splits; what was not tuned has none."""
    rows = draw_stability(found).table.rows
    for name in ("knn", "tree"):
        counted = sum(int(row[2].split()[0]) for row in rows if row[0] == name)
        assert counted == found.learners[name].stability.n_splits
    assert "bayes" not in {row[0] for row in rows}
