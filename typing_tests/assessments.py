"""`assess` as a type checker sees it; nothing here is run."""

from collections.abc import Mapping
from typing import Any, assert_type

import numpy as np

import truerisk as tr
from truerisk.results.calibration import Calibration
from truerisk.results.finding import Finding

X, y = np.zeros((4, 2)), np.array([0, 1, 0, 1])


def an_assessment() -> None:
    found = tr.assess({"knn": "knn"}, X, y, cv=["10-fold"])
    assert_type(found, tr.Assessment)
    assert_type(found.best, str)
    assert_type(found.best_params, dict[str, Any])
    assert_type(found.risks, dict[str, tr.RiskEstimate])
    assert_type(found.curves, dict[str, tr.RiskCurve])
    assert_type(found.learning_curves, dict[str, tr.LearningCurve])
    assert_type(found.criteria, dict[str, Mapping[str, tr.RiskCurve]])
    assert_type(found.choice, tr.RiskEstimate | None)
    assert_type(found.baseline, float | None)
    assert_type(found.ranking, list[str])
    assert_type(found.roc, tr.RocCurve | None)
    assert_type(found.calibration, Calibration | None)
    assert_type(found.findings, tuple[Finding, ...])
    assert_type(found.conclusion, str)
    assert_type(found.to_html(), str)
    reviewed = tr.assess({"knn": "knn"}, X, y, validate={"positive": 1, "replicates": 20})
    assert_type(reviewed.validation, tr.Validation | None)
    assert_type(reviewed.no_validation, str | None)
    tr.assess({"knn": "knn"}, X, y, validate="yes")  # type: ignore[arg-type]


def one_learner() -> None:
    one = tr.assess({"knn": "knn"}, X, y).learners["knn"]
    assert_type(one.risk, tr.RiskEstimate)
    assert_type(one.curve, tr.RiskCurve)
    assert_type(one.optimism, float | None)


def a_comparison() -> None:
    found = tr.assess({"knn": "knn"}, X, y)
    assert_type(found.best_set(0.95), list[str])
    assert_type(found.curves["knn"].best_set(), list[dict[str, Any]])
    tested = tr.permutation_test(tr.HonestSearchCV(object()), X, y, n_permutations=99)
    assert_type(tested, tr.PermutationTest)
    assert_type(tested.p_value, float)
    validated = tr.validate(tr.HonestSearchCV(object()), X, y, replicates=20)
    assert_type(validated, tr.Validation)
    if validated.calibration is not None:
        assert_type(validated.calibration["slope"].honest, float | None)
    assert_type(validated.to_html(), str)
    compared = tr.compare(found.risks["knn"], found.risks["knn"], test="bayes")
    assert_type(compared, tr.Comparison)
    assert_type(compared.difference, float)
    assert_type(found.difference("knn", "lda", score="auc"), tr.Comparison)
    assert_type(found.risks["knn"] - found.risks["lda"], tr.Comparison)
    assert_type(compared.value, float)
    assert_type(compared.probability, float | None)
    assert_type(compared.p_value, float | None)
    assert_type(compared.probabilities, dict[str, float] | None)
    tr.compare(found.risks["knn"], found.risks["knn"], tset="bayes")  # type: ignore[call-arg]
