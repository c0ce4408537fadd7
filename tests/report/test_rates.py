"""Operating points on the page are those of the ROC curve."""

import numpy as np
import pytest

import truerisk as tr
from truerisk import RocCurve
from truerisk.core.formats import format_number
from truerisk.report.figure import MAX_LINE_POINTS
from truerisk.report.rates import ThresholdRates
from truerisk.results.roc import PrecisionRecall


def rates_of(curve) -> ThresholdRates:
    """The curve as the page reads it."""
    return ThresholdRates(RocCurve.from_dict(curve.to_dict()))


def drawn(n, seed=0):
    """Scores of two classes, with ties."""
    rng = np.random.default_rng(seed)
    y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    return y, (rng.normal(size=n) + y).round(2)


@pytest.mark.parametrize("n", [2, 30, 300])
def test_rates_have_the_counts_of_the_sweep(n):
    curve = tr.RocCurve.from_scores(*drawn(n))
    rates = rates_of(curve)
    assert [c.true_positives for c in rates.operating_points] == curve.sweep.true_positives.tolist()
    assert [
        c.false_positives for c in rates.operating_points
    ] == curve.sweep.false_positives.tolist()


def test_rates_start_at_the_fewest_wrong_calls():
    """The threshold of least cost where both errors cost the same; nothing called is a dash."""
    curve = tr.RocCurve.from_scores(*drawn(200))
    rates = rates_of(curve)
    assert rates.operating_points[rates.slider_start].threshold == curve.at_cost().threshold
    assert rates.format_rates(rates.slider_start)["cost"] == format_number(curve.at_cost().cost)
    assert rates.format_rates(0)["precision"] == "–"
    assert rates.format_rates(0)["threshold"].startswith("∞")
    assert rates.format_rates(len(rates.operating_points) - 1)["npv"] == "–"


def test_rates_have_the_average_precision_of_the_curve():
    y, scores = drawn(100)
    curve = tr.RocCurve.from_scores(y, scores)
    expected = format_number(curve.precision_recall().average_precision)
    assert f"precision {expected} of all" in rates_of(curve).draw_precision_recall().caption
    weighted = tr.RocCurve.from_scores(
        y, scores, weights=np.random.default_rng(1).uniform(size=100)
    )
    assert (
        0
        < PrecisionRecall.from_sweep(rates_of(weighted).threshold_counts, "").average_precision
        <= 1
    )


def test_rates_of_many_thresholds_are_thinned():
    """First and last stay, and no more than `MOST_POINTS` are sent to the page."""
    curve = tr.RocCurve.from_scores(*drawn(5000))
    y, scores = drawn(5000)
    rates = rates_of(tr.RocCurve.from_scores(y, scores + np.linspace(0, 1e-6, 5000)))
    assert len(rates.operating_points) == MAX_LINE_POINTS
    assert rates.operating_points[0].true_positives == 0
    assert rates.operating_points[-1].false_positives == curve.n_negative
