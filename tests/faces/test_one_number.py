"""The same splits and the same scoring give one number and one interval on every face."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from tests.adversary.commands import called

import truerisk as tr
from truerisk.core import present
from truerisk.models.learners import learner
from truerisk.results.interval import OwnScale

RNG = np.random.default_rng(3)
X = RNG.normal(size=(90, 3))
EVENTS = (X[:, 0] + RNG.normal(size=90) > 0.3).astype(int)
NUMBERS = X[:, 0] + RNG.normal(size=90)
CLASSIFIER = LogisticRegression(), {"C": [1.0]}
REGRESSOR = Ridge(), {"alpha": [1.0]}
OF_SCIKIT_LEARN = ("accuracy", "roc_auc", "f1", "average_precision", "neg_log_loss")
OURS = ("zero-one", "log", "brier", "f1 pooled")
SCORINGS = [
    *((scoring, CLASSIFIER, EVENTS) for scoring in (*OF_SCIKIT_LEARN, *OURS)),
    *((scoring, REGRESSOR, NUMBERS) for scoring in ("r2", "neg_mean_squared_error", "absolute")),
]
"""Ways to ask for a score, with a learner of one setting and outcomes."""

FACES = {
    "estimate_risk": lambda model, grid, y, scoring: tr.estimate_risk(
        model, X, y, cv=5, scoring=scoring
    ),
    "risk_curve": lambda model, grid, y, scoring: tr.risk_curve(
        model, grid, X, y, cv=5, scoring=scoring
    )[0],
    "HonestSearchCV": lambda model, grid, y, scoring: searched(model, grid, y, scoring).risk_,
    "assess": lambda model, grid, y, scoring: tr.assess(
        {"mine": (model, grid)}, X, y, cv=5, outer=5, scoring=scoring
    ).risks["mine"],
    "validate": lambda model, grid, y, scoring: (
        tr.validate(searched(model, grid, y, scoring), X, y, replicates=0).risk
    ),
    "learning_curve": lambda model, grid, y, scoring: tr.learning_curve(
        model, X, y, sizes=[20, 30, 45, 72], cv=5, scoring=scoring
    ).estimates[-1],
    "first of several": lambda model, grid, y, scoring: tr.estimate_risk(
        model, X, y, cv=5, scoring=[scoring, "mcc" if is_classifier(model) else "squared"]
    ),
    "second of several": lambda model, grid, y, scoring: tr.estimate_risk(
        model, X, y, cv=5, scoring=["mcc" if is_classifier(model) else "squared", scoring]
    ).scores[scoring],
    "read from JSON": lambda model, grid, y, scoring: tr.RiskEstimate.from_json(
        tr.estimate_risk(model, X, y, cv=5, scoring=scoring).to_json()
    ),
}


def searched(model, grid, y, scoring):
    return tr.HonestSearchCV(model, grid, cv=5, outer=5, scoring=scoring).fit(X, y)


def numbers(own: OwnScale) -> list[float]:
    """The value and the ends of the interval."""
    assert own.interval is not None
    return [own.value, own.interval.low, own.interval.high]


@pytest.fixture(scope="module")
def told():
    """The number of `estimate_risk` by the scoring, on the scale that was asked for."""
    return {
        scoring: tr.estimate_risk(model, X, y, cv=5, scoring=scoring)
        for scoring, (model, _), y in SCORINGS
    }


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize(("scoring", "model", "y"), SCORINGS, ids=[s for s, _, _ in SCORINGS])
def test_a_face_tells_the_number_of_all_others(told, face, scoring, model, y):
    """For five unshuffled folds: value, both ends, and the word of the interval."""
    found = FACES[face](*model, y, scoring)
    assert numbers(found.own_scale) == pytest.approx(numbers(told[scoring].own_scale))
    assert found.interval.method == told[scoring].interval.method
    assert found.scoring == scoring


@pytest.mark.parametrize("scoring", [*OF_SCIKIT_LEARN, "r2", "neg_mean_squared_error"])
def test_the_number_is_that_of_cross_val_score(told, scoring):
    """For the names of scikit-learn, sign included."""
    (model, _), y = (CLASSIFIER, EVENTS) if scoring in OF_SCIKIT_LEARN else (REGRESSOR, NUMBERS)
    scores = cross_val_score(model, X, y, cv=5, scoring=scoring)
    assert told[scoring].own_scale.value == pytest.approx(scores.mean())


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "f1", "average_precision", "r2"])
def test_an_audit_tells_the_number_of_the_search(told, scoring):
    """The outer splits are of the kind that GridSearchCV chose by."""
    (model, grid), y = (REGRESSOR, NUMBERS) if scoring == "r2" else (CLASSIFIER, EVENTS)
    search = GridSearchCV(model, grid, cv=5, scoring=scoring).fit(X, y)
    found = tr.audit(search, X, y, level="nested", outer=5)
    assert numbers(found.honest.own_scale) == pytest.approx(numbers(told[scoring].own_scale))


@pytest.mark.parametrize("scoring", [*OF_SCIKIT_LEARN, *OURS])
def test_the_command_prints_the_number(tmp_path, scoring):
    """In its text and in its JSON, of the learner of that word."""
    path = tmp_path / "t.csv"
    lines = [",".join(map(repr, [*row.tolist(), int(y)])) for row, y in zip(X, EVENTS, strict=True)]
    path.write_text("\n".join(["a,b,c,y", *lines]) + "\n")
    asked = [path, "--target", "y", "--model", "logistic", "--cv", "5", "--scoring", scoring]
    code, out, _ = called(["estimate", *map(str, asked), "--json"])
    content = json.loads(out)
    assert code == 0
    model, _ = learner("logistic", "classification", n_rows=90, n_features=3)
    value, low, high = numbers(tr.estimate_risk(model, X, EVENTS, cv=5, scoring=scoring).own_scale)
    read = tr.RiskEstimate.from_dict(content)
    assert numbers(read.own_scale) == pytest.approx([value, low, high])
    _, text, _ = called(["estimate", *map(str, asked)])
    printed = [present.risk(number) for number in (value, low, high)]
    assert printed[0] in re.findall(r"-?[\d.]+", text)
    assert f"[{printed[1]}, {printed[2]}]" in text


@pytest.mark.parametrize(("scoring", "model", "y"), SCORINGS, ids=[s for s, _, _ in SCORINGS])
def test_metrics_and_text_tell_the_number(told, scoring, model, y):
    """For a tracker, and as it is printed."""
    found = told[scoring]
    value, low, high = numbers(found.own_scale)
    metrics = found.to_metrics()
    names = (scoring, f"{scoring}.low", f"{scoring}.high")
    assert [metrics[name] for name in names] == pytest.approx([value, low, high])
    assert f" {present.risk(value)} (" in str(found)
    assert f"[{present.risk(low)}, {present.risk(high)}]" in str(found)
