"""Splits that mix past and future, neighbours or groups; times that nobody gave."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

import truerisk as tr
from truerisk.auditing.correcting import ChoiceWithoutTestRows
from truerisk.auditing.mixed_splits import are_neighbours_alike, order_of_table
from truerisk.auditing.replay import ReplayedSearch
from truerisk.core.formats import format_number
from truerisk.datasets import DailyLoadProblem
from truerisk.extend import BadData, Data
from truerisk.results.interval import Scale

N = 730
LOAD = tr.datasets.make_daily_load
X, Y = LOAD(N, random_state=1)
DATES = LOAD.dates(N)
NAMES = ["day", "weekday", "temperature"]
FRAME = pd.DataFrame(X, columns=NAMES)
DATED = FRAME.set_index(pd.DatetimeIndex(DATES))
ISO = DATES.astype(str)
SHUFFLED = KFold(5, shuffle=True, random_state=0)


def audited(table, y=Y, cv=SHUFFLED, scoring="neg_mean_squared_error", names=None, **more):
    """Audit a search of trees, which may see the columns of these names only."""
    grid, model = {"min_samples_leaf": [2, 20]}, DecisionTreeRegressor(random_state=0)
    if names is not None:
        grid = {"decisiontreeregressor__min_samples_leaf": [2, 20]}
        model = make_pipeline(make_column_transformer(("passthrough", names)), model)
    search = GridSearchCV(model, grid, cv=cv, scoring=scoring).fit(table, y)
    return tr.audit(search, table, y, replicates=20, **more)


def said(audit):
    return [f.sentence for f in audit.findings if f.code == "time-shuffled"]


@pytest.mark.parametrize("scoring", ["neg_mean_squared_error", None], ids=["error", "R2"])
def test_time_shuffled_is_told_by_the_index_of_a_frame(scoring):
    """By how much the claim shrinks, on the scale of the search."""
    found = audited(DATED, scoring=scoring)
    (sentence,) = said(found)
    assert "The rows have times (the index)" in sentence
    loses = float(sentence.rpartition(" ")[2].rstrip("."))
    blocked = float(sentence.partition("left out whole, it is ")[2].partition(":")[0])
    assert loses == pytest.approx(found.claimed.value - blocked, abs=2e-4)
    assert loses > 0.2 * Scale(found.claimed.perfect).value(blocked)


def test_time_shuffled_is_told_by_given_times_in_any_order():
    """Without them an array tells nothing."""
    order = np.random.default_rng(0).permutation(N)
    found = audited(X[order], Y[order], time=DATES[order])
    assert "(time=)" in said(found)[0]
    assert found.honest.interval.method == "hac"
    assert not said(audited(X))


@pytest.mark.parametrize("cv", [5, TimeSeriesSplit(5)], ids=["blocks", "forward"])
def test_time_shuffled_is_not_said_of_stretches_of_time(cv):
    assert not said(audited(DATED, cv=cv))


def test_headline_follows_the_time():
    """Claimed, corrected for the choice, and for the time too: the last is the honest one."""
    found = audited(X, time=DATES)
    claimed, chosen, honest = (one.value for one in (found.claimed, found.choosing, found.honest))
    assert found.mixes == "time"
    assert 0 > claimed >= chosen > 0.8 * honest
    assert found.optimism == pytest.approx(claimed - honest)
    for said in (
        f"Expect the neg_mean_squared_error on new rows to be {format_number(honest)} (95 % int",
        f"The search reports {format_number(claimed)}, which is {claimed - honest:.4f} too good.",
        f"choice of the best setting alone, it would be {format_number(chosen)}.",
        f"{chosen - honest:.4f} comes from tests of models that saw the rows around them in time.",
    ):
        assert said in found.conclusion
    assert found.refuted
    assert "It lies outside the interval, so it is refuted." in found.conclusion
    assert [row[0] for row in found.rows()] == ["claimed", "choosing", "honest", "rough"]
    page = found.to_html()
    for said in (
        "Corrected for the choice alone",
        "choosing: corrected for the choice alone, on the splits of the search",
        "honest: the choice tested by models that have not seen the rows around them in time",
        "Its splits tested models that saw the rows around them in time",
        "Lazarus E, Lewis DJ",
    ):
        assert said in page
    assert "unfounded" in audited(X, time=DATES, scoring=None).to_html()


@pytest.mark.parametrize("level", ["scores", "nested"])
def test_headline_follows_the_time_at_every_level(level):
    found = audited(X, level=level, time=DATES)
    assert found.honest.loss_value > 1.2 * found.claimed.loss_value
    assert "models that saw the rows around them in time" in found.conclusion
    assert "purged-5" in found.honest.method


def test_headline_is_not_that_of_outer_folds_that_mix():
    """They were asked for, so they are told; the honest risk is another one."""
    found = audited(X, level="nested", outer="5-fold", time=DATES)
    assert found.choosing.method.startswith("nested (5-fold")
    assert found.honest.loss_value > 1.2 * found.choosing.loss_value
    assert any("is not corrected for" in note for note in found.honest.notes)
    forward = audited(X, level="nested", outer="forward-5", time=DATES)
    assert forward.choosing is None
    assert forward.honest.method.startswith("nested (forward-5")


def test_chosen_without_knows_nothing_of_what_it_is_tested_on():
    """Each stretch is asked of the setting with the least loss on the others, by hand."""
    losses = np.array([[0.0, 0.0, 1.0, 1.0], [0.9, 0.9, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    kept = ReplayedSearch(losses, np.arange(4), np.ones(4), np.empty((3, 0)), None)
    method = ChoiceWithoutTestRows(None, 2, kept)
    assert method._choose_setting(np.array([0, 1])) == 1
    assert method._choose_setting(np.array([2, 3])) == 2  # that of the search among equals
    assert ChoiceWithoutTestRows(None, 2)._choose_setting(np.array([0, 1])) == 2


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
def test_headline_follows_groups_and_places(known, kind, level):
    found = neighbours(known=known, level=level)
    assert found.mixes == kind
    assert found.claimed.value == 1
    assert found.honest.value < 0.7
    assert found.refuted
    assert ("space-shuffled" in found.codes) == (kind == "space")


def test_headline_of_independent_rows_is_told_without_a_fault():
    """The findings want a collapse. Given places are kept apart in any case, dates are not."""
    X, y = tr.datasets.make_simple(200, random_state=0)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [5, 9]}, cv=SHUFFLED)
    places = np.random.default_rng(0).uniform(size=(200, 2))
    found = tr.audit(search.fit(X, y), X, y, block=places, replicates=20)
    assert "space-shuffled" not in found.codes
    assert "blocks-5" in found.honest.method
    X, y = DailyLoadProblem(memory=0.0)(N, random_state=2)
    found = audited(pd.DataFrame(X, columns=NAMES, index=DATED.index), y)
    assert not said(found)
    assert found.mixes is found.choosing is None
    assert found.honest.method.startswith("pairs")


def test_honest_risk_is_none_where_nothing_can_be_kept_apart():
    """A group that is a class: without it nothing can be fitted, and the sentence says why."""
    X, y, _, _ = grouped()
    search = GridSearchCV(LogisticRegression(), {"C": [1, 3]}, cv=SHUFFLED)
    found = tr.audit(search.fit(X, y), X, y, groups=y, replicates=20)
    assert found.honest is None
    assert found.refuted is None
    assert found.choosing.value is not None
    assert found.conclusion == (
        f"The accuracy that the search reports, {found.claimed.value:.4f}, comes from tests of "
        "models that saw other rows of their group. The accuracy without these is not known: "
        f"{found.why}"
    )
    assert "–" in found.to_html()


def test_honest_search_may_learn_of_times_later():
    search = tr.HonestSearchCV(DecisionTreeRegressor(random_state=0), {"min_samples_leaf": [2, 20]})
    search.set_params(cv="5-fold", outer=None).fit(X, Y)
    for level in ("bbc", "pairs", "nested"):
        found = tr.audit(search, X, Y, level=level, time=DATES, replicates=20)
        assert found.honest.value > 1.2 * found.claimed.value
    with pytest.raises(BadData, match="not the rows that this search was fitted on"):
        tr.audit(search, X + 1, Y, time=DATES)
    with pytest.raises(BadData, match="not the rows that this search was fitted on"):
        tr.audit(search, X + 1, Y, level="nested", time=DATES)


def test_conclusion_doubts_both_numbers_of_copies():
    """What no split can mend is said beside the number."""
    rows = np.repeat(np.arange(100), 2)
    X, y = (part[rows] for part in tr.datasets.make_simple(100, random_state=0))
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=SHUFFLED)
    found = tr.audit(search.fit(X, y), X, y, replicates=20)
    assert "Both numbers are too good if copies of a row are one case." in found.conclusion


def order_of(table, y=Y):
    return order_of_table(Data.check(table, y[: len(table)], task="regression"))


COOL = FRAME[["temperature"]]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (COOL.assign(when=ISO), ("column 'when'", True)),
        (COOL.assign(when=DATES), ("column 'when'", True)),
        (COOL.assign(when=pd.to_datetime(ISO).tz_localize("UTC")), ("column 'when'", True)),
        (COOL.assign(when=np.char.replace(ISO, "-", "").astype(int)), ("column 'when'", True)),
        (pl.DataFrame({"x": X[:, 2], "when": ISO}), ("column 'when'", True)),
        (FRAME.set_index(ISO), ("the index", True)),
        (FRAME.set_index(DATES)[::-1], ("the index", True)),
        (FRAME, ("column 'day'", True)),
        (FRAME.set_index("day"), ("the index", True)),
        (FRAME.rename(columns={"day": "Time"}), ("column 'Time'", True)),
        (X, ("column 0", False)),
        (FRAME.rename(columns={"day": "no"}), ("column 'no'", False)),
        (COOL.set_index(np.arange(N) * 2 + 3), ("the index", False)),
        (COOL.set_index(pd.RangeIndex(5, N + 5)), ("the index", False)),
        # A default index, unsorted or missing dates, shared values, steps of every size, text.
        (COOL, None),
        (COOL.set_index(np.arange(N)), None),
        (COOL.assign(when=np.random.default_rng(0).permutation(ISO)), None),
        (COOL.assign(when=[None, *ISO[1:]]), None),
        (COOL.assign(time=np.arange(N) // 2), None),
        (COOL.assign(time=np.sort(X[:, 2])), None),
        (COOL.assign(word=np.sort([f"w{i:04d}" for i in range(N)])), None),
        (FRAME.to_numpy()[:, 1:], None),
    ],
)
def test_order_of_table_finds_times_by_kind_or_by_name(table, expected):
    """The index first, then dates in any form, then a count; it is a time if named so."""
    found = order_of(table)
    assert (None if found is None else (found.column_label, found.has_times)) == expected


def test_order_of_table_is_none_of_rows_sorted_by_a_feature_or_y():
    """Its stretches differ, and nothing tells that a time has to do with it."""
    for by in (X[:, 2], Y):
        order = np.argsort(by)
        table = FRAME[["temperature"]].iloc[order].reset_index(drop=True).assign(no=np.arange(N))
        assert are_neighbours_alike(Y[order])
        assert order_of(table, Y[order]) is None


def test_neighbours_alike_are_more_than_chance():
    """Of 400 random orders about one in 740 goes beyond three standard errors."""
    rng = np.random.default_rng(0)
    codes = np.arange(300) // 15 % 2
    words = np.where(codes == 1, "ill", "well")
    for y in (
        Y,
        Y > 0,
        np.column_stack([rng.permutation(Y), Y]),
        codes,
        words,
        words.astype(object),
    ):
        assert are_neighbours_alike(y)
    alike = [are_neighbours_alike(rng.permutation(Y)) for _ in range(200)]
    alike += [are_neighbours_alike(rng.permutation(np.repeat(list("abc"), 30))) for _ in range(200)]
    assert sum(alike) <= 4
    for y in (np.ones(50), np.array([[]] * 50), words[rng.permutation(300)]):
        assert not are_neighbours_alike(y)


@pytest.mark.parametrize(
    "table",
    [FRAME.assign(when=ISO), FRAME, FRAME.set_index(ISO)],
    ids=["text", "number", "index"],
)
def test_headline_follows_times_that_nobody_gave(table):
    found = audited(table, names=NAMES)
    assert "time-shuffled" in found.codes
    assert "order-matters" not in found.codes
    assert found.mixes == "time"
    assert found.honest.loss_value > 1.2 * found.claimed.loss_value


def test_order_matters_is_said_of_a_count_that_nobody_calls_time():
    """Whether it is a time is not known, so the honest risk stays that of its level."""
    found = audited(FRAME.rename(columns={"day": "no"}))
    assert "order-matters" in found.codes
    (said,) = (f for f in found.findings if f.code == "order-matters")
    assert "The rows are sorted by column 'no', which counts them" in said.sentence
    assert "in 5 stretches of rows" in said.sentence
    assert "give it as time=" in said.remedy
    assert found.mixes is None
    assert found.honest.method.startswith("pairs")


def test_order_matters_is_not_said_of_sorted_independent_rows():
    """Of 4 draws, each told in four ways, none or one is taken for a series."""
    found, count = [], np.arange(60)
    for seed in range(4):
        x, rng = np.random.default_rng(seed).normal(size=(60, 3)), np.random.default_rng(seed + 99)
        y = (x[:, 0] + rng.normal(size=60) > 0).astype(int)
        table, by = pd.DataFrame(x, columns=list("abc")), np.argsort(x[:, 0])
        ordered = table.iloc[by].reset_index(drop=True)
        for one, target in (
            (table.assign(day=count), y),
            (table.assign(no=count), y),
            (ordered, y[by]),
            (ordered.assign(no=count), y[by]),
        ):
            grid = {"n_neighbors": [1, 15]}
            search = GridSearchCV(KNeighborsClassifier(), grid, cv=SHUFFLED).fit(one, target)
            codes = tr.audit(search, one, target, level="scores").codes
            found.append({"time-shuffled", "order-matters"} & set(codes))
    assert sum(map(bool, found)) <= 1
