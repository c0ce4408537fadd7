"""`permutation_test`: which labels change places, the loop over them, and what their risks say."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk import PermutationTest
from truerisk.core.progress import listen
from truerisk.diagnostics.permutation_test import problem_to_permute
from truerisk.diagnostics.permutations import LabelPermutations
from truerisk.extend import BadData, Data, Refusal, TrueRiskWarning

X, Y = tr.datasets.make_difficult(60, random_state=0)
GROUPS = np.arange(60) // 3
KNN = KNeighborsClassifier(), {"n_neighbors": [1, 3]}
SEARCH = tr.HonestSearchCV(*KNN, cv="3-fold")

# ---------------- which labels change places


def data(y, groups=None, task="classification"):
    return Data.check(np.arange(float(len(y)))[:, None], y, task=task, groups=groups)


def test_orders_of_rows_are_permutations_of_a_stream_of_their_own():
    """Each order is a permutation with a stream of its own, whichever others are asked for."""
    orders = LabelPermutations.from_data(data([0, 1] * 6), seed=3)
    assert (orders.permutation_kind, orders.n_units) == ("rows", 12)
    every = [orders.permutation(j) for j in range(5)]
    assert all(sorted(one) == list(range(12)) for one in every)
    assert len({tuple(one) for one in every}) == 5
    assert (
        LabelPermutations.from_data(data([0, 1] * 6), seed=3).permutation(4).tolist()
        == every[4].tolist()
    )
    assert (
        LabelPermutations.from_data(data([0, 1] * 6), seed=4).permutation(4).tolist()
        != every[4].tolist()
    )


def test_orders_of_groups_of_one_label_move_labels():
    """Groups of any size with one label each: a group has one label in every order, as often."""
    groups = np.array([5, 5, 2, 2, 2, 9, 7, 7, 1, 1])
    y = np.array([0, 0, 1, 1, 1, 0, 2, 2, 1, 1])
    orders = LabelPermutations.from_data(data(y, groups), seed=0)
    assert (orders.permutation_kind, orders.n_units) == ("labels of groups", 5)
    seen = set()
    for number in range(40):
        found = y[orders.permutation(number)]
        of_group = [set(found[groups == g]) for g in (5, 2, 9, 7, 1)]
        assert all(len(labels) == 1 for labels in of_group)
        told = tuple(labels.pop() for labels in of_group)
        assert sorted(told) == [0, 0, 1, 1, 2]
        seen.add(told)
    assert len(seen) > 10


def test_orders_of_groups_of_one_size_move_them_whole():
    """Rows that lie apart, labels that differ: in their order they go to a group of that size."""
    groups = np.array([0, 1, 2, 0, 1, 2, 3, 3, 3, 4, 4, 4, 5])
    y = np.array([0, 1, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0])
    orders = LabelPermutations.from_data(data(y, groups), seed=0)
    assert (orders.permutation_kind, orders.n_units) == ("groups of equal size", 5)
    blocks = {g: tuple(y[groups == g]) for g in range(6)}
    for number in range(40):
        order = orders.permutation(number)
        assert sorted(order) == list(range(13))
        moved = {g: tuple(y[order][groups == g]) for g in range(6)}
        assert sorted(moved.values()) == sorted(blocks.values())
        assert moved[5] == blocks[5]
        assert all(len(set(groups[order[groups == g]])) == 1 for g in range(6))


def test_orders_of_groups_of_single_rows_are_those_of_rows():
    orders = LabelPermutations.from_data(data([0, 1, 1, 0, 1], [4, 2, 0, 1, 3]), seed=0)
    assert orders.n_units == 5
    assert len({tuple(orders.permutation(j)) for j in range(30)}) > 15


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (data([0, 1, 0, 1, 1, 0], [0, 1, 1, 2, 2, 2]), "3 groups all differ in size and hold sev"),
        (data([2.5] * 4, task="regression"), "y has one value only"),
        (Data.check(np.eye(3), None, task="other"), "no target to permute"),
    ],
)
def test_orders_of_labels_that_cannot_change_places_are_refused(given, message):
    with pytest.raises(BadData, match=message):
        LabelPermutations.from_data(given, seed=0)


# ---------------- what the risks of permuted labels say


def found(null, observed=0.3, **more):
    told = {
        "permuted": "rows", "n_units": 50, "scoring": "zero-one", "method": "10-fold",
        "engine": "knn", "seed": 0, "search_seed": 1, "seconds": 2.0, "data_fingerprint": "ab",
    }  # fmt: skip
    return PermutationTest(observed=observed, null=np.array(null), **{**told, **more})


def test_permutation_test_counts_ties_and_the_observed_order():
    """(1 + as small)/(1 + permutations), where sums in another order are as small."""
    one = found([0.1 + 0.2, 0.3, 0.30001, 0.5])
    assert 0.1 + 0.2 > 0.3
    assert (one.n_as_good, one.n_permutations) == (2, 4)
    assert one.p_value == 3 / 5
    assert found([0.5] * 999).p_value == pytest.approx(0.001)
    assert found([0.3] * 9).p_value == 1


@pytest.mark.parametrize(
    ("options", "lines", "shown"),
    [
        (
            {"notes": ("few <orders>",)},
            [
                "p = 0.5: 1 of 3 permutations (rows) have a risk as small",
                "  observed: risk 0.3000 (zero-one, 10-fold)",
                "  permuted: risk 0.5000 on average, 0.2500 to 0.7500",
                "  note: few <orders>",
            ],
            "few &lt;orders&gt;",
        ),
        (
            {"observed": 0.7, "scoring": "concordance", "perfect": 1.0},
            [
                "p = 0.5: 1 of 3 permutations (rows) have a score as large",
                "  observed: score 0.7000 (concordance, 10-fold)",
                "  permuted: score 0.5000 on average, 0.2500 to 0.7500",
            ],
            "Scores with permuted labels",
        ),
    ],
    ids=["risk", "score"],
)
def test_permutation_test_prints_risks_and_scores(options, lines, shown):
    """Of scores, a permutation counts that has one as large, ties included."""
    one = found([0.25, 0.5, 0.75], **options)
    assert str(one).splitlines() == lines
    assert shown in one._repr_html_()
    assert found([0.7, 0.1 + 0.6], observed=0.7, perfect=1.0).p_value == 1


# ---------------- permutations are a plain loop


LDA = LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [0.0, 0.2, 0.8]}
PIPE = (
    make_pipeline(StandardScaler(), KNeighborsClassifier()),
    {"kneighborsclassifier__n_neighbors": [1, 4]},
)
TREE = DecisionTreeClassifier(max_features=1), {"max_depth": [1, 3]}
CASES = {
    "knn": (tr.HonestSearchCV(*KNN), Y, None),
    "knn in groups": (tr.HonestSearchCV(*KNN, cv="5-fold"), Y, GROUPS),
    "knn, labels of groups": (
        tr.HonestSearchCV(*KNN, scoring="auc", cv="3-fold"),
        Y[GROUPS],
        GROUPS,
    ),
    "lda": (tr.HonestSearchCV(*LDA, cv="5-fold"), Y, None),
    "one setting": (tr.HonestSearchCV(LDA[0]), Y, None),
    "cv and scoring": (tr.HonestSearchCV(*KNN, cv=4, scoring="balanced_accuracy"), Y, None),
    "steps": (tr.HonestSearchCV(*PIPE, cv="4-fold", outer="3-fold"), Y, None),
    "random trees": (tr.HonestSearchCV(*TREE, cv="3-fold", random_state=7), Y, None),
    "1-se": (tr.HonestSearchCV(*KNN, rule="1-se", cv="4-fold"), Y, None),
}


@pytest.mark.parametrize("case", CASES)
def test_permutation_test_is_a_plain_loop(case):
    """To the last bit, with folds, choices and models drawn anew on every permutation."""
    search, y, groups = CASES[case]
    found = tr.permutation_test(search, X, y, n_permutations=3, groups=groups, random_state=5)
    orders = LabelPermutations.from_data(Data.check(X, y, task="classification", groups=groups), 5)
    loop = [search.fit(X, y[orders.permutation(j)], groups=groups).risk_.value for j in range(3)]
    assert found.null.tolist() == loop
    assert found.observed == search.fit(X, y, groups=groups).risk_.value
    assert found.engine == search.risk_.engine


def test_permutation_test_keeps_weights_with_their_rows():
    """A row keeps its weight and is given another label."""
    weight = np.arange(60) % 3 + 0.5
    search = tr.HonestSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv="3-fold")
    found = tr.permutation_test(search, X, Y, n_permutations=2, sample_weight=weight)
    orders = LabelPermutations.from_data(Data.check(X, Y, task="classification"), 0)
    loop = [
        search.fit(X, Y[orders.permutation(j)], sample_weight=weight).risk_.value for j in range(2)
    ]
    assert found.null.tolist() == loop


def test_permutation_test_of_a_model_is_by_its_estimates():
    """Also of a regression."""
    y = X[:, 0] + np.random.default_rng(0).normal(size=60)
    found = tr.permutation_test(Ridge(), X, y, n_permutations=3)
    orders = LabelPermutations.from_data(Data.check(X, y, task="regression"), 0)
    assert found.observed == tr.estimate_risk(Ridge(), X, y).value
    loop = [tr.estimate_risk(Ridge(), X, y[orders.permutation(j)]).value for j in range(3)]
    assert found.null.tolist() == loop


def test_permutation_test_draws_by_number_wherever_it_computes():
    search = tr.HonestSearchCV(*KNN, cv="3-fold", engine="generic")
    here = tr.permutation_test(search, X, Y, n_permutations=4)
    there = tr.permutation_test(search, X, Y, n_permutations=4, n_jobs=2)
    assert here.null.tolist() == there.null.tolist()
    more = tr.permutation_test(search, X, Y, n_permutations=6)
    assert more.null[:4].tolist() == here.null.tolist()


def test_permutation_test_warns_once_and_reports_permutations():
    """What fits warn of is said of the labels as they are; progress is none of fits."""
    y, heard = np.r_[np.zeros(57, int), np.ones(3, int)], []
    with warnings.catch_warnings(record=True) as said, listen(heard.append):
        warnings.simplefilter("always")
        tr.permutation_test(tr.HonestSearchCV(*KNN), X, y, n_permutations=5)
    assert len([one for one in said if "has 3 rows for 5 folds" in str(one.message)]) == 1
    permuted = [one for one in heard if one.stage == "permuted"]
    assert {one.unit for one in permuted} == {"permutations"}
    assert (permuted[0].done, permuted[-1].done, permuted[-1].total) == (0, 5, 5)


@pytest.mark.parametrize("shared", ["_row_sums", "row_keys", "non_finite", "same_rows"])
def test_data_with_other_targets_shares_what_is_found_of_the_rows(shared):
    """Rows are summed, and their neighbours found, once for all permutations."""
    data = Data.check(X, Y, task="classification")
    other = data.with_targets_of(np.arange(60)[::-1])
    assert getattr(other, shared) is getattr(data, shared)
    assert other.y.tolist() == Y[::-1].tolist()
    assert other.codes.tolist() == data.codes[::-1].tolist()
    assert other.fingerprint == Data.check(X, Y[::-1], task="classification").fingerprint


# ---------------- p-values


def test_permutation_test_has_a_small_p_value_where_there_is_something_to_learn():
    """No permutation of labels that can be told is told as well."""
    found = tr.permutation_test(SEARCH, X, Y, n_permutations=99)
    assert found.p_value == 0.01
    assert abs(found.null.mean() - 0.5) < 0.05
    assert found.notes == ()


@pytest.mark.slow
def test_permutation_test_has_uniform_p_values_on_noise():
    """Over data sets without anything to learn no level is exceeded more often than it says."""
    p_values = []
    for seed in range(60):
        draw = np.random.default_rng(seed)
        noise, y = draw.normal(size=(24, 2)), draw.integers(0, 2, 24)
        y[:6] = [0, 0, 0, 1, 1, 1]
        found = tr.permutation_test(SEARCH, noise, y, n_permutations=19, random_state=seed)
        p_values.append(found.p_value)
    for level in (0.1, 0.25, 0.5, 0.75):
        error = np.sqrt(level * (1 - level) / 60)
        assert np.mean(np.array(p_values) <= level) < level + 3 * error
    assert 0.4 < np.mean(p_values) < 0.65


class Slow(ClassifierMixin, BaseEstimator):
    """Is said to be slow, and is not."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_permutation_test_foretells_hours_and_few_orders(monkeypatch):
    """What the labels as they are took says how long the permutations will take."""
    groups, y = np.repeat(np.arange(4), 15), np.repeat([0, 1, 0, 1], 15)
    found = tr.permutation_test(SEARCH, X, y, groups=groups, n_permutations=5)
    assert found.permuted == "labels of groups"
    assert found.notes == ("4 groups change places: the same orders are drawn repeatedly.",)
    monkeypatch.setattr("truerisk.diagnostics.permutation_test.LONG_TEST_SECONDS", 0.0)
    with pytest.warns(TrueRiskWarning, match=r"will take about .* \(engine 'generic'\)"):
        tr.permutation_test(Slow(), X, Y, n_permutations=2)


