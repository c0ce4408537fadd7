"""PROBAST+AI as data tell it: what is rebalanced, tuned, left fitted, and who was tested."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.support.checklists import FACTS, answers, answers_of, changed

import truerisk as tr

STACKED = [("a", CalibratedClassifierCV(LogisticRegression(), cv=2))]
WEIGHS = LogisticRegression(class_weight="balanced")


class Drawn(LogisticRegression):
    """Draws classes anew, as imbalanced-learn's samplers do."""

    def fit_resample(self, X, y):
        return np.vstack([X, X[y == 1]]), np.concatenate([y, y[y == 1]])


@pytest.mark.parametrize(
    "model",
    [
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2),
        make_pipeline(StandardScaler(), RidgeClassifierCV(cv=2)),
    ],
    ids=["a search", "a learner with splits"],
)
def test_checklist_tells_a_model_that_tunes_inside_its_fit(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    checklist = tr.validate(model, X, y, replicates=0).checklist
    found, inside = answers_of(checklist), "settings are tuned inside the learner's own fit"
    assert found["4.5"] == f"{inside}: state how."
    assert f"; {inside}, anew in every outer training set." in found["12c"]
    assert "tuning was repeated, too" in found["evaluation 4.6"]
    assert f"; {inside}. Internal validation was by" in checklist.methods_text
    assert ", with all tuning repeated inside (Varma" in checklist.methods_text


@pytest.mark.parametrize(
    ("model", "how"),
    [
        (LogisticRegression(), None),
        (LogisticRegression(class_weight={0: 1, 1: 1}), None),
        (LogisticRegression(class_weight={1: 10}), "class_weight={1: 10} of LogisticRegression"),
        (WEIGHS, "class_weight=balanced of LogisticRegression"),
        (
            make_pipeline(StandardScaler(), RandomForestClassifier(5, class_weight={0: 1, 1: 9})),
            "class_weight={0: 1, 1: 9} of RandomForestClassifier",
        ),
        (Drawn(), "Drawn"),
        (
            LinearDiscriminantAnalysis(priors=[0.5, 0.5]),
            "priors=[0.5, 0.5] of LinearDiscriminantAnalysis",
        ),
    ],
)
def test_checklist_tells_what_rebalances_classes(model, how):
    """By the checklists and the paragraph, and whether anything calibrates after that."""
    y = np.arange(60) % 2
    checklist = tr.validate(model, np.random.default_rng(0).normal(size=(60, 2)), y, replicates=0)
    found, said = answers_of(checklist.checklist), checklist.checklist.methods_text
    if how is None:
        assert found["4.4"] == found["evaluation 4.4"]
        none = "o class weights and no resampling were found in the model"
        assert found["4.4"].startswith(f"does not apply: n{none}.")
        assert f"N{none}; state" in found["13"]
        assert "rebalanced" not in said
        return
    assert found["4.4"].startswith(f"no: classes are rebalanced by {how}, which shifts")
    assert found["evaluation 4.4"].startswith("yes: rows were tested in the shares")
    assert f"Classes are rebalanced by {how}; state why." in found["13"]
    assert f"Classes were rebalanced by {how} in training. " in said


@pytest.mark.parametrize(
    ("model", "starts"),
    [
        (CalibratedClassifierCV(WEIGHS, cv=2), "yes: classes are rebalanced by class_weight=bal"),
        # a calibrated part of a model whose last part weighs classes mends nothing
        (StackingClassifier(STACKED, WEIGHS, cv=2), "no: classes are rebalanced by class_weight="),
    ],
)
def test_checklist_tells_what_calibrates_after_rebalancing(model, starts):
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3 == 0
    checklist = tr.validate(model, X, y, replicates=0).checklist
    assert answers_of(checklist)["4.4"].startswith(starts)
    after = "in training, and probabilities were calibrated after that." in checklist.methods_text
    assert after == starts.startswith("yes")


@pytest.mark.filterwarnings("ignore::truerisk.exceptions.FittedPartWarning")
def test_checklist_tells_a_part_that_stays_fitted():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 9)), np.arange(60) % 2
    chosen = FrozenEstimator(SelectKBest(k=2).fit(X, y))
    model = make_pipeline(chosen, LogisticRegression())
    found = answers_of(tr.validate(model, X, y, replicates=0).checklist)
    for number in ("evaluation 4.5", "evaluation 4.6"):
        assert found[number].startswith("no: frozenestimator (FrozenEstimator)")
    assert "anew inside every split" not in found["4.5"]


@pytest.mark.parametrize(
    ("facts", "starts", "same"),
    [
        ({}, "yes, as far as", True),
        ({"tested_on": "among"}, "no: The times of tested rows lie among", True),
        ({"tested_on": "near"}, "no: Most tested rows lie next to", True),
        ({"tested_on": "later"}, "yes, as far as", False),
        ({"n_tested": 50}, "yes, as far as", False),
    ],
)
def test_checklist_speaks_of_the_rows_that_were_tested(facts, starts, same):
    """Where they lie beside those of training, and whether they are those of the development."""
    found = answers(changed(FACTS, n_to_validate=100, **facts))
    assert found["evaluation 4.5"].startswith(starts)
    assert (found["evaluation 1.3"] is not None) == same
    assert found["evaluation 4.2"].startswith("no" if "n_tested" in facts else "yes")


def test_checklist_counts_rows_as_if_nobody_were_lost():
    """Of outcomes in time the criteria of two classes for a validation are told with that."""
    found = answers(changed(FACTS, n_lost=9, horizon=5.0, n_needed=150, n_to_validate=300))
    assert "of two classes at the horizon as if nobody were lost: " in found["evaluation 4.2"]
    assert "for a regression of times to an event with a parameter" in found["4.1"]
    assert found["4.1"].endswith("the honest R² of these rows at the horizon stands in for it.")
    assert "9 people were censored by 5: " in found["4.3"]
    finished = answers(changed(FACTS, n_lost=9, horizon=5.0, tested_on="others"))
    assert finished["evaluation 4.3"].endswith(
        "(Kaplan–Meier). State whether other events compete."
    )
    assert found["evaluation 4.3"] == found["4.3"]
