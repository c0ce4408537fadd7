"""The figures of the page by matplotlib: what is drawn are the numbers of the results."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import Polygon
from sklearn.linear_model import LinearRegression
from sklearn.metrics import auc
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests.support.rms_data import drawn

import truerisk as tr
from truerisk import RocCurve
from truerisk.core.tables import five_numbers
from truerisk.exceptions import UnknownName
from truerisk.extend import BadArgument, BadData, Interval, Refusal
from truerisk.results.calibration import Calibration
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


def test_estimates_plot_stands_in_rows_beside_what_is_known(found):
    risks = found.risks
    ax = risks["knn"].plot(label="tuned", others={"bayes": risks["bayes"]}, beside={"truth": 0.1})
    assert [text.get_text() for text in ax.get_yticklabels()] == ["tuned", "bayes"]
    assert points(ax, "o") == [risks["knn"].value, risks["bayes"].value]
    ends = [tuple(line.get_xdata()) for line in lines_of(ax) if line.get_marker() == "|"]
    assert ends == [(r.interval.low, r.interval.high) for r in (risks["knn"], risks["bayes"])]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["truth"]
    assert [0.1, 0.1] in [list(line.get_xdata()) for line in lines_of(ax)]
    score = tr.estimate_risk(GaussianNB(), X, Y, scoring="auc")
    assert points(score.plot(), "o") == [score.value]
    with pytest.raises(BadData, match="there is no risk to draw"):
        replace(score, value=None, interval=None).plot()


def test_ladder_plot_is_at_the_risks(found):
    """Honest risks of all learners and of the whole search, from the best down."""
    ax = found.plot_ladder()
    order = found.ranking
    honest = [found.risks[name].value for name in order]
    assert points(ax, "o") == [*honest, found.choice.value]
    tuned = [found.learners[name].selected for name in order if found.learners[name].selected]
    assert points(ax, "D", "none") == [selected.value for selected in tuned]
    assert points(ax, "o", "none") == [found.learners[name].apparent.value for name in order]
    assert [t.get_text() for t in ax.get_yticklabels()] == [*order, "whole search"]
    with pytest.raises(BadArgument, match="ax=3: give axes of matplotlib"):
        found.plot_ladder(ax=3)


def test_assessment_plots_return_their_axes(found, folded):
    """Each `plot_*()` draws on given axes, and its figure can be drawn."""
    names = [name for name in dir(found) if name.startswith("plot_")]
    assert len(names) == 9
    for name in names:
        _, ax = plt.subplots()
        assert getattr(found if name == "plot_monte_carlo" else folded, name)(ax=ax) is ax
        ax.figure.canvas.draw()


def test_assessment_plots_refuse_with_the_reason():
    line = tr.assess({"bayes": GaussianNB()}, X, Y, cv=["3-fold"], outer="4-fold")
    numbers = tr.assess({"line": LinearRegression()}, X, X[:, 0], outer="4-fold")
    for plot, error, said in (
        (line.plot_monte_carlo, Refusal, "outer='monte-carlo'"),
        (line.plot_stability, BadData, "no learner was tuned"),
        (line.plot_learning_curve, Refusal, r"assess with learning_curve=\['bayes'\]"),
        (numbers.plot_roc, Refusal, "no ROC curve"),
        (numbers.plot_precision_recall, Refusal, "no ROC curve"),
        (numbers.plot_calibration, Refusal, "no calibration"),
        (numbers.plot_posterior, Refusal, "no posterior"),
    ):
        with pytest.raises(error, match=said):
            plot()
    with pytest.raises(UnknownName, match=r"did you mean 'bayes'\? Assessed: bayes\."):
        line.plot_roc(learner="bays")


def test_monte_carlo_plot_has_quartiles_and_outliers(found):
    """The box spans the quartiles, and what lies beyond the whiskers is a point."""
    risks = [*np.linspace(0, 1, 11), 9.0]
    content = {**found.to_dict(), "monte_carlo": {"bayes": risks}}
    ax = tr.Assessment.from_dict(content).plot_monte_carlo()
    _, first, _, third, _ = five_numbers(risks)
    box = ax.patches[0]
    assert (box.get_x(), box.get_x() + box.get_width()) == pytest.approx((first, third))
    assert [line.get_xdata().tolist() for line in lines_of(ax)[-2:]] == [[9.0], [np.mean(risks)]]


def test_stability_plot_starts_with_the_chosen_setting(found):
    ax = found.plot_stability()
    agreement = found.learners["knn"].stability.agreement
    assert ax.patches[0].get_width() == pytest.approx(100 * agreement)
    assert sum(patch.get_width() for patch in ax.patches) == pytest.approx(100)
    text = [one.get_text() for one in ax.legend().get_texts()]
    assert text == ["the setting chosen on all rows", "others"]  # also in a legend made anew


def test_ladder_plot_leaves_no_learner_out(tmp_path):
    """The page shows the first twelve; of a plot all have their rung, names as they are."""
    name = r"$\frac{$"  # a dollar begins no formula
    risks = {name: GaussianNB(), **{f"bayes {i}": GaussianNB() for i in range(13)}}
    ax = tr.assess(risks, X, Y, cv=["3-fold"], outer="3-fold").plot_ladder()
    assert len(ax.get_yticks()) == 14 + 1  # the whole search
    ax.figure.savefig(tmp_path / "ladder.png")
    assert name in [text.get_text() for text in ax.get_yticklabels()]


# ---------------------------------------------------------------- calibration

BINS = Calibration.from_predictions([0, 0, 0, 1] * 10, np.repeat([0.1, 0.2, 0.3, 0.6], 10))


def test_calibration_plot_has_the_bins():
    """Observed shares over mean probabilities, bars where there are intervals; others by name."""
    ax = BINS.plot()
    (bins,) = [line for line in lines_of(ax) if line.get_marker() == "o"]
    np.testing.assert_array_equal(bins.get_xdata(), BINS.predicted)
    np.testing.assert_array_equal(bins.get_ydata(), BINS.observed)
    bars = [list(line.get_ydata()) for line in lines_of(ax) if len({*line.get_xdata()}) == 1]
    assert bars == [list(ends) for ends in zip(BINS.low, BINS.high, strict=True)]
    bare = Calibration.from_predictions([0, 1] * 5, [0.5] * 10, dependent=True)
    both = BINS.plot(label="a", others={"b": bare})
    said = [text.get_text() for text in both.get_legend().get_texts()]
    briers = [f"a: Brier {BINS.brier:.4f}", f"b: Brier {bare.brier:.4f}"]
    assert said == [briers[0], "perfect calibration", briers[1]]
    colours = [line.get_color() for line in lines_of(both) if line.get_marker() == "o"]
    assert len({*colours}) == 2


# ---------------------------------------------------------------- ROC curves

LABELS = np.tile([0, 1], 20)
SCORES = np.round(LABELS + np.random.default_rng(0).normal(size=40), 1)
ROC = RocCurve.from_scores(LABELS, SCORES)


def test_roc_plot_goes_through_every_point(axes):
    """The corners are drawn, from (0, 0) to (1, 1), and all points lie between; with the area."""
    assert ROC.plot(ax=axes, label="knn") is axes
    diagonal, line = lines_of(axes)
    x, y = line.get_xdata(), line.get_ydata()
    assert {*zip(x, y, strict=True)} <= {*zip(ROC.fpr, ROC.tpr, strict=True)}
    assert auc(x, y) == pytest.approx(ROC.auc)
    assert list(diagonal.get_xdata()) == [0, 1]
    first = axes.get_legend().get_texts()[0].get_text()
    assert first == f"knn: AUC {ROC.auc:.3f} {ROC.interval}"
    point = ROC.at_rate(sensitivity=0.9)
    both = ROC.plot(others={"other": RocCurve.from_scores(LABELS, -SCORES)}, points=[point])
    assert len(both.get_legend().get_texts()) == 3
    (marker,) = [one for one in lines_of(both) if one.get_marker() == "o"]
    assert marker.get_xydata().tolist() == [[1 - point.specificity, point.sensitivity]]


def test_precision_recall_plot_is_drawn_in_steps(axes):
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


def drawn_as(ax, values):
    """Whether one of the lines goes through these values."""
    return any(np.array_equal(line.get_ydata(), values) for line in lines_of(ax))


def test_calibration_curve_plot_is_held_out_apparent_and_corrected(validated):
    curve = validated.calibration.curve
    for ax in (validated.calibration.plot(), curve.plot()):
        assert all(drawn_as(ax, v) for v in (curve.observed, curve.corrected, curve.apparent))
        assert len(lines_of(ax)) == 4
        assert sum(isinstance(patch, Polygon) for patch in ax.patches) == 1
    assert len(validated.calibration.plot().patches) > len(ax.patches) == 1
    bare = tr.validate(GaussianNB(), *drawn()[:2], replicates=0)  # nothing is corrected
    assert len(lines_of(bare.calibration.plot())) == 3
    assert "corrected" not in str(bare.net_benefit.plot().get_legend().get_texts())


def test_net_benefit_plot_stands_beside_all_and_nobody(validated):
    """Model with its band, treat all with its band; what falls below the axis is cut."""
    _, ax = plt.subplots()
    found = validated.net_benefit
    assert found.plot(ax=ax) is ax
    assert len(ax.patches) == 2
    assert drawn_as(ax, found.treat_all[found.treat_all >= ax.get_ylim()[0]])
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said == [
        "held-out rows, with their band",
        "corrected for optimism by the bootstrap",
        "treat everybody",
        "treat nobody",
    ]


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
def test_subgroups_plot_has_values_intervals_and_reasons(perfect):
    """Points, bars and diamonds as they are, of a loss and of a score; small levels say why."""
    subgroups = subgroups_of(perfect)
    ax = subgroups.plot()
    lines = (subgroups.risks[0].whole, *subgroups.risks[0].levels)
    assert points(ax, "o") == [one.value for one in lines[:3]]
    assert points(ax, "D") == [one.shrunken for one in lines[1:3]]
    bars = [list(line.get_xdata()) for line in lines_of(ax) if line.get_marker() == "|"]
    assert bars == [[one.interval.low, one.interval.high] for one in lines[:3]]
    assert ("larger" if perfect else "lower") in ax.get_xlabel()
    assert [text.get_text() for text in ax.texts] == ["5 rows: at least 10 are needed."]
    assert [text.get_text() for text in ax.get_yticklabels()][-1] == "site = c (5)"
    assert np.diff(ax.get_ylim()) < 0


def test_features_plot_stands_by_the_share():
    marks = np.arange(4)[:, None] >= np.arange(30) % 4
    found = FeatureStability.from_selected(marks, tuple(f"g{j}" for j in range(30)))
    ax = found.plot()
    widths = [bar.get_width() for bar in ax.patches]
    assert len(widths) == 20
    assert widths == sorted(widths, reverse=True)
    assert f"{found.index:.4f}" in ax.get_title()
    all_of_them = FeatureStability.from_selected(np.ones((3, 2), dtype=bool), ("a", "b"))
    assert [bar.get_width() for bar in all_of_them.plot().patches] == [100, 100]
