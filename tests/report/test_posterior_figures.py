"""Densities of an error, what a choice adds, and how rows are shared: the marks are the numbers."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import truerisk as tr
from truerisk.extend import BadData
from truerisk.report.record_figures import draw_error_tail, draw_main_figure
from truerisk.report.svg import Mark

X, Y = tr.datasets.make_simple(50, random_state=0)
RULE = LogisticRegression().fit(X, Y)


def marks_of(figure, kind):
    """The marks of one kind."""
    return [m for m in figure.drawing.marks if isinstance(m, Mark) and m.kind == kind]


def area_of(xs, ys) -> float:
    """Under a line, by trapezia."""
    return float(np.diff(xs) @ (np.array(ys)[1:] + np.array(ys)[:-1]) / 2)


@pytest.mark.parametrize(
    "posterior",
    [
        tr.ErrorPosterior(6, 60),
        tr.ErrorPosterior(0, 60),
        tr.bayesian_error(RULE.coef_, RULE.intercept_, X, Y),
    ],
    ids=["tested", "no error", "rule"],
)
def test_posterior_figure_has_its_mass_its_mean_and_its_bound(posterior):
    """All but the ends lies under the line; mean and bound stand where they are, as high as it."""
    figure = draw_main_figure(posterior)
    line, mean, bound = marks_of(figure, "line")
    assert area_of(line.xs, line.ys) == pytest.approx(0.998, abs=2e-3)
    assert posterior.cdf(bound.xs[0]) == pytest.approx(0.95)
    assert mean.xs[0] == pytest.approx(getattr(posterior, "value", None) or posterior.mean)
    for mark in (mean, bound):
        assert mark.xs[0] == mark.xs[1]
        assert mark.ys == pytest.approx((0, np.interp(mark.xs[0], line.xs, line.ys)))
    assert '<svg class="drawing"' in posterior._repr_html_()


def test_rule_without_a_posterior_has_no_picture():
    found = tr.bayesian_error(np.eye(3)[:, :2], np.zeros(3), X, np.arange(50) % 3)
    assert draw_main_figure(found) is None
    assert "<svg" not in found._repr_html_()
    assert str(found).startswith("error 0.8709, prior proper; by class 0 ")
    with pytest.raises(BadData, match="this RulePosterior has no picture"):
        found.plot()


def test_selection_bias_stands_between_its_boxes():
    """By hand: four repetitions, the smaller of two estimates each time."""
    estimates = [[0.1, 0.4], [0.3, 0.2], [0.2, 0.5], [0.1, 0.3]]
    why = tr.SelectionBias(estimates, [0, 1, 0, 0], [[0.25, 0.25]] * 4)
    figure = draw_main_figure(why)
    means = [mark.xs[0] for mark in marks_of(figure, "point")]
    assert means == pytest.approx([0.15, 0.75 * 0.175 + 0.25 * 0.35, 0.25, 0.25])
    assert list(figure.drawing.names.values()) == [*why.parts]
    reported, unselected, *_ = (mark.xs for mark in marks_of(figure, "box"))
    assert reported == pytest.approx([0.1, 0.1, 0.1, 0.2, 0.2])
    assert unselected == pytest.approx([0.1, 0.1, 0.2, 0.3, 0.5])
    assert figure.title == f"Taking the smallest of 2 adds {why.bias:.4f}"
    assert "true (p)" in why._repr_html_()
    assert [*tr.SelectionBias(estimates, [0, 1, 0, 0]).parts] == [*why.parts][:2]


def test_sample_plan_figure():
    """The bound is lowest at the best way to share; a width alone is the posterior to expect."""
    plan = tr.plan_sample({30: 0.25, 60: 0.21, 150: 0.19}, n=180)
    error, bound = marks_of(draw_main_figure(plan), "line")
    (best,) = marks_of(draw_main_figure(plan), "point")
    assert best.xs[0] == plan.best.n_tuning == bound.xs[int(np.argmin(bound.ys))]
    assert (np.diff(error.ys) < 0).all()
    plan = tr.plan_sample(0.15, width=0.05)
    expected = tr.ErrorPosterior(plan.n_errors, plan.n_test)
    _, mean, _ = marks_of(draw_main_figure(plan), "line")
    assert mean.xs[0] == pytest.approx(expected.mean) == pytest.approx(0.15, abs=0.001)
    assert expected.interval(0.95) == plan.interval


def test_posterior_tail_is_on_the_page_of_an_assessment_and_of_its_risk():
    """The points show 1 − cdf at the quartiles, the median and the bound."""
    found = tr.assess(["knn"], X, Y, outer="5-fold")
    risk = found.best_learner.risk
    posterior = tr.ErrorPosterior.of_estimate(risk)
    points = marks_of(draw_error_tail(posterior), "point")
    assert [mark.ys[0] for mark in points] == pytest.approx([0.75, 0.5, 0.25, 0.05])
    assert points[-1].xs[0] == pytest.approx(posterior.upper(0.95))
    counts = f"{posterior.errors:.0f} of {posterior.n:.0f}"
    for page in (found.to_html(), risk.to_html()):
        assert f"errors: {counts} tested rows" in page
        assert f"(50 %): {posterior.mass_above(0.5):.3g}, median" in page
    assert f"% wrong answers, {counts};" in found.conclusion
    assert "1 − cdf" not in tr.estimate_risk(LinearRegression(), X, X[:, 0]).to_html()
