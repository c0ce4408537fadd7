"""The figures of the page by matplotlib: what is drawn are the numbers of the results."""

from __future__ import annotations

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import Polygon
from sklearn.metrics import auc
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests.support.rms_data import drawn

import truerisk as tr
from truerisk.core.errors import BadArgument, BadData, Refusal, UnknownName
from truerisk.core.tables import five_numbers
from truerisk.results.calibration import Calibration
from truerisk.results.interval import Interval
from truerisk.results.roc import RocCurve
from truerisk.validation.stability import FeatureStability
from truerisk.validation.subgroups import Subgroup, SubgroupRisk, SubgroupRisks, Subgroups

X, Y = tr.datasets.make_difficult(40, random_state=1)
LEARNERS = {"knn": (KNeighborsClassifier(), {"n_neighbors": [1, 7]}), "bayes": GaussianNB()}


@pytest.fixture(scope="module")
def found():
    return tr.assess(LEARNERS, X, Y, cv=["3-fold", "loo"], outer="monte-carlo")


@pytest.fixture(scope="module")
def folded():
    """The same with folds, after which errors can be counted."""
    asked = {"cv": ["3-fold", "loo"], "outer": "4-fold", "learning_curve": "cheap"}
    return tr.assess(LEARNERS, X, Y, **asked)


def lines_of(ax):
    """The lines that are drawn, without those of the legend alone."""
    return [line for line in ax.lines if len(line.get_xdata())]


def points(ax, marker, fill="full"):
    """The x values of the points of this shape."""
    lines = [
        one for one in lines_of(ax) if (one.get_marker(), one.get_fillstyle()) == (marker, fill)
    ]
    return [x for line in lines for x in line.get_xdata()]


def test_estimates_stand_in_rows_beside_what_is_known(found):
    """Each with its interval, in order; a line for each value beside them."""
    auc = tr.HonestSearchCV(
        GaussianNB(), {"var_smoothing": [1e-9]}, scoring=["zero-one", "auc"]
    ).fit(X, Y)
    score, risks = auc.scores_["auc"], found.risks
    ax = risks["knn"].plot(label="tuned", others={"bayes": risks["bayes"]}, beside={"truth": 0.1})
    assert [text.get_text() for text in ax.get_yticklabels()] == ["tuned", "bayes"]
    assert points(ax, "o") == [risks["knn"].value, risks["bayes"].value]
    ends = [tuple(line.get_xdata()) for line in lines_of(ax) if line.get_marker() == "|"]
    assert ends == [(r.interval.low, r.interval.high) for r in (risks["knn"], risks["bayes"])]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["truth"]
    assert [0.1, 0.1] in [list(line.get_xdata()) for line in lines_of(ax)]
    assert points(score.plot(), "o") == [score.value]
    with pytest.raises(BadData, match="there is no risk to draw"):
        replace(score, value=None, interval=None).plot()


def test_the_ladder_is_at_the_risks(found):
    """Honest risks of all learners and of the whole search, from the best down."""
    ax = found.plot_ladder()
    order = found.ranking
    honest = [found.risks[name].value for name in order]
    assert points(ax, "o") == [*honest, found.choice.value]
    tuned = [found.learners[name].selected for name in order if found.learners[name].selected]
    assert points(ax, "D", "none") == [selected.value for selected in tuned]
    assert points(ax, "o", "none") == [found.learners[name].apparent.value for name in order]
    assert [t.get_text() for t in ax.get_yticklabels()] == [*order, "whole search"]


def test_what_are_no_axes_is_refused(found):
    """In a sentence, before anything is drawn."""
    with pytest.raises(BadArgument, match="ax=3: give axes of matplotlib"):
        found.plot_ladder(ax=3)


def test_every_plot_returns_its_axes(found, folded, tmp_path):
    """Each `plot_*()` draws on given axes, and its figure can be saved as SVG and PNG."""
    names = [name for name in dir(found) if name.startswith("plot_")]
    assert len(names) == 9
    for name in names:
        _, ax = plt.subplots()
        assert getattr(found if name == "plot_monte_carlo" else folded, name)(ax=ax) is ax
        for kind in ("svg", "png"):
            ax.figure.savefig(tmp_path / f"{name}.{kind}")
            assert (tmp_path / f"{name}.{kind}").stat().st_size > 1000


