"""Where splits mix past and future, neighbours or groups, rows kept apart make the headline."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor

import truerisk as tr
from truerisk.auditing.correcting import ChosenWithout
from truerisk.auditing.replay import Replayed
from truerisk.core.errors import BadData
from truerisk.core.formats import number
from truerisk.datasets import DailyLoadProblem
from truerisk.results.interval import Scale

N = 730
LOAD = tr.datasets.make_daily_load
X, Y = LOAD(N, random_state=1)
DATES = LOAD.dates(N)
NAMES = ["day", "weekday", "temperature"]
FRAME = pd.DataFrame(X, columns=NAMES, index=pd.DatetimeIndex(DATES))
SHUFFLED = KFold(5, shuffle=True, random_state=0)


def audited(X, y=Y, cv=SHUFFLED, scoring="neg_mean_squared_error", **more):
    grid = {"min_samples_leaf": [2, 20]}
    search = GridSearchCV(DecisionTreeRegressor(random_state=0), grid, cv=cv, scoring=scoring)
    return tr.audit(search.fit(X, y), X, y, replicates=20, **more)


def codes(audit):
    return {f.code for f in audit.findings}


def said(audit):
    return [f.sentence for f in audit.findings if f.code == "time-shuffled"]


@pytest.mark.parametrize("scoring", ["neg_mean_squared_error", None], ids=["error", "R2"])
def test_the_index_of_a_frame_tells_it(scoring):
    """By how much the claim shrinks, on the scale of the search."""
    found = audited(FRAME, scoring=scoring)
    (sentence,) = said(found)
    assert "The rows have times (the index)" in sentence
    loses = float(sentence.rpartition(" ")[2].rstrip("."))
    blocked = float(sentence.partition("left out whole, it is ")[2].partition(":")[0])
    assert loses == pytest.approx(found.claimed.value - blocked, abs=2e-4)
    assert loses > 0.2 * Scale(found.claimed.perfect).value(blocked)


def test_given_times_tell_it():
    """In any order of the rows; without them an array tells nothing, and nothing is said."""
    order = np.random.default_rng(0).permutation(N)
    found = audited(X[order], Y[order], time=DATES[order])
    assert "(time=)" in said(found)[0]
    assert "time-shuffled" in codes(found)
    assert found.honest.interval.method == "hac"
    assert "time-shuffled" not in codes(audited(X))


@pytest.mark.parametrize("cv", [5, TimeSeriesSplit(5)], ids=["blocks", "forward"])
def test_splits_in_stretches_of_time_are_no_fault(cv):
    """They claim what they are worth."""
    assert not said(audited(FRAME, cv=cv))


def test_rows_that_do_not_depend_on_each_other_may_be_shuffled():
    """Dates alone are no fault: the risk must collapse."""
    X, y = DailyLoadProblem(memory=0.0)(N, random_state=2)
    assert not said(audited(pd.DataFrame(X, columns=NAMES, index=FRAME.index), y))


# ---------------------------------------------------------------- the headline


def test_the_headline_follows_the_time():
    """Claimed, corrected for the choice, and for the time too: the last is the honest one."""
    found = audited(X, time=DATES)
    claimed, chosen, honest = (one.value for one in (found.claimed, found.choosing, found.honest))
    assert found.mixes == "time"
    assert 0 > claimed >= chosen > 0.8 * honest
    assert found.optimism == pytest.approx(claimed - honest)
    assert f"honest {number(honest)}" in found.conclusion
    assert f"for the choice alone it is {number(chosen)}" in found.conclusion
    assert (
        f"{chosen - honest:.4f} more is owed to models that saw the rows around them in time"
        in found.conclusion
    )
    assert found.refuted
    assert "it is refuted" in found.conclusion
    content = json.loads(found.to_json())
    assert content["honest"]["value"] == honest
    assert content["choosing"]["value"] == chosen
    assert content["mixes"] == "time"
    assert [row[0] for row in found.rows()] == ["claimed", "choosing", "honest", "rough"]


@pytest.mark.parametrize("level", ["scores", "nested"])
def test_the_headline_follows_the_time_at_every_level(level):
    """Scores test the choice once; nested repeats the search in stretches of time."""
    found = audited(X, level=level, time=DATES)
    assert found.honest.loss_value > 1.2 * found.claimed.loss_value
    assert "models that saw the rows around them in time" in found.conclusion
    assert "purged-5" in found.honest.method


def test_outer_folds_that_mix_as_well_are_no_headline():
    """They were asked for, so they are told; the honest risk is another one."""
    found = audited(X, level="nested", outer="5-fold", time=DATES)
    assert found.choosing.method.startswith("nested (5-fold")
    assert found.honest.loss_value > 1.2 * found.choosing.loss_value
    assert any("is not corrected for" in note for note in found.honest.notes)
    forward = audited(X, level="nested", outer="forward-5", time=DATES)
    assert forward.choosing is None
    assert forward.honest.method.startswith("nested (forward-5")


def test_the_choice_knows_nothing_of_what_it_is_tested_on():
    """Each stretch is asked of the setting with the least loss on the others, by hand."""
    losses = np.array([[0.0, 0.0, 1.0, 1.0], [0.9, 0.9, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    kept = Replayed(losses, np.arange(4), np.ones(4), np.empty((3, 0)), None)
    method = ChosenWithout(None, 2, kept)
    assert method._choice(np.array([0, 1])) == 1
    assert method._choice(np.array([2, 3])) == 2  # that of the search among equals
    assert ChosenWithout(None, 2)._choice(np.array([0, 1])) == 2


def grouped():
    """Forty groups of five rows alike, whose labels are coins."""
    rng = np.random.default_rng(0)
    groups, centres = np.repeat(np.arange(40), 5), rng.normal(size=(40, 4))
    X = centres[groups] + 0.01 * rng.normal(size=(200, 4))
    return X, rng.integers(0, 2, 40)[groups], groups, centres


def neighbours(**more):
    X, y, groups, centres = grouped()
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=SHUFFLED)
    given = {"groups": {"groups": groups}, "labels": {"block": groups}}
    given["places"] = {"block": centres[groups, :2] + 1e-3 * X[:, :2]}
    return tr.audit(search.fit(X, y), X, y, replicates=20, **given[more.pop("known")], **more)


@pytest.mark.parametrize(
    ("known", "kind"), [("groups", "groups"), ("labels", "groups"), ("places", "space")]
)
@pytest.mark.parametrize("level", ["scores", "bbc", "pairs", "nested"])
def test_the_headline_follows_groups_and_places(known, kind, level):
    """A perfect score of coins is worth a coin where groups or blocks are left out whole."""
    found = neighbours(known=known, level=level)
    assert found.mixes == kind
    assert found.claimed.value == 1
    assert found.honest.value < 0.7
    assert found.refuted
    assert ("space-shuffled" in found.codes) == (kind == "space")


def test_places_of_independent_rows_are_no_fault():
    """The finding space-shuffled wants a collapse; the headline keeps blocks apart in any case."""
    X, y = tr.datasets.make_simple(200, random_state=0)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [5, 9]}, cv=SHUFFLED)
    places = np.random.default_rng(0).uniform(size=(200, 2))
    found = tr.audit(search.fit(X, y), X, y, block=places, replicates=20)
    assert "space-shuffled" not in found.codes
    assert "blocks-5" in found.honest.method


def test_dates_that_nobody_gave_change_nothing_without_a_collapse():
    """A frame in the order of dates keeps the headline of its level."""
    X, y = DailyLoadProblem(memory=0.0)(N, random_state=2)
    found = audited(pd.DataFrame(X, columns=NAMES, index=FRAME.index), y)
    assert found.mixes is None
    assert found.choosing is None
    assert found.honest.method.startswith("pairs")


def test_no_honest_risk_without_rows_kept_apart():
    """A group that is a class: without it nothing can be fitted, and the sentence says why."""
    X, y, _, _ = grouped()
    search = GridSearchCV(LogisticRegression(), {"C": [1, 3]}, cv=SHUFFLED)
    found = tr.audit(search.fit(X, y), X, y, groups=y, replicates=20)
    assert found.honest is None
    assert found.refuted is None
    assert found.choosing.value is not None
    assert "what it is worth without is not known: " in found.conclusion
    assert found.why in found.conclusion
    assert "–" in found.to_html()


def test_a_search_of_ours_may_learn_of_times_later():
    """Its rows are known again, and its choice is tested in stretches of time."""
    search = tr.HonestSearchCV(DecisionTreeRegressor(random_state=0), {"min_samples_leaf": [2, 20]})
    search.set_params(cv="5-fold", outer=None).fit(X, Y)
    for level in ("bbc", "pairs", "nested"):
        found = tr.audit(search, X, Y, level=level, time=DATES, replicates=20)
        assert found.honest.value > 1.2 * found.claimed.value
    with pytest.raises(BadData, match="not the rows that this search was fitted on"):
        tr.audit(search, X + 1, Y, time=DATES)
    with pytest.raises(BadData, match="not the rows that this search was fitted on"):
        tr.audit(search, X + 1, Y, level="nested", time=DATES)


def test_the_page_says_what_is_honest():
    """Its headline, verdict, figure, legend and paragraph are those of the rows kept apart."""
    page = audited(X, time=DATES).to_html()
    for said in (
        "Corrected for the choice alone",
        "choosing: corrected for the choice alone, on the splits of the search",
        "honest: the choice tested by models that have not seen the rows around them in time",
        "Its splits tested models that saw the rows around them in time",
        "Lazarus E, Lewis DJ",
    ):
        assert said in page
    alone = audited(X, time=DATES, scoring=None).to_html()
    assert "unfounded" in alone


def test_copies_leave_both_numbers_in_doubt():
    """What no split can mend is said beside the number."""
    rows = np.repeat(np.arange(100), 2)
    problem, target = tr.datasets.make_simple(100, random_state=0)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=SHUFFLED)
    search.fit(problem[rows], target[rows])
    found = tr.audit(search, problem[rows], target[rows], replicates=20)
    assert "Both numbers are too good if copies of a row are one case." in found.conclusion