@pytest.mark.parametrize(
    ("search", "word"),
    [
        (tr.HonestSearchCV(*KNN, cv="5-fold"), "pairs (5-fold)"),
        (tr.HonestSearchCV(*KNN, outer="4-fold"), "nested (4-fold, inner 5-fold)"),
        (tr.HonestSearchCV(KNN[0], cv="5-fold"), "5-fold"),
        (KNN[0], "5-fold"),
        (GridSearchCV(*KNN), "5-fold"),
    ],
)
def test_problem_to_permute_has_the_method_of_the_search(search, word):
    """A single setting needs no pairs."""
    assert problem_to_permute(search, X, Y, None, {}).testing_method.name == word


# ---------------- rows in the order of time

N = 240
LOAD = tr.datasets.make_daily_load
DAYS, WATTS = LOAD(N, random_state=0)
TIMES = np.random.default_rng(0).permutation(N)


def in_time(search=None, X=DAYS, y=WATTS, **given):
    given = {"time": TIMES, "n_permutations": 19} | given
    return tr.permutation_test(LinearRegression() if search is None else search, X, y, **given)


def test_orders_in_time_are_begun_somewhere_else():
    """Every order is that of time, begun somewhere else; the same number, the same order."""
    data = Data.check(DAYS, WATTS, task="regression", time=TIMES)
    orders, by_time = LabelPermutations.from_data(data, 7), np.argsort(TIMES)
    begun = set()
    for number in range(20):
        taken = orders.permutation(number)[
            by_time
        ]  # the row whose label the first, second, ... has
        steps = np.diff(np.append(TIMES[taken], TIMES[taken[0]])) % N
        assert (steps == 1).all()
        begun.add(int(TIMES[taken[0]]))
        assert (
            orders.permutation(number) == LabelPermutations.from_data(data, 7).permutation(number)
        ).all()
    assert len(begun) > 10