def test_what_is_not_there_is_refused_with_the_reason():
    """No random splits, no classes, no tuned learner, no such learner."""
    line = tr.assess({"bayes": GaussianNB()}, X, Y, cv=["3-fold"], outer="4-fold")
    with pytest.raises(Refusal, match="outer='monte-carlo'"):
        line.plot_monte_carlo()
    with pytest.raises(BadData, match="no learner was tuned"):
        line.plot_stability()
    with pytest.raises(Refusal, match=r"assess with learning_curve=\['bayes'\]"):
        line.plot_learning_curve()
    with pytest.raises(UnknownName, match=r"did you mean 'bayes'\? Assessed: bayes\."):
        line.plot_roc(learner="bays")
    from sklearn.linear_model import LinearRegression

    numbers = tr.assess({"line": LinearRegression()}, X, X[:, 0], outer="4-fold")
    for plot in (numbers.plot_roc, numbers.plot_precision_recall):
        with pytest.raises(Refusal, match="no ROC curve"):
            plot()
    with pytest.raises(Refusal, match="no calibration"):
        numbers.plot_calibration()
    with pytest.raises(Refusal, match="no posterior"):
        numbers.plot_posterior()


def test_boxes_have_their_quartiles_and_outliers(found):
    """The box spans the quartiles, and what lies beyond the whiskers is a point."""
    risks = [*np.linspace(0, 1, 11), 9.0]
    content = {**found.to_dict(), "monte_carlo": {"bayes": risks}}
    ax = tr.Assessment.from_dict(content).plot_monte_carlo()
    _, first, _, third, _ = five_numbers(risks)
    box = ax.patches[0]
    assert (box.get_x(), box.get_x() + box.get_width()) == pytest.approx((first, third))
    assert lines_of(ax)[-1].get_xdata().tolist() == [9.0]


def test_shares_start_with_the_chosen_setting(found):
    """The filled part is the agreement."""
    ax = found.plot_stability()
    agreement = found.learners["knn"].stability.agreement
    assert ax.patches[0].get_width() == pytest.approx(100 * agreement)
    assert sum(patch.get_width() for patch in ax.patches) == pytest.approx(100)
    text = [one.get_text() for one in ax.legend().get_texts()]
    assert text == ["the setting chosen on all rows", "others"]  # also in a legend made anew


def test_no_learner_is_left_out():
    """The page shows the first twelve; of a plot all have their rung."""
    risks = {f"bayes {i}": GaussianNB() for i in range(14)}
    ax = tr.assess(risks, X, Y, cv=["3-fold"], outer="3-fold").plot_ladder()
    assert len(ax.get_yticks()) == 14 + 1  # the whole search


# ---------------------------------------------------------------- calibration

BINS = Calibration.of([0, 0, 0, 1] * 10, np.repeat([0.1, 0.2, 0.3, 0.6], 10))


def test_points_are_the_bins():
    """Observed shares over mean probabilities, with bars where there are intervals."""
    ax = BINS.plot()
    (bins,) = [line for line in lines_of(ax) if line.get_marker() == "o"]
    np.testing.assert_array_equal(bins.get_xdata(), BINS.predicted)
    np.testing.assert_array_equal(bins.get_ydata(), BINS.observed)
    bars = [list(line.get_ydata()) for line in lines_of(ax) if len({*line.get_xdata()}) == 1]
    assert bars == [list(ends) for ends in zip(BINS.low, BINS.high, strict=True)]


def test_several_are_drawn_by_name():
    """`others` stand in the legend in a colour of their own; without intervals no bars."""
    bare = Calibration.of([0, 1] * 5, [0.5] * 10, dependent=True)
    _, ax = plt.subplots()
    assert BINS.plot(ax=ax, label="a", others={"b": bare}) is ax
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said == [
        f"a: Brier {BINS.brier:.4f}",
        "perfect calibration",
        f"b: Brier {bare.brier:.4f}",
    ]
    colours = [line.get_color() for line in lines_of(ax) if line.get_marker() == "o"]
    assert len({*colours}) == 2


