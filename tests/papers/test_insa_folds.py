"""The number of folds: few make a discriminant look worse, n make the error of a stump vary."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.papers.experiment import Sample, stream
from truerisk.papers.insa_folds import (
    APART,
    COLUMNS,
    DISCRIMINANT,
    LEARNERS,
    ROWS,
    TREE,
    N,
    insa_folds,
)

MODELS = (LinearDiscriminantAnalysis(), DecisionTreeClassifier(max_depth=1, random_state=0))


@pytest.mark.parametrize(("name", "model"), [*zip(LEARNERS, MODELS, strict=True)])
def test_a_replicate_is_scikit_learns(name, model):
    """Leave-one-out and the true error by plain fits; K folds as a user finds them."""
    found = insa_folds.replicate(0, 3)
    drawn = Sample.alternating(ROWS, COLUMNS, APART, stream("insa folds", 0, 3)).whole
    X, y = drawn.X, drawn.y
    own, rule = (X[:N], y[:N]), model.fit(X[:N], y[:N])
    left_out = 1 - cross_val_score(model, *own, cv=LeaveOneOut())
    assert found[name][-1] == pytest.approx(left_out.mean())
    assert found[f"true, {name}"] == pytest.approx(1 - rule.score(X[N:], y[N:]))
    for place, k in enumerate((2, 5, 10)):
        folds = tr.estimate_risk(model, *own, method=f"{k}-fold", random_state=3)
        assert found[name][place] == pytest.approx(folds.value)


def test_bias_and_variance_are_of_the_errors(draws_of, findings_of):
    """By plain sums, as they stand in the tables."""
    for name, table in zip(LEARNERS, findings_of("insa-folds").tables, strict=True):
        errors, true = (draws_of("insa-folds")[key] for key in (name, f"true, {name}"))
        rows = {row.name: row.means for row in table.rows}
        assert rows["bias"] == pytest.approx(errors.mean(axis=0) - true.mean())
        assert rows["variance"] == pytest.approx(errors.var(axis=0))
        assert rows["squared error"] == pytest.approx(np.mean((errors - true.mean()) ** 2, axis=0))


def test_two_folds_are_pessimistic_and_n_vary_where_a_row_turns_the_rule(findings_of):
    """Known with 40 data sets: the bias of the discriminant is .08 of .30."""
    claims = {claim.text: claim for claim in findings_of("insa-folds").claims}
    (bias,) = claims[
        f"{DISCRIMINANT}: with K = 2 the rules see half of the rows, which leads to a bias"
    ].quantities
    assert bias.value > 0.04
    text = f"{DISCRIMINANT}: 10-fold may have a pessimistic bias, for its smaller training sets"
    (ten,) = claims[text].quantities
    table = {row.name: row.means for row in findings_of("insa-folds").tables[0].rows}
    assert ten.value == pytest.approx(table["bias"][2])
    (variance,) = claims[
        f"{TREE}: leave-one-out has a high variance: a higher one than K = 10"
    ].quantities
    assert variance.value > 0.002


def test_three_lines_are_drawn_for_each_learner(findings_of):
    """The root of the squared error is not below the standard deviation."""
    for panel in findings_of("insa-folds").figures[0].panels:
        bias, spread, root = (line.y for line in panel.series)
        assert (root >= spread - 1e-12).all()
        assert bias[0] > 0
        assert len(panel.names) == 4
