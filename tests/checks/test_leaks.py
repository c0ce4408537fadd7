"""Copies and groups on both sides of a split, parts fitted before, and poor folds are named."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    LeaveOneGroupOut,
    TimeSeriesSplit,
)
from sklearn.multioutput import ClassifierChain
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.support.data import checked
from tests.support.plans import drawn, splits_of

import truerisk as tr
from truerisk.checks.inner_splits import warn_of_inner_splits
from truerisk.checks.leak_warnings import warn_of_leaks
from truerisk.checks.splits import candidate_count_findings, split_findings
from truerisk.exceptions import (
    DuplicateRowsWarning,
    FittedPartWarning,
    GroupLeakWarning,
    SpaceLeakWarning,
    TimeLeakWarning,
)
from truerisk.extend import Family
from truerisk.methods import LeaveOneOut, Nested, as_method

RNG = np.random.default_rng(0)
N = 30
X = RNG.integers(3, size=(N, 2)).astype(float)  # nine different rows at most
DISTINCT = RNG.normal(size=(N, 2))
Y = np.arange(N) % 2
GROUPS = np.arange(N) // 3
SHUFFLED = KFold(3, shuffle=True, random_state=0)
SEARCH = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=2)


@pytest.fixture
def no_warning():
    """Make every warning an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def leaking(plan, same):
    """Return the rows tested by a fit that saw another row which is the `same`."""
    pairs = ((s, t) for train, test in splits_of(plan) for t in test for s in train)
    return sorted({int(t) for s, t in pairs if s != t and same(s, t)})


def planned(method, X, groups=None):
    """Return the data, the method and its plan."""
    method, data = as_method(method), checked(X, Y, groups=groups)
    return data, method, drawn(method, data)


@pytest.mark.parametrize("method", ["5-fold", "loo", "holdout", "nested", "reversed 3-fold"])
@pytest.mark.parametrize("table", [np.array, pd.DataFrame, sp.csr_matrix], ids=str)
def test_duplicate_rows_warning_counts_copies_across_splits(method, table):
    data, chosen, plan = planned(method, table(X))
    tested = plan.part_named("outer") if chosen.tunes_inside else plan
    expected = leaking(tested, lambda s, t: Y[s] == Y[t] and (X[s] == X[t]).all())
    pair = [i for i in range(N) if Y[i] == Y[expected[0]] and (X[i] == X[expected[0]]).all()][:2]
    sentence = (
        f"{len(expected)} of {N} rows are exact copies (rows {pair[0]} and {pair[1]}, for example, "
        "have equal X and equal y): the model that was tested on one copy had the other in its "
        "training set."
    )
    with pytest.warns(DuplicateRowsWarning, match=re.escape(sentence)):
        warn_of_leaks(data, chosen, plan)


@pytest.mark.parametrize("splitter", [KFold(4), KFold(5, shuffle=True, random_state=0)], ids=str)
def test_group_leak_warning_counts_rows_and_names_the_remedy(splitter):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The groups parameter is ignored")  # scikit-learn's own
        data, chosen, plan = planned(splitter, DISTINCT, GROUPS)
    expected = leaking(plan, lambda s, t: GROUPS[s] == GROUPS[t])
    assert expected
    said = f"groups are given but method 'KFold.* {len(expected)} rows .first: row {expected[0]}"
    with pytest.warns(GroupLeakWarning, match=f"{said}.*'10-fold' or a Group splitter"):
        warn_of_leaks(data, chosen, plan)


