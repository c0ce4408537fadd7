"""`HonestSearchCV` and `audit` as a type checker sees them; nothing here is run."""

from typing import Any, assert_type

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.auditing.outcome import DeclaredOutcome
from truerisk.contracts import FitCounts
from truerisk.estimation.outer_splits import OuterFold, Stability
from truerisk.results.finding import Finding

X, y = np.zeros((4, 2)), np.array([0, 1, 0, 1])


def a_search() -> None:
    search = tr.HonestSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, outer="5-fold")
    assert_type(search.fit(X, y), tr.HonestSearchCV)
    assert_type(search.risk_, tr.RiskEstimate)
    assert_type(search.selected_risk_, tr.RiskEstimate)
    assert_type(search.kept_, FitCounts)
    assert_type(search.optimism_, float | None)
    assert_type(search.outer_, tuple[OuterFold, ...])
    assert_type(search.stability_, Stability)
    assert_type(search.curve_, tr.RiskCurve)
    assert_type(search.best_params_, dict[str, Any])
    assert_type(search.best_index_, int)
    assert_type(search.best_score_, float)
    assert_type(search.cv_results_, dict[str, Any])
    assert_type(search.classes_, np.ndarray)


def a_tuned_model() -> None:
    search = tr.HonestSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}).fit(X, y)
    assert_type(search.predict(X), np.ndarray)
    assert_type(search.predict_proba(X), np.ndarray)
    assert_type(search.score(X, y), float)
    search.predict()  # type: ignore[call-arg]


def a_kind_of_search_keeps_its_kind() -> None:
    class Mine(tr.HonestSearchCV): ...

    assert_type(Mine(DecisionTreeClassifier(), {}).fit(X, y), Mine)


def an_audit() -> None:
    audit = tr.audit(tr.HonestSearchCV(DecisionTreeClassifier(), {}).fit(X, y), X, y, level="bbc")
    assert_type(audit, tr.Audit)
    assert_type(audit.claimed, DeclaredOutcome)
    assert_type(audit.claimed.value, float)
    assert_type(audit.honest, tr.RiskEstimate | DeclaredOutcome | None)
    assert_type(audit.optimism, float | None)
    assert_type(audit.refuted, bool | None)
    assert_type(audit.findings, tuple[Finding, ...])
    assert_type(audit.conclusion, str)
