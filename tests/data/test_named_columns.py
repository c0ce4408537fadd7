"""Columns of X that are named as groups, times, places or weights, and are then no features."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.data.named_columns import take_named_columns, without_columns
from truerisk.extend import BadData, Refusal

WEEK, N = 7, 84
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)


def table():
    """A frame with two features and the four columns that say something of its rows."""
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    columns = {
        "patient": np.arange(N) // WEEK,
        "a": rng.normal(size=N) + y,
        "weight": rng.uniform(1, 2, N),
        "day": np.arange(N) * 1.0,
        "east": rng.uniform(size=N),
        "north": rng.uniform(size=N),
        "b": rng.normal(size=N),
    }
    return pd.DataFrame(columns), y


def as_frame_of(library, X):
    if library == "pyarrow":
        return pytest.importorskip("pyarrow").Table.from_pandas(X)
    return pl.from_pandas(X) if library == "polars" else X


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_take_named_columns_finds_values_and_what_is_left(library):
    X = as_frame_of(library, table()[0])
    rows = {"groups": "patient", "block": ["east", "north"], "time": None, "sample_weight": None}
    left, found, names = take_named_columns(X, rows)
    columns = getattr(left, "column_names", None) or list(left.columns)
    assert list(columns) == ["a", "weight", "day", "b"]
    assert names == ("patient", "east", "north")
    assert np.asarray(found["groups"]).tolist() == (np.arange(N) // WEEK).tolist()
    assert np.shape(found["block"]) == (N, 2)


def test_take_named_columns_leaves_a_table_whose_values_are_given():
    X, _ = table()
    rows = {"groups": X["patient"], "time": None}
    left, found, names = take_named_columns(X, rows)
    assert left is X
    assert found is rows
    assert names == ()


def test_without_columns_keeps_a_feature():
    with pytest.raises(BadData, match="X has no other column, so that no feature is left"):
        without_columns(pd.DataFrame({"a": [1, 2]}), ("a",))


@pytest.mark.parametrize("name", ["groups", "time", "block", "sample_weight"])
def test_take_named_columns_refuses_a_name_that_is_no_column(name):
    """The argument, the name and the likely one; an array has no names."""
    X, _ = table()
    with pytest.raises(BadData, match=f"{name}='patien': X has no such column.*'patient'"):
        take_named_columns(X, {name: "patien"})
    with pytest.raises(BadData, match=f"{name}='a' names a column, and X is no frame"):
        take_named_columns(X.to_numpy(), {name: "a"})


ASKED = {
    "groups": ("patient", ["patient"]),
    "time": ("day", ["day"]),
    "block": (["east", "north"], ["east", "north"]),
    "sample_weight": ("weight", ["weight"]),
}


def searched(rows):
    """Return a grid search whose splits respect the groups or times that are given."""
    splits = {"groups": GroupKFold(3), "time": TimeSeriesSplit(3)}
    cv = next((splits[name] for name in rows if name in splits), 3)
    return GridSearchCV(TREE, {"max_depth": [1, 2]}, cv=cv)


def audited(X, y, sample_weight=None, **rows):
    """Return the honest risk of a search that was fitted without the named column."""
    all_rows, _ = table()
    fit = {"groups": all_rows["patient"]} if rows.get("groups") is not None else {}
    fit |= {} if sample_weight is None else {"sample_weight": all_rows["weight"]}
    named = [column for columns in (*rows.values(), sample_weight) for column in names_in(columns)]
    search = searched(rows).fit(X.drop(columns=named), y, **fit)
    weights = None if sample_weight is None else {"sample_weight": sample_weight}
    return tr.audit(search, X, y, fit_params=weights, **rows).honest


def names_in(given):
    """Return the columns that an argument names; none where it holds values."""
    return [given] if isinstance(given, str) else given if isinstance(given, list) else []


VERBS = {
    "estimate_risk": lambda X, y, **rows: tr.estimate_risk(TREE, X, y, **rows),
    "risk_curve": lambda X, y, **rows: tr.risk_curve(TREE, {"max_depth": [1, 2]}, X, y, **rows)[0],
    "search": lambda X, y, **rows: (
        tr.HonestSearchCV(TREE, {"max_depth": [1, 2]}).fit(X, y, **rows).risk_
    ),
    "search of a search": lambda X, y, **rows: (
        tr.HonestSearchCV(searched(rows)).fit(X, y, **rows).risk_
    ),
    "assess": lambda X, y, **rows: tr.assess({"tree": TREE}, X, y, **rows).risks["tree"],
    "validate": lambda X, y, **rows: (
        tr.validate(LogisticRegression(max_iter=1000), X, y, replicates=0, **rows).risk
    ),
    "permutation_test": lambda X, y, **rows: (
        tr.permutation_test(TREE, X, y, n_permutations=2, **rows).observed
    ),
    "learning_curve": lambda X, y, **rows: tr.learning_curve(
        TREE, X, y, sizes=[20, 30, 40, 50], **rows
    ).values[0],
    "audit": audited,
}
NO_TIMES_NOR_PLACES = ("permutation_test", "learning_curve")


@pytest.mark.parametrize(
    ("verb", "name"),
    [
        (verb, name)
        for verb in VERBS
        for name in ASKED
        if name in ("groups", "sample_weight") or verb not in NO_TIMES_NOR_PLACES
    ],
)
def test_verb_takes_a_name_for_the_values_of_a_column(verb, name):
    X, y = table()
    named, columns = ASKED[name]
    values = X[columns] if len(columns) > 1 else X[columns[0]]
    by_name = VERBS[verb](X, y, **{name: named})
    by_hand = VERBS[verb](X.drop(columns=columns), y, **{name: values})
    assert getattr(by_name, "value", by_name) == getattr(by_hand, "value", by_hand)
    assert getattr(by_name, "value", by_name) is not None


@pytest.mark.parametrize("verb", NO_TIMES_NOR_PLACES)
@pytest.mark.parametrize("name", ["time", "block"])
def test_verb_that_serves_no_times_nor_places_refuses_a_name_as_it_does_values(verb, name):
    X, y = table()
    named, columns = ASKED[name]
    with pytest.raises(Refusal) as by_name:
        VERBS[verb](X, y, **{name: named})
    with pytest.raises(Refusal) as by_hand:
        VERBS[verb](X, y, **{name: X[columns] if len(columns) > 1 else X[columns[0]]})
    assert str(by_name.value) == str(by_hand.value)
    assert "no such column" not in str(by_name.value)


def test_search_predicts_with_and_without_the_named_column():
    """scikit-learn's own check says which column the best estimator has not seen."""
    X, y = table()
    search = tr.HonestSearchCV(TREE, {"max_depth": [1, 2]}, outer=None)
    search.fit(X, y, groups="patient", sample_weight="weight")
    left = X.drop(columns=["patient", "weight"])
    assert search.row_columns_ == ("patient", "weight")
    assert search.feature_names_in_.tolist() == list(left.columns)
    for ask in (search.predict, search.predict_proba):
        assert np.array_equal(ask(X), ask(left))
    assert search.score(X, y) == search.score(left, y)
    assert np.array_equal(search.best_estimator_.predict(left), search.predict(X))
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time.*patient"):
        search.best_estimator_.predict(X)


