"""Subgroups, stability and checklists on the page of a validation: read with care, and drawn."""

from __future__ import annotations

import json
from copy import deepcopy

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from tests.report.conftest import draw_any

import truerisk as tr
from truerisk.core.errors import BadData

N = 90
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + RNG.logistic(size=N) > 0).astype(int)
SITE = np.repeat(["a", "b", "<i>c</i>", "tiny"], [40, 30, 15, 5])


def validated(model=None, **given):
    model = LogisticRegression() if model is None else model
    found = tr.validate(model, X, Y, replicates=0, **given)
    return json.loads(found.to_json())


@pytest.fixture(scope="module")
def content():
    return validated(subgroups={"site": SITE})


def test_the_page_has_all_three_parts(content):
    """A forest for each loss, both figures of stability, both checklists; names are escaped."""
    page = draw_any(content)
    for name in ("subgroups-0", "subgroups-1", "subgroups-2", "instability"):
        assert f'id="figure-{name}"' in page
    assert "TRIPOD+AI" in page
    assert "PROBAST+AI, evaluation" in page
    assert "site = &lt;i&gt;c&lt;/i&gt;" in page
    assert "<i>c</i>" not in page
    assert "every fit used all 3 features" in page


def test_a_page_unfolds_six_figures_at_most(show):
    """Of the losses in subgroups the AUC; the others are folded, and none is left out."""
    search = tr.HonestSearchCV(
        make_pipeline(SelectKBest(), LogisticRegression()),
        {"selectkbest__k": [1, 2]},
        cv="3-fold",
        scoring=["log", "f1", "mcc"],
    ).fit(X, Y)
    found = tr.validate(search, X, Y, replicates=0, subgroups={"site": SITE})
    page = show(found.to_html()).page
    every = page.eval_on_selector_all("figure", "all => all.map(f => f.id)")
    folded = page.eval_on_selector_all("details figure", "all => all.map(f => f.id)")
    assert [name for name in every if name not in folded] == [
        *("figure-roc", "figure-calibration", "figure-net-benefit"),
        *("figure-subgroups-3", "figure-features", "figure-instability"),
    ]
    assert [*found.subgroups].index("auc") == 3
    assert folded == [f"figure-subgroups-{i}" for i in (0, 1, 2, 4)]
    assert page.inner_text("details:has(figure) > summary").endswith(": log, f1 of 1, mcc, brier")


def test_selected_features_are_drawn():
    """Bars where the learner selects, and the index in the caption."""
    content = validated(LinearSVC(penalty="l1", dual=False, C=0.05))
    page = draw_any(content)
    assert 'id="figure-features"' in page
    assert f"{content['stability']['features']['index']:.4f}" in page


def test_a_page_without_subgroups_has_no_such_part():
    """Nobody asked for subgroups: no heading, and no empty figure."""
    page = draw_any(validated())
    assert 'id="subgroups"' not in page
    assert 'id="stability"' in page


@pytest.mark.parametrize(
    ("place", "value", "why"),
    [
        (("subgroups", "risks", 0, "whole", "value"), "high", "whole.value"),
        (("subgroups", "risks", 0, "levels"), {}, "levels"),
        (("subgroups", "risks", 0, "levels", 0, "subgroup", "n_rows"), -1, "n_rows"),
        (("stability", "features", "shares"), [0.5], "as long as 'names', 3"),
        (("stability", "predictions", "low"), [0.1], "as long as 'rows', 90"),
        (("checklist", "items", 3, "asks"), None, "asks"),
    ],
)
def test_damaged_results_are_refused(content, place, value, why):
    """The sentence names the place of the wrong value."""
    damaged = deepcopy(content)
    inside = damaged
    for step in place[:-1]:
        inside = inside[step]
    inside[place[-1]] = value
    with pytest.raises(BadData, match=why):
        draw_any(damaged)
