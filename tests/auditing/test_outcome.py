"""An audit says its conclusion first, prints, and becomes JSON."""

from __future__ import annotations

import json

import pytest
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr


@pytest.fixture
def found(grid_search, simple):
    """An audit at level bbc."""
    return tr.audit(grid_search(), *simple)


def test_the_conclusion_comes_first(found):
    """Claim, optimism, honest score and interval, on the scale of best_score_."""
    assert str(found).replace("\n", " ").startswith(found.conclusion[:60])
    score, honest, interval = found.claimed.value, found.honest.value, found.honest.interval
    how = "optimistic" if found.optimism > 0 else "pessimistic"
    assert found.conclusion == (
        f"best_score_ {score:.4f} is {how} by {abs(found.optimism):.4f}; "
        f"honest {honest:.4f} [{interval.low:.4f}, {interval.high:.4f}]."
    )


def test_optimism_is_by_how_much_the_claimed_score_exceeds_the_honest(found):
    """As HonestSearchCV counts it."""
    assert found.optimism == found.claimed.value - found.honest.value
    assert found.refuted is (found.claimed.value not in found.honest.interval)


def test_the_rough_number_is_no_headline(grid_search):
    """Level scores: the number has no interval, is called rough, and refutes nothing."""
    u = tr.audit(grid_search(), level="scores")
    assert "rough correction" in u.conclusion
    assert "is optimistic" not in u.conclusion
    assert u.honest.interval is None
    assert "rough" in u.honest.method
    assert u.refuted is None


def test_json_has_a_schema(found, tmp_path):
    """Plain values under a versioned name; the file holds the same."""
    text = found.to_json(tmp_path / "audit.json")
    content = json.loads(text)
    assert content["schema"] == "truerisk.audit/2"
    assert content["optimism"] == found.optimism
    assert content["honest"]["schema"] == "truerisk.risk-estimate/2"
    assert {f["code"] for f in content["findings"]} == set(found.codes)
    assert json.loads((tmp_path / "audit.json").read_text()) == content


def test_html_escapes_what_users_write(simple):
    """A hostile value in the grid stays text."""
    import numpy as np
    import pandas as pd
    from sklearn.model_selection import GridSearchCV

    X, y = simple
    frame = pd.DataFrame(np.c_[X, y], columns=["a", "b", "</script><b>"])
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=3).fit(frame, y)
    page = tr.audit(search, frame, y)._repr_html_()
    assert "<b>" not in page
    assert "&lt;/script&gt;" in page


def test_every_finding_is_printed(found):
    """Severity, sentence, remedy and code."""
    words = " ".join(str(found).split())
    assert found.findings
    for finding in found.findings:
        assert " ".join(str(finding).split()) in words