def test_results_repeat_the_warning_of_split_groups_in_their_notes():
    y, grid = np.arange(N) % 2, {"var_smoothing": [1e-9, 1]}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The groups parameter is ignored")  # scikit-learn's own
        with pytest.warns(GroupLeakWarning):
            search = tr.HonestSearchCV(GaussianNB(), grid, cv=5, checks=False).fit(
                DISTINCT, y, groups=np.arange(N) % 7
            )
        with pytest.warns(GroupLeakWarning):
            estimate = tr.estimate_risk(GaussianNB(), DISTINCT, y, cv=5, groups=np.arange(N) % 7)
    # The honest risk of the search is tested in folds of whole groups.
    assert not any("ignores them" in note for note in search.risk_.notes)
    for risk in (estimate, search.selected_risk_):
        assert sum("ignores them" in note for note in risk.notes) == 1
        assert "ignores them" in risk.to_html()


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
@pytest.mark.parametrize(
    ("table", "options", "category", "said"),
    [
        (DISTINCT, {"groups": GROUPS, "cv": KFold(4)}, GroupLeakWarning, "ignores them"),
        (DISTINCT, {"time": np.arange(N), "cv": KFold(4)}, TimeLeakWarning, "time is given but"),
        (
            DISTINCT,
            {"block": np.c_[:N, :N], "cv": KFold(4, shuffle=True)},
            SpaceLeakWarning,
            "block is given but",
        ),
        (
            DISTINCT,
            {"cv": [(np.arange(N), np.arange(N))]},
            DuplicateRowsWarning,
            "were trained on them",
        ),
        (X, {"cv": "5-fold"}, DuplicateRowsWarning, "had the other in its training set"),
    ],
    ids=["groups", "time", "space", "same rows", "copies"],
)
def test_results_print_the_warning_of_a_leak_below_the_estimate(table, options, category, said):
    with pytest.warns(category, match=said):
        risk = tr.estimate_risk(KNeighborsClassifier(), table, Y, checks=False, **options)
    assert sum(said in note for note in risk.notes) == 1
    text = " ".join(str(risk).partition("\n")[2].split())
    assert text.startswith("warning: ")
    assert said in text


def test_pages_state_the_copies_of_rows_once():
    """The finding of an audit or an assessment has the words of the warning."""
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=5).fit(X, Y)
    with pytest.warns(DuplicateRowsWarning):
        results = [tr.audit(search, X, Y), tr.assess({"knn": search}, X, Y)]
    for result in results:
        assert "duplicate-rows" in [finding.code for finding in result.findings]
        for text in (str(result), result.to_html()):
            assert " ".join(text.split()).count("had the other in its training set") == 1


@pytest.mark.parametrize(
    "method", ["5-fold", Nested("5-fold", "4-fold"), LeaveOneGroupOut(), "three-way"], ids=str
)
@pytest.mark.parametrize("table", [DISTINCT, DISTINCT[GROUPS]], ids=["distinct", "copies"])
def test_leak_warnings_are_silent_where_no_group_is_cut(no_warning, method, table):
    warn_of_leaks(*planned(method, table, GROUPS))


def test_leak_warnings_of_nested_validation_concern_outer_test_rows_only(no_warning):
    """Inner splits that cut groups may change the choice, which is tested on other groups."""
    warn_of_leaks(*planned(Nested("5-fold", SHUFFLED), DISTINCT, GROUPS))
    data, method, plan = planned(Nested(KFold(4), SHUFFLED), DISTINCT, GROUPS)
    outer_rows = leaking(plan.part_named("outer"), lambda s, t: GROUPS[s] == GROUPS[t])
    sentence = re.escape(f"{len(outer_rows)} rows (first: row {outer_rows[0]})")
    with pytest.warns(GroupLeakWarning, match=f"{sentence}.*The estimate is too good"):
        warn_of_leaks(data, method, plan)


@pytest.mark.parametrize(
    ("known", "category"),
    [("groups", GroupLeakWarning), ("time", TimeLeakWarning), ("block", SpaceLeakWarning)],
)
def test_leak_warnings_of_a_search_say_that_its_score_is_too_good(known, category):
    """The risk is tested in splits of its own, so it is not what is too good."""
    rows = {"groups": GROUPS, "time": np.arange(N), "block": np.arange(N).astype(float)}[known]
    search = tr.HonestSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1]}, cv=SHUFFLED, outer=None)
    with pytest.warns(category, match="The score of the search is too good"):
        search.fit(DISTINCT, Y, **{known: rows})