# ---------------------------------------------------------------- ROC curves

LABELS = np.tile([0, 1], 20)
SCORES = np.round(LABELS + np.random.default_rng(0).normal(size=40), 1)
ROC = RocCurve.of(LABELS, SCORES)


def test_the_line_goes_through_every_point(axes):
    """The corners are drawn, from (0, 0) to (1, 1), and all points lie between; with the area."""
    assert ROC.plot(ax=axes, label="knn") is axes
    diagonal, line = lines_of(axes)
    x, y = line.get_xdata(), line.get_ydata()
    assert {*zip(x, y, strict=True)} <= {*zip(ROC.fpr, ROC.tpr, strict=True)}
    assert auc(x, y) == pytest.approx(ROC.auc)
    for corner in zip(ROC.fpr, ROC.tpr, strict=True):  # it lies on one of the pieces
        assert any(
            min(a, b) <= corner[0] <= max(a, b)
            and min(c, d) <= corner[1] <= max(c, d)
            and (corner[0] - a) * (d - c) == pytest.approx((corner[1] - c) * (b - a))
            for a, b, c, d in zip(x[:-1], x[1:], y[:-1], y[1:], strict=True)
        )
    assert list(diagonal.get_xdata()) == [0, 1]
    first = axes.get_legend().get_texts()[0].get_text()
    assert first == f"knn: AUC {ROC.auc:.3f} {ROC.interval}"


def test_several_curves_and_points_are_drawn_together(axes):
    """One line per learner and the diagonal; an operating point stands where its rates are."""
    point = ROC.at_rate(sensitivity=0.9)
    ROC.plot(ax=axes, others={"other": RocCurve.of(LABELS, -SCORES)}, points=[point])
    assert len(axes.get_legend().get_texts()) == 3
    (marker,) = [line for line in lines_of(axes) if line.get_marker() == "o"]
    assert marker.get_xydata().tolist() == [[1 - point.specificity, point.sensitivity]]


def test_precision_is_drawn_in_steps(axes):
    """Precision holds back to the recall before: the area under the steps is the average."""
    curve = ROC.precision_recall()
    assert curve.plot(ax=axes, others={"other": curve}) is axes
    _, line, *_ = lines_of(axes)
    x, height = line.get_data()
    assert (np.diff(x) * height[1:]).sum() == pytest.approx(curve.average_precision)
    assert (np.diff(x) * np.diff(height) == 0).all()
    assert axes.get_ylabel() == "precision"
    assert len(axes.get_legend().get_texts()) == 3


# ---------------------------------------------------------------- validation


@pytest.fixture(scope="module")
def validated():
    """With optimism."""
    return tr.validate(GaussianNB(), *drawn()[:2], replicates=3)


def drawn_as(ax, values):
    """Whether one of the lines goes through these values."""
    return any(np.array_equal(line.get_ydata(), values) for line in lines_of(ax))


def test_the_calibration_curve_is_held_out_apparent_and_corrected(validated):
    """Three lines, a band, the bars of the probabilities, and the diagonal."""
    curve = validated.calibration.curve
    for ax in (validated.calibration.plot(), curve.plot()):
        assert all(drawn_as(ax, v) for v in (curve.observed, curve.corrected, curve.apparent))
        assert len(lines_of(ax)) == 4
        assert sum(isinstance(patch, Polygon) for patch in ax.patches) == 1
    assert len(validated.calibration.plot().patches) > len(ax.patches) == 1


def test_the_decision_curve_stands_beside_all_and_nobody(validated):
    """Model with its band, treat all with its band; what falls below the axis is cut."""
    _, ax = plt.subplots()
    found = validated.net_benefit
    assert found.plot(ax=ax) is ax
    assert len(ax.patches) == 2
    drawn = found.treat_all[found.treat_all >= ax.get_ylim()[0]]
    assert drawn_as(ax, drawn)
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said == [
        "held-out rows, with their band",
        "corrected for optimism by the bootstrap",
        "treat everybody",
        "treat nobody",
    ]