def test_permutation_test_finds_a_relation_in_time():
    """By the forward risk of a model, or of a search, whose splits go forward inside."""
    found = in_time()
    assert found.permuted == "shifts in time"
    assert found.method == "forward-5"
    assert found.p_value == 0.05
    assert any("assumed stationary" in note for note in found.notes)
    search = tr.HonestSearchCV(Ridge(), {"alpha": [0.1, 10.0]})
    searched = in_time(search, n_permutations=4)
    assert searched.method == "nested (forward-5, inner forward-5)"
    assert searched.p_value == 0.2
    assert searched.observed == search.fit(DAYS, WATTS, time=TIMES).risk_.value


def test_permutation_test_of_two_unrelated_series_is_left_to_chance():
    """Both remember; the share of p at most .1 in 20 pairs is that of chance."""
    small = []
    for seed in range(20):
        noise = np.random.default_rng(seed).standard_normal((N, 2))
        for t in range(1, N):
            noise[t] += 0.8 * noise[t - 1]
        found = in_time(
            X=noise[:, :1], y=noise[:, 1], time=np.arange(N), random_state=seed, n_permutations=9
        )
        small.append(found.p_value <= 0.1)
    assert np.sum(small) <= 6


# ---------------- refusals

AHEAD = TimeSeriesSplit(3)
SIZES = np.repeat(np.arange(10), np.arange(1, 11))
IN_TIME = {"X": DAYS, "y": WATTS}