def test_leak_warnings_point_to_the_caller_and_pass_apparent_rows(no_warning):
    """.632+ tests its apparent rows on purpose, and its samples draw groups whole."""
    learner = KNeighborsClassifier(1)
    with pytest.warns(DuplicateRowsWarning) as caught:
        tr.estimate_risk(learner, X, Y, cv="3-fold")
    assert caught[0].filename == __file__
    method = tr.methods.Bootstrap(".632+", replicates=5)
    tr.estimate_risk(learner, DISTINCT, Y, cv=method, groups=GROUPS)
    twins = np.vstack([DISTINCT, DISTINCT[:1]])
    with pytest.warns(
        DuplicateRowsWarning, match="^2 of 31 rows are exact copies .rows 0 and 30, for"
    ):
        tr.estimate_risk(learner, twins, np.append(Y, Y[0]), cv=".632+")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (clone(SEARCH).set_params(cv=None), "GridSearchCV .* cv=None"),
        (
            make_pipeline(StandardScaler(), LogisticRegressionCV(Cs=2, cv=KFold(3))),
            "LogisticRegressionCV .* logisticregressioncv__cv=KFold",
        ),
    ],
)
def test_time_leak_warning_names_splits_inside_a_model(model, said):
    """Those that go forward are silent, and so are all where rows have no times."""
    X, y = tr.datasets.make_difficult(90, random_state=0)
    time = np.arange(90)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        with pytest.warns(TimeLeakWarning, match=said):
            tr.estimate_risk(model, X, y, time=time)
        last = model[-1] if isinstance(model, Pipeline) else model
        last.set_params(cv=TimeSeriesSplit(2))
        warnings.simplefilter("error", TimeLeakWarning)
        tr.estimate_risk(model, X, y, time=time)
        last.set_params(cv=3)
        tr.estimate_risk(model, X, y)


class OwnSplits:
    """Splits of a user, which may go forward."""

    def split(self, X, y=None, groups=None):
        return TimeSeriesSplit(2).split(X)


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        # They choose nothing by their splits, and what they do with rows inside is their own.
        (ClassifierChain(KNeighborsClassifier()), None),
        (StackingClassifier([("knn", KNeighborsClassifier())], cv=3), None),
        (CalibratedClassifierCV(KNeighborsClassifier(), cv=3), None),
        (SEARCH, {"cv": [TimeSeriesSplit(2)]}),
        (clone(SEARCH).set_params(cv=OwnSplits()), None),
        (tr.HonestSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, outer=None), None),
    ],
)
def test_time_leak_warning_is_silent_of_splits_that_choose_nothing(no_warning, model, grid):
    warn_of_inner_splits(Family.from_grid(model, grid))


ROWS = np.random.default_rng(0).normal(size=(60, 3)) + (np.arange(60) % 2)[:, None]
LABELS = np.arange(60) % 2
FROZEN = FrozenEstimator(GaussianNB().fit(ROWS, LABELS))
FITTED = GaussianNB().fit(ROWS, LABELS)


class Remembers(ClassifierMixin, BaseEstimator):
    """Its clone is itself, so that it knows every row of every fold before."""

    def __init__(self):
        self.known = {}

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.known |= {row.tobytes(): label for row, label in zip(X, y, strict=True)}
        return self

    def predict(self, X):
        return np.array([self.known.get(row.tobytes(), 0) for row in X])


