"""How far predictions move: the numbers of Riley and Collins, and which models are compared."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import truerisk as tr
from truerisk.estimation.problem import problem_from_arguments
from truerisk.estimation.run import compute_risks
from truerisk.validation.prediction_stability import PredictionStability, find_pair_positions

RNG = np.random.default_rng(2)
ROWS = np.arange(50)
GIVEN = RNG.uniform(size=50)
OTHERS = np.clip(GIVEN + 0.2 * RNG.standard_normal((8, 50)), 0, 1)


def test_prediction_stability_is_that_of_plain_loops():
    """Mean |p_bi − p_i| and the share of models on the other side of the threshold."""
    found = PredictionStability.from_predictions(
        ROWS, GIVEN, OTHERS, "", event="ill", threshold=0.3
    )
    for i in (0, 7, 49):
        moves = [abs(line[i] - GIVEN[i]) for line in OTHERS]
        assert found.by_row[i] == pytest.approx(sum(moves) / 8)
        other = [(line[i] >= 0.3) != (GIVEN[i] >= 0.3) for line in OTHERS]
        assert found.otherwise[i] == sum(other) / 8
    assert found.mape == pytest.approx(found.by_row.mean())
    low, high = found.ranges
    assert low[3] == pytest.approx(np.percentile(OTHERS[:, 3], 2.5))
    assert high[3] == pytest.approx(np.percentile(OTHERS[:, 3], 97.5))
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (content["n_models"], len(content["low"])) == (8, 50)
    assert content["summary"]["mean absolute prediction error"] == pytest.approx(found.mape)


def test_prediction_stability_of_several_classes_and_of_numbers():
    """Of each row the probability of its most probable class; another class is a change.

    Of a regression nothing is classified.
    """
    given = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    others = np.array([[[0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]])
    found = PredictionStability.from_predictions(np.arange(2), given, others, "", event="any")
    assert found.by_row == pytest.approx([0.3, 0.1])
    assert found.otherwise.tolist() == [1, 0]
    found = PredictionStability.from_predictions(ROWS, 10 * GIVEN, 10 * OTHERS, "")
    assert found.otherwise is None
    assert "classified" not in str(found)
    assert "otherwise" not in found.to_frame()


def told(method):
    """The answers of a logistic regression about held-out rows, and by models that lack more."""
    X = RNG.normal(size=(61, 2))
    y = (X[:, 0] + RNG.logistic(size=61) > 0).astype(int)
    problem = problem_from_arguments(
        tr.extend.Family.from_grid(LogisticRegression()), X, y, scoring="brier"
    )
    found = compute_risks(problem, method)
    return X, y, found.answers, found.left_two_out


def test_others_of_pairs_lack_one_fold_more():
    """Line s: the row's own fold and the s-th after it are left out, by plain fits."""
    X, y, answers, shaken = told("pairs")
    rows, places = find_pair_positions(answers, shaken)
    assert rows.tolist() == list(range(61))
    fold = np.empty(61, dtype=int)
    fold[answers.plan.positions[0]] = np.repeat(answers.plan.fold, answers.plan.test_sizes)
    for s, row in [(0, 0), (2, 17), (3, 60)]:
        seen = (fold != fold[row]) & (fold != (fold[row] + s + 1) % 5)
        expected = LogisticRegression().fit(X[seen], y[seen]).predict_proba(X[[row]])
        assert shaken.values[0][places[s, row]] == pytest.approx(expected[0], abs=1e-3)
    _, _, answers, shaken = told(tr.methods.Pairs("2x5-fold"))  # a row has several own models
    assert find_pair_positions(answers, shaken) is None


def test_prediction_stability_factor_leads_to_models_of_new_rows():
    """Means of normal rows: moves times √(K − 2) are those between new samples, on average."""
    rng = np.random.default_rng(0)
    k, m, moves, own = 10, 9, [], []
    for _ in range(400):
        blocks = rng.standard_normal((k - 1, m)).sum(axis=1)
        whole = blocks.sum() / ((k - 1) * m)
        without = (blocks.sum() - blocks) / ((k - 2) * m)
        moves.append(np.abs(without - whole).mean())
        own.append(abs(whole))  # of a model around its mean over samples, which is 0
    assert np.mean(moves) * np.sqrt(k - 2) == pytest.approx(np.mean(own), rel=0.1)