@pytest.mark.parametrize(
    ("search", "options", "error", "message"),
    [
        *(
            (SEARCH, {"n_permutations": n}, Exception, "n_permutations")
            for n in (0, -3, 2.5, "many", True)
        ),
        (SEARCH, {"y": np.ones(60)}, BadData, "y has only one class"),
        (SEARCH, {"X": X[:55], "y": Y[:55], "groups": SIZES}, BadData, "groups all differ in size"),
        (SEARCH, {"block": np.arange(60.0)}, Refusal, "block: no order of labels in space"),
        (tr.HonestSearchCV(*KNN, outer=None), {}, Refusal, "outer=None leaves out the risk"),
        (tr.HonestSearchCV(*KNN, time_limit=5), {}, Refusal, "a clock would decide"),
        (tr.HonestSearchCV(*KNN, error_score=np.nan), {}, Refusal, "use error_score='raise'"),
        (tr.HonestSearchCV(GridSearchCV(*KNN)), {}, Refusal, "GridSearchCV tunes inside its own"),
        (KNN[0], {"colour": 1}, Refusal, "colour: fit parameters go to a HonestSearchCV"),
        (tr.HonestSearchCV(*KNN, cv=AHEAD, outer=AHEAD), {}, Refusal, "go forward in time"),
        (Ridge(), {**IN_TIME, "time": np.arange(N) // 2}, Refusal, "rows 0 and 1 have one time"),
        (
            Ridge(),
            {**IN_TIME, "time": TIMES, "groups": np.arange(N) // 2},
            Refusal,
            "groups and times",
        ),
        (
            Ridge(),
            {"X": DAYS[:150], "y": WATTS[:150], "time": np.arange(150)},
            Refusal,
            "150 times: with fewer than",
        ),
    ],
)
def test_permutation_test_refuses_what_has_no_honest_null(search, options, error, message):
    """Of ties and groups in time, too, and of series of which the break is a large part."""
    with pytest.raises(error, match=message):
        tr.permutation_test(search, **{"X": X, "y": Y, "n_permutations": 2, **options})
