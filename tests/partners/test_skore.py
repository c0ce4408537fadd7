"""The audit is a check of the real skore: `make test-partners` installs it."""

import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.auditing.audit import AuditCheck

skore = pytest.importorskip(
    "skore", reason="skore is not installed; `make test-partners` installs it"
)


def row_of(model):
    """What a report on this model says of our check."""
    X, y = tr.datasets.make_simple(60, random_state=3)
    report = skore.evaluate(model, X, y, splitter=0.2)
    report.checks.add([AuditCheck(level="bbc")])
    frame = report.checks.summarize().frame()
    return frame[frame["code"] == "TRAUDIT"].iloc[0]


@pytest.mark.filterwarnings("ignore")  # skore's own checks warn
def test_audit_check_makes_a_flattering_search_an_issue():
    """With the conclusion and the findings as its explanation."""
    grid = {"n_neighbors": list(range(3, 35))}
    row = row_of(GridSearchCV(KNeighborsClassifier(), grid, cv=5))
    assert (row["section"], row["title"]) == ("issue", "Score of the search")
    assert row["explanation"].startswith("Expect the accuracy on new rows to be ")
    assert "[many-candidates]" in row["explanation"]


@pytest.mark.filterwarnings("ignore")
def test_audit_check_of_a_model_without_a_search_is_not_applicable():
    row = row_of(KNeighborsClassifier())
    assert row["section"] == "not_applicable"
    assert "holds nothing to audit" in row["explanation"]


def test_audit_check_follows_the_protocol_of_skore():
    assert isinstance(AuditCheck(), skore.Check)
