"""Times that nobody gave: dates in any form, numbers by name, and counts that only sort a table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

import truerisk as tr
from truerisk.auditing.mixed_splits import neighbours_alike, order_of_table
from truerisk.data.data import Data

N = 800
LOAD = tr.datasets.make_daily_load
X, Y = LOAD(N, random_state=4)
DATES = LOAD.dates(N)
NUMBERS = ["day", "weekday", "temperature"]
FRAME = pd.DataFrame(X, columns=NUMBERS)
ISO = DATES.astype(str)
SHUFFLED = KFold(5, shuffle=True, random_state=0)


def order_of(table, y=Y):
    return order_of_table(Data.check(table, y[: len(table)], task="regression"))


def audited(table, y=Y, names=None, **more):
    grid = {"min_samples_leaf": [2, 20]}
    model = DecisionTreeRegressor(random_state=0)
    search = GridSearchCV(model, grid, cv=SHUFFLED, scoring="neg_mean_squared_error")
    if names is not None:
        kept = make_column_transformer(("passthrough", names))
        search.param_grid = {f"decisiontreeregressor__{k}": v for k, v in grid.items()}
        search.estimator = make_pipeline(kept, model)
    return tr.audit(search.fit(table, y), table, y, replicates=20, **more)


@pytest.mark.parametrize(
    ("table", "place"),
    [
        (FRAME[["temperature"]].assign(when=ISO), "column 'when'"),
        (FRAME[["temperature"]].assign(when=DATES), "column 'when'"),
        (
            FRAME[["temperature"]].assign(when=pd.to_datetime(ISO).tz_localize("UTC")),
            "column 'when'",
        ),
        (
            FRAME[["temperature"]].assign(when=np.char.replace(ISO, "-", "").astype(int)),
            "column 'when'",
        ),
        (pl.DataFrame({"x": X[:, 2], "when": ISO}), "column 'when'"),
        (FRAME.set_index(ISO), "the index"),
        (FRAME.set_index(DATES)[::-1], "the index"),
        (FRAME, "column 'day'"),
        (FRAME.set_index("day"), "the index"),
        (FRAME.rename(columns={"day": "Time"}), "column 'Time'"),
    ],
    ids=[
        "text",
        "dates",
        "zone",
        "numbers",
        "polars",
        "index of text",
        "newest first",
        "day",
        "index day",
        "time",
    ],
)
def test_times_by_kind_or_by_name(table, place):
    """The index first, then columns of dates in any form, then a count that is named so."""
    found = order_of(table)
    assert (found.place, found.are_times) == (place, True)


@pytest.mark.parametrize(
    ("table", "place"),
    [
        (X, "column 0"),
        (FRAME.rename(columns={"day": "no"}), "column 'no'"),
        (FRAME[["temperature"]].set_index(np.arange(N) * 2 + 3), "the index"),
        (FRAME[["temperature"]].set_index(pd.RangeIndex(5, N + 5)), "the index"),
    ],
    ids=["array", "column", "index", "range"],
)
def test_counts_without_a_name_are_no_sure_times(table, place):
    """They say only that the table is sorted by them."""
    found = order_of(table)
    assert (found.place, found.are_times) == (place, False)


def test_no_order():
    """Unsorted or missing dates, a default index, shared values, steps of every size, text."""
    none = FRAME[["temperature"]]
    mixed = np.random.default_rng(0).permutation(ISO)
    for table in (
        none,
        none.set_index(np.arange(N)),
        none.assign(when=mixed),
        none.assign(when=[None, *ISO[1:]]),
        none.assign(time=np.arange(N) // 2),
        none.assign(time=np.sort(X[:, 2])),
        none.assign(word=np.sort([f"w{i:04d}" for i in range(N)])),
        FRAME.to_numpy()[:, 1:],
    ):
        assert order_of(table) is None


def test_a_table_sorted_by_a_feature_or_by_y_and_numbered_has_no_times():
    """Its stretches differ, and nothing tells that a time has to do with it."""
    for by in (X[:, 2], Y):
        order = np.argsort(by)
        table = FRAME[["temperature"]].iloc[order].reset_index(drop=True).assign(no=np.arange(N))
        assert neighbours_alike(Y[order])
        assert order_of(table, Y[order]) is None


def test_neighbours_alike_are_more_than_chance():
    """Of 400 random orders about one in 740 goes beyond three standard errors."""
    rng = np.random.default_rng(0)
    assert neighbours_alike(Y)
    assert neighbours_alike(Y > 0)
    assert neighbours_alike(np.column_stack([rng.permutation(Y), Y]))
    alike = [neighbours_alike(rng.permutation(Y)) for _ in range(200)]
    alike += [neighbours_alike(rng.permutation(np.repeat(list("abc"), 30))) for _ in range(200)]
    assert sum(alike) <= 4
    assert not neighbours_alike(np.ones(50))
    assert not neighbours_alike(np.array([[]] * 50))


@pytest.mark.parametrize(
    "table",
    [FRAME.assign(when=ISO), FRAME, FRAME.set_index(ISO)],
    ids=["text", "number", "index"],
)
def test_the_audit_finds_what_the_time_was_worth(table):
    """The claimed error of .87 is 1.32 in stretches, and that is the headline."""
    found = audited(table, names=NUMBERS)
    assert "time-shuffled" in found.codes
    assert "order-matters" not in found.codes
    assert found.mixes == "time"
    assert found.honest.loss_value > 1.3 * found.claimed.loss_value


def test_a_count_that_nobody_calls_time_is_a_warning():
    """Whether it is a time is not known, so the honest risk stays that of its level."""
    found = audited(FRAME.rename(columns={"day": "no"}))
    assert "order-matters" in found.codes
    (said,) = (f for f in found.findings if f.code == "order-matters")
    assert "The rows are sorted by column 'no', which counts them" in said.sentence
    assert "in 5 stretches of rows" in said.sentence
    assert "give it as time=" in said.remedy
    assert found.mixes is None
    assert found.honest.method.startswith("pairs")


def test_sorted_rows_that_do_not_depend_on_each_other_are_no_finding():
    """Of 4 draws, each told in four ways, none or one is taken for a series."""
    found = []
    for seed in range(4):
        x, rng = np.random.default_rng(seed).normal(size=(60, 3)), np.random.default_rng(seed + 99)
        y = (x[:, 0] + rng.normal(size=60) > 0).astype(int)
        table, by = pd.DataFrame(x, columns=list("abc")), np.argsort(x[:, 0])
        ordered = table.iloc[by].reset_index(drop=True)
        count = np.arange(60)
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


@pytest.mark.parametrize("kind", [str, object])
def test_words_of_classes_are_alike_as_their_codes_are(kind):
    """Frames hold words as objects."""
    codes = np.arange(300) // 15 % 2
    words = np.where(codes == 1, "ill", "well").astype(kind)
    assert neighbours_alike(codes)
    assert neighbours_alike(words)
    assert not neighbours_alike(words[np.random.default_rng(0).permutation(300)])
