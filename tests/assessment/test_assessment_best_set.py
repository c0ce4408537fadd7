"""The learners that may be the best: from their honest losses, in every place that shows them."""

import json

import numpy as np
import pytest
from scipy.stats import t as student
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.assessment.assessment import TABLE_HEADER
from truerisk.exceptions import UnknownName
from truerisk.extend import Refusal
from truerisk.results.best_set import may_be_best
from truerisk.results.evaluation import CandidateLosses

X, Y = tr.datasets.make_simple(61, random_state=1)
LEARNERS = {
    "guess": DummyClassifier(strategy="most_frequent"),
    "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 9]}),
    "tree": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}),
    "bayes": GaussianNB(),
}
AHEAD = TimeSeriesSplit(3)


def assessed(**asked):
    return tr.assess(LEARNERS, X, Y, **{"cv": ["5-fold"], "scoring": ["zero-one", "auc"], **asked})


@pytest.fixture(scope="module")
def found():
    """Four learners on rows that some of them can tell."""
    return assessed()


@pytest.mark.parametrize(
    ("level", "groups"), [(0.5, None), (0.95, None), (0.7, np.arange(61) // 2)]
)
def test_best_set_rests_on_the_honest_losses_of_rows_or_groups(found, level, groups):
    found = found if groups is None else assessed(groups=groups)
    names = found.ranking
    losses = np.array([found.risks[name].losses for name in names])
    kept = may_be_best(CandidateLosses(losses, np.full(61, 1 / 61), groups), level)
    assert found.best_set(level) == [n for n, may in zip(names, kept, strict=True) if may]
    assert found.best_set(level)[0] == found.best


def test_best_set_by_further_score_differs(found):
    best = max(found.risks, key=lambda name: found.risks[name].scores["auc"].value)
    assert best in found.best_set(score="auc")
    assert "guess" not in found.best_set(score="auc")
    assert found.best_set(score="zero-one") == found.best_set()
    with pytest.raises(UnknownName, match=r"score='log' was not asked .* Known: .*auc"):
        found.best_set(score="log")


def test_best_set_stands_wherever_learners_are_shown(found):
    kept = found.best_set()
    assert 1 < len(kept) < 4
    told = {row[0]: row[TABLE_HEADER.index("best?")] for row in found.rows()}
    assert told == {name: "yes" if name in kept else "no" for name in found.ranking}
    assert list(found.table()["may_be_best"]) == [name in kept for name in found.ranking]
    content = json.loads(found.to_json())
    assert content["best_set"] == kept
    assert tr.Assessment.from_dict(content).usual_best_set == tuple(kept)
    page = found.to_html()
    assert page.count("<td>yes</td>") + page.count(">yes<") >= len(kept)
    assert "whether these rows leave open that it is the best (95 %, one-sided)" in page
    assert "At 95 % confidence (one-sided), the best learner may also be" in found.conclusion
    del content["best_set"]  # an older file
    assert tr.Assessment.from_dict(content).usual_best_set is None
    wider = assessed(confidence_level=0.5)
    assert wider.usual_best_set == wider.best_set(0.5)


def test_best_set_of_ordered_splits_is_a_dash_with_a_note():
    found = assessed(outer=AHEAD, scoring=None)
    with pytest.raises(Refusal, match="the splits are ordered"):
        found.best_set()
    assert {row[TABLE_HEADER.index("best?")] for row in found.rows()} == {"–"}
    assert json.loads(found.to_json())["best_set"] is None
    note = "best?: not known, since the rows were tested in the order of time"
    assert note in "".join(found.legend)
    assert note in str(found)
    assert note in tr.Assessment.from_dict(json.loads(found.to_json())).to_html()
    alone = tr.assess({"bayes": GaussianNB()}, X, Y, outer=AHEAD)
    assert "best?:" not in str(alone)
    assert "% confidence (" not in found.conclusion


def test_best_set_without_comparison_is_a_dash_with_a_note(monkeypatch):
    is_there = "truerisk.assessment.assessment.is_present"
    monkeypatch.setattr(is_there, lambda module: module != "truerisk.comparison.paired")
    found = assessed(scoring=None)
    note = "best?: not known, since truerisk.comparison.paired is missing; install truerisk anew"
    assert found.usual_best_set is None
    assert {row[TABLE_HEADER.index("best?")] for row in found.rows()} == {"–"}
    assert note in found.legend
    assert note in str(found)
    assert note in found.to_html()
    assert note not in tr.assess({"bayes": GaussianNB()}, X, Y).legend


@pytest.mark.parametrize("outer", ["pairs", "5-fold"])
@pytest.mark.parametrize("score", [None, "auc"])
def test_best_set_excludes_only_learners_that_are_shown_to_be_worse(outer, score):
    far = KNeighborsClassifier(40)
    models = {"knn": KNeighborsClassifier(), "bayes": GaussianNB(), "far": far}
    words, n_out = {"outer": outer, "scoring": ["zero-one", "auc"]}, 0
    for seed in range(2):
        X, y = tr.datasets.make_difficult(80, random_state=seed)
        found = tr.assess(models, X, y, random_state=seed, **words)
        kept = found.best_set(0.8, score=score)
        scores = {name: found.risks[name].scores["auc"].value for name in kept}
        best = kept[0] if score is None else max(scores, key=scores.get)
        for name in set(models) - set(kept):
            n_out += 1
            behind = found.difference(name, best, score=score)
            limit = student(behind.df).ppf(0.8) * behind.std_error
            assert (behind.value if score is None else -behind.value) > limit
    assert n_out > 0