def test_nothing_is_drawn_of_what_is_not_there():
    """Without samples there is no corrected line."""
    bare = tr.validate(GaussianNB(), *drawn()[:2], replicates=0)
    assert len(lines_of(bare.calibration.plot())) == 3
    assert "corrected" not in str(bare.net_benefit.plot().get_legend().get_texts())


# ---------------------------------------------------------------- subgroups and features

WHOLE = SubgroupRisk(Subgroup("", "all rows", 90, 40), 0.2, 0.05, Interval(0.1, 0.3, "logit-cv"))
LEVELS = (
    SubgroupRisk(Subgroup("site", "a", 60, 30), 0.15, 0.05, Interval(0.05, 0.3, "logit-cv"), 0.18),
    SubgroupRisk(Subgroup("site", "b", 25, 10), 0.3, 0.1, Interval(0.1, 0.6, "logit-cv"), 0.2),
    SubgroupRisk(Subgroup("site", "c", 5, 0), reason="5 rows: at least 10 are needed."),
)


def subgroups_of(perfect):
    """The same lines as a pure loss, or as a score."""
    whole, *levels = (replace(one, perfect=perfect) for one in (WHOLE, *LEVELS))
    risks = SubgroupRisks("auc" if perfect else "log", whole, tuple(levels), 2.4)
    return Subgroups((risks,), 0.95)


@pytest.mark.parametrize("perfect", [None, 1.0])
def test_values_intervals_and_shrunken_values_stand_in_their_lines(perfect):
    """Points, bars and diamonds as they are, of a loss and of a score."""
    subgroups = subgroups_of(perfect)
    ax = subgroups.plot()
    lines = (subgroups.risks[0].whole, *subgroups.risks[0].levels)
    assert points(ax, "o") == [one.value for one in lines[:3]]
    assert points(ax, "D") == [one.shrunken for one in lines[1:3]]
    bars = [list(line.get_xdata()) for line in lines_of(ax) if line.get_marker() == "|"]
    assert bars == [[one.interval.low, one.interval.high] for one in lines[:3]]
    assert ("larger" if perfect else "lower") in ax.get_xlabel()


def test_small_levels_say_why():
    """The reason stands where the value would."""
    ax = subgroups_of(None).plot()
    assert [text.get_text() for text in ax.texts] == ["5 rows: at least 10 are needed."]
    assert [text.get_text() for text in ax.get_yticklabels()][-1] == "site = c (5)"
    assert np.diff(ax.get_ylim()) < 0


def test_features_stand_by_their_share():
    """The most often selected on top, at most twenty of them."""
    marks = np.arange(4)[:, None] >= np.arange(30) % 4
    found = FeatureStability.of(marks, tuple(f"g{j}" for j in range(30)))
    ax = found.plot()
    widths = [bar.get_width() for bar in ax.patches]
    assert len(widths) == 20
    assert widths == sorted(widths, reverse=True)
    assert f"{found.index:.4f}" in ax.get_title()
    all_of_them = FeatureStability.of(np.ones((3, 2), dtype=bool), ("a", "b"))
    assert [bar.get_width() for bar in all_of_them.plot().patches] == [100, 100]


def test_a_dollar_in_a_name_begins_no_formula(tmp_path):
    """Names of learners and of subgroups are drawn as they are."""
    X, y = tr.datasets.make_simple(60, random_state=0)
    name = r"$\frac{$"
    found = tr.assess({name: GaussianNB(), "$5 to $9": GaussianNB(var_smoothing=0.1)}, X, y)
    ax = found.plot_ladder()
    ax.figure.savefig(tmp_path / "ladder.png")
    assert name in [text.get_text() for text in ax.get_yticklabels()]
    parts = np.where(X[:, 0] > 0, name, "b")
    model = tr.validate(GaussianNB(), X, y, replicates=0, subgroups={"part": parts})
    model.subgroups.plot().figure.savefig(tmp_path / "forest.png")
