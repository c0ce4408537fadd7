"""Columns of X that are named as groups, times, places or weights, and are then no features."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.core.errors import BadData, Refusal
from truerisk.data.named_columns import take_named_columns, without_columns

pd = pytest.importorskip("pandas")
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
    """The same table as another library holds it."""
    if library == "polars":
        return pytest.importorskip("polars").from_pandas(X)
    return pytest.importorskip("pyarrow").Table.from_pandas(X) if library == "pyarrow" else X


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_named_columns_are_taken_out(library):
    """The values are found, and X keeps the other columns in their order."""
    X = as_frame_of(library, table()[0])
    rows = {"groups": "patient", "block": ["east", "north"], "time": None, "sample_weight": None}
    left, found, names = take_named_columns(X, rows)
    columns = getattr(left, "column_names", None) or list(left.columns)
    assert list(columns) == ["a", "weight", "day", "b"]
    assert names == ("patient", "east", "north")
    assert np.asarray(found["groups"]).tolist() == (np.arange(N) // WEEK).tolist()
    assert np.shape(found["block"]) == (N, 2)


def test_arrays_leave_the_table_as_it_is():
    """What is given by values is no column, and X is the same object."""
    X, _ = table()
    rows = {"groups": X["patient"], "time": None}
    left, found, names = take_named_columns(X, rows)
    assert left is X
    assert found is rows
    assert names == ()


def test_last_column_is_not_taken_out():
    """A model needs a feature."""
    with pytest.raises(BadData, match="X has no other column, so that no feature is left"):
        without_columns(pd.DataFrame({"a": [1, 2]}), ("a",))


@pytest.mark.parametrize("name", ["groups", "time", "block", "sample_weight"])
def test_misspelt_column_is_refused_with_the_nearest(name):
    """The argument, the name and the likely one."""
    X, y = table()
    with pytest.raises(BadData, match=f"{name}='patien': X has no such column.*'patient'"):
        tr.estimate_risk(TREE, X, y, **{name: "patien"})


@pytest.mark.parametrize("name", ["groups", "time", "block", "sample_weight"])
def test_column_of_an_array_is_refused(name):
    """An array has no names."""
    X, y = table()
    with pytest.raises(BadData, match=f"{name}='a' names a column, and X is no frame"):
        tr.estimate_risk(TREE, X.to_numpy(), y, **{name: "a"})


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
    """The risk is that of the values, with the column taken out of X by hand."""
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
    """The sentence is that of the values: the name was looked up before."""
    X, y = table()
    named, columns = ASKED[name]
    with pytest.raises(Refusal) as by_name:
        VERBS[verb](X, y, **{name: named})
    with pytest.raises(Refusal) as by_hand:
        VERBS[verb](X, y, **{name: X[columns] if len(columns) > 1 else X[columns[0]]})
    assert str(by_name.value) == str(by_hand.value)
    assert "no such column" not in str(by_name.value)


def test_search_predicts_with_and_without_the_named_column():
    """A frame with the column of groups gives the answers of one without it."""
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


def test_best_estimator_refuses_the_named_column():
    """scikit-learn's own check says which column the model has not seen."""
    X, y = table()
    search = tr.HonestSearchCV(TREE, outer=None).fit(X, y, groups="patient")
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time.*patient"):
        search.best_estimator_.predict(X)


def test_fitted_search_is_validated_by_the_same_names():
    """The rows are those of the search, so that its answers serve."""
    X, y = table()
    search = tr.HonestSearchCV(LogisticRegression(max_iter=1000), {"C": [0.1, 1.0]})
    search.fit(X, y, groups="patient")
    found = tr.validate(search, X, y, groups="patient", replicates=0, subgroups="patient")
    assert found.risk.value is not None
    assert found.subgroups is not None


@pytest.mark.parametrize("has_seen", [False, True])
def test_finished_model_keeps_the_column_that_it_has_seen(has_seen):
    """A model that was fitted with the column is asked with it."""
    X, y = table()
    seen = X if has_seen else X.drop(columns="patient")
    model = FrozenEstimator(LogisticRegression(max_iter=1000).fit(seen, y))
    assert tr.validate(model, X, y, groups="patient").risk.value is not None


def test_audited_search_keeps_the_column_that_it_has_seen():
    """It is repeated with the columns that it was fitted on."""
    X, y = table()
    search = GridSearchCV(TREE, {"max_depth": [1, 2]}, cv=GroupKFold(3))
    search.fit(X, y, groups=X["patient"])
    assert tr.audit(search, X, y, groups="patient").honest.value is not None


POSITIONS = {
    "list": ColumnTransformer([("scale", StandardScaler(), [1, 6])]),
    "slice": ColumnTransformer([("scale", StandardScaler(), slice(1, 7))]),
    "negative": ColumnTransformer([("scale", StandardScaler(), [-1])]),
    "mask": ColumnTransformer([("scale", StandardScaler(), [False, True, *[False] * 5])]),
}


@pytest.mark.parametrize("columns", POSITIONS)
def test_model_of_positions_is_refused(columns):
    """Positions behind the column that is taken out would be those of other columns."""
    X, y = table()
    model = make_pipeline(POSITIONS[columns], TREE)
    with pytest.raises(Refusal, match="'patient' is taken out of X.*knows columns by position"):
        tr.estimate_risk(model, X, y, groups="patient")


def test_booster_of_positions_is_refused():
    """So are categorical features by number."""
    X, y = table()
    model = HistGradientBoostingClassifier(categorical_features=[6], max_iter=2)
    for call in (tr.estimate_risk, lambda m, *rows, **more: tr.assess({"b": m}, *rows, **more)):
        with pytest.raises(Refusal, match="knows columns by position"):
            call(model, X, y, groups="patient")


def test_model_of_names_or_of_positions_before_is_taken():
    """They stay right."""
    X, y = table()
    by_name = make_column_transformer((StandardScaler(), ["a", "b"]))
    before = make_column_transformer((StandardScaler(), [0, 1]))
    assert tr.estimate_risk(make_pipeline(by_name, TREE), X, y, groups="patient").value is not None
    assert tr.estimate_risk(make_pipeline(before, TREE), X, y, time="day").value is not None