@pytest.mark.parametrize(
    ("model", "grid", "said"),
    [
        (FROZEN, None, "FrozenEstimator"),
        (CalibratedClassifierCV(FROZEN), None, r"estimator \(FrozenEstimator\)"),
        (FixedThresholdClassifier(FROZEN), None, r"estimator \(FrozenEstimator\)"),
        (VotingClassifier([("a", FROZEN), ("b", FITTED)]), None, r"a \(FrozenEstimator\)"),
        (make_pipeline(StandardScaler(), FROZEN), None, r"frozenestimator \(FrozenEstimator\)"),
        (Remembers(), None, "Remembers"),
        (
            make_pipeline(StandardScaler(), GaussianNB()),
            {"gaussiannb": [GaussianNB(), FROZEN]},
            r"gaussiannb \(FrozenEstimator\)",
        ),
    ],
)
def test_fitted_part_warning_names_what_no_fold_fits_anew(model, grid, said):
    """A part is named wherever it stands, and by the parameter that the grid puts it in."""
    with pytest.warns(FittedPartWarning, match=f"clone keeps what .*{said} learned"):
        tr.risk_curve(model, grid, ROWS, LABELS, cv="3-fold")


@pytest.mark.parametrize(
    ("model", "cv"),
    [
        (FITTED, "3-fold"),
        (CalibratedClassifierCV(GaussianNB(), cv=2), "3-fold"),
        (clone(SEARCH).fit(ROWS, LABELS), "3-fold"),
        (StackingClassifier([("a", FITTED)], cv=2), "3-fold"),
        (FROZEN, "apparent"),  # its model sees all rows in any case
    ],
)
def test_fitted_part_warning_is_silent_of_what_clone_empties(no_warning, model, cv):
    tr.estimate_risk(model, ROWS, LABELS, cv=cv)


def test_fitted_part_is_a_finding_of_an_audit_instead(no_warning):
    grid = {"method": ["sigmoid", "isotonic"]}
    search = GridSearchCV(CalibratedClassifierCV(FROZEN), grid, cv=3).fit(ROWS, LABELS)
    assert "state-survives-clone" in tr.audit(search, ROWS, LABELS).codes


COPIED, SAME_FOLD = (np.arange(120.0).reshape(60, 2) for _ in range(2))
COPIED[2] = COPIED[0]
SAME_FOLD[10] = SAME_FOLD[0]
INDEX = np.arange(60)


@pytest.mark.parametrize(
    ("changed", "folds", "expected"),
    [
        ({}, INDEX % 5, set()),
        ({"X": COPIED}, INDEX % 5, {"duplicate-rows"}),
        ({"X": COPIED, "y": LABELS * 0.5 + 0.1 * INDEX}, INDEX % 5, set()),
        ({"X": SAME_FOLD}, INDEX % 5, set()),
        ({"groups": INDEX // 2}, INDEX % 5, {"groups-split"}),
        ({"groups": INDEX % 5}, INDEX % 5, set()),
        ({"y": np.repeat([0, 1], 30)}, INDEX // 12, {"class-missing"}),
        ({"y": np.repeat([0, 1], 30)}, INDEX % 5, set()),
        ({"y": np.where(INDEX == 7, 2, LABELS)}, None, {"class-missing"}),
        ({}, None, set()),
        ({}, INDEX // 2 % 10, {"few-rows-per-fold"}),
    ],
)
def test_split_findings_of_one_plan(changed, folds, expected):
    """Without `folds` the plan is that of leave-one-out."""
    table = {"X": np.arange(120.0).reshape(60, 2), "y": LABELS} | changed
    data = checked(table.pop("X"), table.pop("y"), **table)
    method = LeaveOneOut() if folds is None else tr.methods.KFold(folds=folds)
    assert {finding.code for finding in split_findings(data, drawn(method, data))} == expected


@pytest.mark.parametrize(("n_settings", "is_said"), [(30, False), (31, True)])
def test_row_findings_say_that_settings_exceed_half_the_rows(n_settings, is_said):
    found = {
        finding.code for finding in candidate_count_findings(checked(COPIED, LABELS), n_settings)
    }
    assert ("many-candidates" in found) is is_said
