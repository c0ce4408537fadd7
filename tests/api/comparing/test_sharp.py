"""SHARP: the numbers of sharp-cv, what halves of a plan are, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import Refusal, UnknownName

X, Y = tr.datasets.make_difficult(40, random_state=0)

# pip install sharp-cv==0.1.0; python -c 'from sharp_cv import *; print(sharp_test(D),
#   sharp_confint(D), sharp_confint(D, level=.8))'
OF_SHARP_CV = (
    (
        [[-0.007, 0.032], [0.005, -0.027], [0.018, 0.065], [0.047, -0.035],
         [-0.063, -0.031], [0.002, -0.116], [-0.011, -0.062], [-0.037, -0.027]],
        (-1.1031606372609764, 0.26995741187989053),
        (-0.0866179190579448, 0.055742919057944776, -0.04066407640166221, 0.009789076401662215),
    ),
    (
        [[0.047, 0.079], [0.02, 0.095], [-0.006, 0.044], [0.072, 0.032],
         [-0.01, -0.019], [0.004, 0.038], [-0.024, 0.016], [0.019, 0.054]],
        (1.5670518075135982, 0.1171025824964568),
        (-0.023203256966246998, 0.08082825696624699, 0.012406780448083599, 0.04521821955191639),
    ),
    (
        [[0.52, 0.469], [0.496, 0.541], [0.577, 0.439], [0.578, 0.569],
         [0.541, 0.515], [0.486, 0.575], [0.6, 0.592], [0.568, 0.52]],
        (2.9213126915875725, 0.003485597974182726),
        (0.4593927807355384, 0.6138572192644614, 0.5074859777507907, 0.5657640222492091),
    ),
    (
        [[0.0988, -0.0212], [-0.0354, 0.1141], [0.0533, 0.0283],
         [0.0244, 0.0547], [0.0251, 0.0527], [0.0312, 0.0499]],
        (1.197415256105788, 0.23114474017916664),
        (-0.03421553710261194, 0.11353220376927863, -0.003211816257983218, 0.08252848292464988),
    ),
)  # fmt: skip


@pytest.mark.parametrize(("halves", "test", "ends"), OF_SHARP_CV)
def test_the_numbers_of_sharp_cv(halves, test, ends):
    """Statistic, p-value and intervals at 95 and 80 %; only the difference counts."""
    b = np.random.default_rng(0).random((len(halves), 2))
    found = tr.compare(np.array(halves) + b, b, test="sharp")
    assert found.value == pytest.approx(np.mean(halves))
    assert (found.statistic, found.p_value) == pytest.approx(test, rel=1e-9)
    assert (found.interval.low, found.interval.high) == pytest.approx(ends[:2], rel=1e-7)
    less = tr.compare(np.array(halves) + b, b, test="sharp", confidence_level=0.8).interval
    assert (less.low, less.high) == pytest.approx(ends[2:], rel=1e-7)
    assert (found.std_error, found.df, found.probability) == (None, None, None)
    assert f"z = {found.statistic:.3f}" in str(found)


def test_halves_of_estimates():
    """The risks in the halves of every repetition are those that the plan drew."""
    method = tr.methods.PairedHalves(3, pairs=4)
    a, b = (tr.estimate_risk(m, X, Y, method=method) for m in (GaussianNB(), KNN))
    d = (a.split_risks - b.split_risks)[3:].reshape(8, 3).mean(axis=1).reshape(4, 2)
    found = tr.compare(a, b, test="sharp")
    assert found.statistic == pytest.approx(tr.compare(d, np.zeros((4, 2)), test="sharp").statistic)
    assert found.n_pairs == 4
    assert found.loss == "zero-one"


KNN = KNeighborsClassifier(1)


def test_equal_halves_have_no_spread():
    """The same difference in both halves, every time: None and a note."""
    found = tr.compare(np.full((5, 2), 0.3), np.full((5, 2), 0.1), test="sharp")
    assert (found.value, found.p_value, found.interval) == (pytest.approx(0.2), None, None)
    assert "spread is 0" in found.notes[0]


def test_where_nothing_is_rejected_there_is_no_interval():
    """|z| of J repetitions is below √(2J): no finite end at 99 % for two, and a note says so."""
    halves = [[0.1, 0.2], [0.3, 0.1]]
    found = tr.compare(halves, np.zeros((2, 2)), test="sharp", confidence_level=0.99)
    assert found.interval is None
    assert "no difference is rejected" in found.notes[0]
    assert found.p_value is not None


@pytest.mark.parametrize(
    ("a", "b", "options", "error", "message"),
    [
        (np.zeros(5), np.zeros(5), {}, Refusal, r"a has shape \(5,\)"),
        (np.zeros((5, 2)), np.zeros((4, 2)), {}, Refusal, r"b \(4, 2\)"),
        (np.zeros((1, 2)), np.ones((1, 2)), {}, Refusal, "two repetitions"),
        (np.zeros((5, 2)), np.ones((5, 2)), {"n_train": 9}, UnknownName, "leave out folds"),
    ],
)
def test_other_shapes_are_refused(a, b, options, error, message):
    """What is no pair of halves per repetition."""
    with pytest.raises(error, match=message):
        tr.compare(a, b, test="sharp", **options)
