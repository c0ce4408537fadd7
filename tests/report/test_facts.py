"""What each page says of its data and of its day."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.report.layout import today

X, Y = tr.datasets.make_difficult(60, random_state=0)
LABELS = np.where(Y == 1, "ill", "healthy")
COUNTED = f"60 rows ({(Y == 0).sum()} 'healthy', {(Y == 1).sum()} 'ill')".replace("'", "&#39;")
GRID = {"max_depth": [1, 2]}
TREE = DecisionTreeClassifier(random_state=0)


@pytest.fixture(scope="module")
def results():
    fitted = GridSearchCV(TREE, GRID, cv=3).fit(X, LABELS)
    return {
        "assessment": tr.assess({"tree": (TREE, GRID)}, X, LABELS),
        "audit": tr.audit(fitted, X, LABELS, replicates=20),
        "validation": tr.validate(TREE, X, LABELS, replicates=0),
        "risk": tr.estimate_risk(TREE, X, LABELS),
    }


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("assessment", COUNTED),
        ("audit", COUNTED),
        ("validation", "60 rows, event ill"),
        ("risk", "60 rows"),
    ],
)
def test_a_page_counts_its_rows_and_names_its_day(results, name, rows):
    """Rows, with those of each class where they are known, and the day of the drawing."""
    page = results[name].to_html()
    assert rows in page
    assert "on 1 January 2026 from the numbers above" in page


def test_stored_results_keep_the_counts(results):
    """They come back from JSON; older documents, which lack them, are read as well."""
    audit = tr.Audit.from_json(results["audit"].to_json())
    assert (audit.n_rows, audit.class_counts) == (60, results["audit"].class_counts)
    content = results["assessment"].to_dict()
    del content["class_sizes"]
    assert "2 classes" in tr.Assessment.from_dict(content).to_html()


def test_the_day_is_that_of_the_build(monkeypatch):
    """SOURCE_DATE_EPOCH names it for builds that are repeated, else it is this one."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert today() == "1 January 1970"
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert today().split()[-1] >= "2026"