def test_validate_takes_a_fitted_search_by_the_same_names():
    X, y = table()
    search = tr.HonestSearchCV(LogisticRegression(max_iter=1000), {"C": [0.1, 1.0]})
    search.fit(X, y, groups="patient")
    found = tr.validate(search, X, y, groups="patient", replicates=0, subgroups="patient")
    assert found.risk.value is not None
    assert found.subgroups is not None


@pytest.mark.parametrize("has_seen", [False, True])
def test_validate_keeps_the_column_that_a_finished_model_has_seen(has_seen):
    X, y = table()
    seen = X if has_seen else X.drop(columns="patient")
    model = FrozenEstimator(LogisticRegression(max_iter=1000).fit(seen, y))
    assert tr.validate(model, X, y, groups="patient").risk.value is not None


def test_audit_keeps_the_column_that_the_search_has_seen():
    X, y = table()
    search = GridSearchCV(TREE, {"max_depth": [1, 2]}, cv=GroupKFold(3))
    search.fit(X, y, groups=X["patient"])
    assert tr.audit(search, X, y, groups="patient").honest.value is not None


def scaled(columns):
    return make_pipeline(ColumnTransformer([("scale", StandardScaler(), columns)]), TREE)


@pytest.mark.parametrize(
    "model",
    [
        scaled([1, 6]),
        scaled(slice(1, 7)),
        scaled([-1]),
        scaled([False, True, *[False] * 5]),
        HistGradientBoostingClassifier(categorical_features=[6], max_iter=2),
    ],
    ids=["list", "slice", "negative", "mask", "booster"],
)
def test_take_named_columns_refuses_a_model_of_positions(model):
    """Positions behind the column that is taken out would be those of other columns."""
    X, y = table()
    for call in (tr.estimate_risk, lambda m, *rows, **more: tr.assess({"b": m}, *rows, **more)):
        with pytest.raises(Refusal, match="'patient' is taken out of X.*knows columns by position"):
            call(model, X, y, groups="patient")


@pytest.mark.parametrize(("columns", "by"), [(["a", "b"], "groups"), ([0, 1], "time")])
def test_take_named_columns_leaves_names_and_earlier_positions_right(columns, by):
    X, y = table()
    named = {"groups": "patient", "time": "day"}[by]
    assert tr.estimate_risk(scaled(columns), X, y, **{by: named}).value is not None
