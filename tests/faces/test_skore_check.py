"""The audit as a check of skore, by doubles of its report and protocol (as of skore 0.28)."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Protocol, runtime_checkable

import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.auditing.audit import AuditCheck
from truerisk.exceptions import MissingExtra


@runtime_checkable
class Check(Protocol):
    """What skore 0.28 asks of a check."""

    code: str
    title: str
    report_types: list
    docs_url: str | None
    severity: str
    slow: bool

    def check_function(self, report):
        """A sentence, or None."""


@pytest.fixture
def report():
    """A report of an estimator, fitted on 60 rows."""
    X, y = tr.datasets.make_simple(60, random_state=3)

    def made(estimator):
        return SimpleNamespace(estimator_=estimator.fit(X, y), X_train=X, y_train=y)

    return made


@pytest.fixture
def skore(monkeypatch):
    """A module of that name with the exception that it expects."""
    module = ModuleType("skore")
    module.CheckNotApplicable = type("CheckNotApplicable", (Exception,), {})
    monkeypatch.setitem(sys.modules, "skore", module)
    return module


def search(n_settings):
    """A search among so many neighbours."""
    grid = {"n_neighbors": list(range(3, 3 + n_settings))}
    return GridSearchCV(KNeighborsClassifier(), grid, cv=5)


def test_audit_check_follows_the_protocol():
    """Only level scores is quick."""
    assert isinstance(AuditCheck(), Check)
    assert AuditCheck().slow
    assert not AuditCheck(level="scores").slow


def test_audit_check_tells_the_conclusion_and_the_codes_of_findings(report):
    """Of one setting, which was not chosen, there is nothing to correct."""
    told = AuditCheck().check_function(report(search(40)))
    assert told.startswith("Expect the accuracy on new rows to be ")
    assert "[many-candidates]" in told
    assert AuditCheck(level="scores").check_function(report(search(1))) is None


def test_audit_check_passes_over_what_is_no_search(report, skore, monkeypatch):
    """A model without a search, or a report without training rows; without skore, too."""
    with pytest.raises(skore.CheckNotApplicable, match="nothing to audit"):
        AuditCheck().check_function(report(KNeighborsClassifier()))
    empty = SimpleNamespace(estimator_=None, X_train=None, y_train=None)
    with pytest.raises(skore.CheckNotApplicable, match="no training rows"):
        AuditCheck().check_function(empty)
    monkeypatch.setitem(sys.modules, "skore", None)
    with pytest.raises(MissingExtra, match="nothing to audit"):
        AuditCheck().check_function(report(KNeighborsClassifier()))
