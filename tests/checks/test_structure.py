"""Near copies, group numbers and rows in order: what is seen in drawn tables and left alone."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from truerisk.checks import rows as rows_checked
from truerisk.checks.agreement import make_outcome
from truerisk.checks.copies import ColumnScales, find_copies
from truerisk.checks.group_numbers import measure_agreement
from truerisk.checks.rows import _Columns, structure_findings
from truerisk.extend import Data


def walk(seed, n=200):
    """Draw a random walk and a table whose first column is the number of the row."""
    rng = np.random.default_rng(seed)
    y = np.cumsum(rng.standard_normal(n)) + rng.standard_normal(n)
    return np.column_stack([np.arange(n), rng.standard_normal((n, 2))]), y


def coins(seed, k=30, size=5, flips=0.1):
    """Draw group numbers and a coin for each group, with some labels flipped."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(k), size))
    return group, (rng.random(k) < 0.5)[group] ^ (rng.random(len(group)) < flips)


def numbered(seed):
    """Draw rows with the number of their group as a column, and some labels flipped."""
    group, y = coins(seed)
    noise = np.random.default_rng(seed + 100).standard_normal((len(y), 4))
    return np.column_stack([group, noise]), y.astype(int)


def test_structure_findings_are_silent_once_groups_times_or_places_are_given():
    """Near copies, order and group numbers are seen in every drawing unless the user told them."""
    for seed in range(3):
        X, y, patient = visits(seed)
        assert codes_of(X, y) == {"near-copies"}
        assert codes_of(X, y, groups=patient) == set()
        assert "near-copies" not in codes_of(X, y, time=np.arange(160))
        assert "near-copies" not in codes_of(X, y, block=X[:, :2])
        X, y = numbered(seed)
        assert "group-numbers" in codes_of(X, y)
        assert "group-numbers" not in codes_of(X, y, groups=X[:, 0].astype(int))
        X, y = walk(seed)
        assert "rows-in-order" in codes_of(X, y, task="regression")
        assert "rows-in-order" not in codes_of(X, y, task="regression", time=X[:, 0])
        assert codes_of(X, y, task="regression", block=X[:, 1:]) == set()


def measured_again(seed, n=100):
    """Draw rows that occur twice in X, in any order; y has a value per pair and some noise."""
    rng = np.random.default_rng(seed)
    pair = rng.permutation(2 * n) // 2
    X, value = rng.normal(size=(n, 4)), rng.normal(size=n)
    return X[pair], value[pair] + 0.3 * rng.normal(size=2 * n)


def test_near_copies_are_rows_of_equal_columns_whose_outcomes_agree():
    """They are no exact copies, because y differs; outcomes that do not agree are no evidence."""
    for seed in range(3):
        X, y = measured_again(seed)
        data = Data.check(X, y, task="regression")
        (finding,) = structure_findings(data)
        assert finding.code == "near-copies"
        assert "another row is equal to them in all numbers of X, and the next" in finding.sentence
        assert codes_of(X, np.random.default_rng(seed).permutation(y), task="regression") == set()
        assert codes_of(X, np.arange(200) % 2) == set()


def codes_of(X, y, task="classification", **more):
    """Return the codes of the findings."""
    data = Data.check(X, y, task=task, **more)
    return {finding.code for finding in structure_findings(data)}


def visits(seed, k=40, size=4, noise=0.2, p=5, shuffled=True):
    """Draw patients with several visits each; y is a coin for each patient."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(k), size)
    X = rng.standard_normal((k, p))[patient] + noise * rng.standard_normal((k * size, p))
    y = (rng.random(k) < 0.5)[patient].astype(int)
    order = rng.permutation(len(y)) if shuffled else np.arange(len(y))
    return X[order], y[order], patient[order]


@pytest.mark.parametrize("p", [2, 5, 20])
def test_structure_findings_leave_independent_rows_alone(p):
    """Normal columns, heavy tails and whole numbers give no finding."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        for X in (
            rng.standard_normal((150, p)),
            rng.standard_t(2, (150, p)),
            np.round(3 * rng.standard_normal((150, p))),
        ):
            f = X[:, 0] + rng.standard_normal(150)
            assert codes_of(X, (f > 0).astype(int)) == set()
            assert codes_of(X, f, task="regression") == set()


def test_structure_findings_leave_real_and_sorted_tables_alone():
    """Independent rows give no finding if they are sorted by class, by y or by a feature."""
    for load in (load_breast_cancer, load_iris, load_wine):
        assert codes_of(*load(return_X_y=True)) == set()
    assert codes_of(*load_diabetes(return_X_y=True), task="regression") == set()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((200, 3))
        f = np.sin(2 * X[:, 0]) + 0.5 * rng.standard_normal(200)
        label = (f > 0).astype(int)
        for by in (label, f, X[:, 0]):
            order = np.argsort(by, kind="stable")
            assert codes_of(X[order], label[order]) == set() or by is f
            assert codes_of(X[order], f[order], task="regression") == set() or by is label


def test_structure_findings_do_not_depend_on_scale_columns_or_names_of_classes():
    for X, y in (visits(1)[:2], numbered(1)):
        expected = codes_of(X, y)
        assert expected
        assert codes_of(X[:, ::-1] * 7 + 3, np.where(y == 1, "a", "b")) == expected
        for scale in (1e250, 1e-300):
            assert codes_of(X * scale, y) == expected


class Foreign:
    """A matrix of another library, which can be counted, cut and made an array."""

    def __init__(self, content):
        self.content, self.shape = content, content.shape

    def __len__(self):
        return len(self.content)

    def __getitem__(self, rows):
        if isinstance(rows, tuple):
            raise TypeError("rows alone")
        return Foreign(self.content[rows])

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.content, dtype)


NUMBERED, COINS = numbered(2)
CODED = {f"x{j}": NUMBERED[:, j] for j in range(1, 5)}
CODED["code"] = [f"g{int(i)}" for i in NUMBERED[:, 0]]
HUGE = pd.Series([10**400 * int(label) for label in COINS], dtype=object)
VISITS, SICK, _ = visits(2)
WORDY = {f"x{j}": VISITS[:, j] for j in range(5)} | {"word": ["u", "v", "w"] * 50 + ["u"] * 10}
WALK, WALKED = walk(3)
OTHER_NUMBERED, OTHER_COINS = numbered(5)
SHORT = [f"g{int(i):02d}" for i in OTHER_NUMBERED[:, 0]]
LONG = [word * 100 for word in SHORT]
HALVES = np.arange(80) % 2
CLASSES, NUMBERS = "classification", "regression"
TABLES = {
    "sparse": (
        sparse.random(80, 30, density=0.1, format="csr", random_state=0),
        HALVES,
        None,
        CLASSES,
    ),
    "texts": ([f"text {i}" for i in range(80)], HALVES, None, CLASSES),
    "cube": (np.random.default_rng(0).standard_normal((80, 3, 2)), HALVES, None, CLASSES),
    "gaps": (np.full((80, 3), np.nan), HALVES, None, CLASSES),
    "constant": (np.ones((80, 3)), HALVES, None, CLASSES),
    "objects": (np.array([[None, "a", 1.5]] * 80, dtype=object), HALVES, None, CLASSES),
    "wide": (np.random.default_rng(0).standard_normal((80, 5000)), HALVES, None, CLASSES),
    "pandas, codes": (pd.DataFrame(CODED), COINS, "group-numbers", CLASSES),
    "polars, codes": (pl.DataFrame(CODED), COINS, "group-numbers", CLASSES),
    "pandas, words": (pd.DataFrame(WORDY), SICK, "near-copies", CLASSES),
    "polars, words": (pl.DataFrame(WORDY), SICK, "near-copies", CLASSES),
    "sparse in order": (sparse.csr_matrix(WALK), WALKED, "rows-in-order", NUMBERS),
    "texts in order": (
        [f"text {i}" for i in range(200)],
        WALKED,
        "rows-in-order",
        NUMBERS,
    ),
    # A matrix of another library is made an array once.
    "foreign": (Foreign(visits(0)[0]), visits(0)[1], "near-copies", CLASSES),
    # Whole numbers above 1e308, in X or y, are not compared.
    "huge numbers": (pd.DataFrame(NUMBERED).assign(huge=HUGE), COINS, "group-numbers", CLASSES),
    "huge targets": (NUMBERED[:, 1:], HUGE.to_numpy(), None, "other"),
    # Documents that repeat are no group numbers; short words of the same number are.
    "short words": (
        pd.DataFrame({"x": OTHER_NUMBERED[:, 1], "text": SHORT}),
        OTHER_COINS,
        "group-numbers",
        CLASSES,
    ),
    "long words": (
        pd.DataFrame({"x": OTHER_NUMBERED[:, 1], "text": LONG}),
        OTHER_COINS,
        None,
        CLASSES,
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_structure_findings_read_any_kind_of_table(name):
    """Tables that the structure checks cannot use yield no findings."""
    table, y, expected, task = TABLES[name]
    assert codes_of(table, y, task=task) == ({expected} if expected else set())


def test_near_copies_are_not_sought_in_a_slice_of_one_value():
    whole = np.arange(100_000) // 10_000
    y = np.random.default_rng(0).permutation(len(whole)) % 2
    data = Data.check(np.column_stack([whole, whole + 0.5]), y, task="classification")
    for seed in range(5):
        assert "near-copies" not in {finding.code for finding in structure_findings(data, seed)}


@pytest.mark.parametrize("name", ["find_copies", "lag_one_correlation", "measure_agreement"])
def test_structure_findings_pass_errors_on(name, monkeypatch):
    def broken(*values, **options):
        raise AttributeError("broken")

    monkeypatch.setattr(rows_checked, name, broken)
    with pytest.raises(AttributeError, match="broken"):
        codes_of(*numbered(0))


def test_group_numbers_are_found_among_many_columns_and_by_name():
    """The column is among the 200 of 1000 that are looked at: whole numbers and names first."""
    X, y = numbered(4)
    noise = np.random.default_rng(0).standard_normal((len(X), 1000))
    for place in (100, 400, 700, 900):
        wide = noise.copy()
        wide[:, place] = X[:, 0]
        assert codes_of(wide, y) == {"group-numbers"}
    frame = pd.DataFrame(noise[:, :690], columns=[f"x{j}" for j in range(690)])
    assert codes_of(frame.assign(patient_id=X[:, 0]), y) == {"group-numbers"}
    patient, coin = np.repeat(np.arange(30), 5), np.arange(len(X)) % 2
    frame = frame.iloc[:, :4].assign(patient_id=patient)
    assert "group-numbers" in codes_of(frame, coin)
    assert "group-numbers" not in codes_of(frame.rename(columns={"patient_id": "width"}), coin)
    assert "group-numbers" not in codes_of(frame, coin, groups=patient)


def test_group_numbers_are_not_said_of_exact_copies():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    twice = rng.permutation(np.repeat(np.arange(60), 2))
    assert codes_of(X[twice], y[twice]) == set()
    visits = np.column_stack([np.repeat(np.arange(60), 2), rng.normal(size=120)])
    assert "group-numbers" in codes_of(visits, np.repeat(y, 2))


def test_slices_of_a_table_are_those_of_its_columns():
    X = np.random.default_rng(0).normal(size=(21_000, 4))
    gap = X.copy()
    gap[7, 3] = np.nan

    def slices(table):
        return rows_checked._rows_of_slices(
            table, [0, 1, 2], len(X), 2000, np.random.default_rng(1)
        )

    expected = slices(pd.DataFrame(X, columns=list("abcd")))
    for rows, by_column in zip(slices(X), expected, strict=True):
        np.testing.assert_array_equal(rows, by_column)
        assert 1500 < len(rows) < 2500
    between = rows_checked._rows_between(gap, [0, 3], np.array([[0.0, 1.0], [0.0, 1.0]]))
    assert between is None
    gap[:, :3] = np.where(np.arange(21_000)[:, None] == 7, np.nan, X[:, :3])
    for rows, by_column in zip(slices(gap), expected, strict=True):
        assert len(set(rows) ^ set(by_column)) <= 2  # the row with the gap counts as the median


def found(X, y=None, combination=None, seed=0):
    """Return what is found among rows with a coin as y."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, len(X)) if y is None else y
    columns = _Columns.from_table(X, range(X.shape[1]), np.arange(len(X)))
    steps = columns.median_steps(np.arange(X.shape[1]))
    scale = ColumnScales(columns.numbers.std(axis=1), columns.n_values, steps)
    return find_copies(
        X, combination, make_outcome(codes, codes), np.random.default_rng(seed), scale
    )


@pytest.mark.parametrize("p", [2, 5, 20])
@pytest.mark.parametrize("kind", ["normal", "heavy", "uniform", "rounded"])
def test_find_copies_sees_the_law_of_gaps_in_independent_rows(p, kind):
    """About 5 % of the rows have a gap and 1 % a wide one, in any dimension, rounded or not."""
    rng = np.random.default_rng(p)
    draw = {
        "normal": lambda: rng.standard_normal((1500, p)),
        "heavy": lambda: rng.standard_t(3, (1500, p)),
        "uniform": lambda: rng.random((1500, p)),
        "rounded": lambda: np.round(5 * rng.standard_normal((1500, p))),
    }[kind]
    several = [found(draw(), seed=seed) for seed in range(4)]
    assert np.mean([one.gap_share for one in several]) == pytest.approx(0.05, abs=0.03)
    assert np.mean([one.wide_gap_share for one in several]) == pytest.approx(0.01, abs=0.01)
    assert not any(one.is_found for one in several)


def test_find_copies_leaves_curves_exact_copies_and_few_gaps_alone():
    """Neighbours on a curve are near by nature. Seven of 40 rows with a gap are too few."""
    t = np.random.default_rng(1).uniform(size=500)
    assert not found(np.c_[t, t**2, np.sin(t)]).is_found
    X = np.random.default_rng(0).standard_normal((100, 4))
    assert not found(np.repeat(X, 3, axis=0)).is_found
    rng = np.random.default_rng(8)
    X = rng.normal(size=(36, 5))
    few = found(np.r_[X, X[[0, 1, 2, 0]] + rng.normal(size=(4, 5)) / 1000])
    assert few.wide_gap_share > 0.15
    assert not few.is_found


def test_find_copies_has_no_answer_of_few_rows_or_one_column():
    """There must be 30 distinct rows."""
    rng = np.random.default_rng(0)
    assert found(rng.standard_normal((29, 5))) is None
    assert found(np.repeat(rng.standard_normal((20, 5)), 3, axis=0)) is None
    assert found(rng.standard_normal((200, 1))) is None


def test_find_copies_sees_pairs_and_unequal_clusters():
    """Pairs are seen by wide gaps if y is a coin for each row; clusters have one to seven rows."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(40, 5)), 2, axis=0) + rng.normal(size=(80, 5)) / 100
    assert found(X).is_found
    assert found(X).cluster_size == 2
    for seed in range(5):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 8, 40)
        X = np.repeat(rng.standard_normal((40, 5)), sizes, axis=0)
        X += 0.1 * rng.standard_normal(X.shape)
        assert found(X, np.repeat(rng.integers(0, 2, 40), sizes)).is_found


def test_find_copies_seeks_among_rows_of_one_combination():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 8, 500)
    X = np.repeat(rng.standard_normal((500, 3)), sizes, axis=0)
    X += 0.1 * rng.standard_normal(X.shape)
    category = np.repeat(rng.integers(0, 6, 500), sizes)
    y = np.repeat(rng.integers(0, 2, 500), sizes)
    assert found(X, y, category).gap_share > 1.2 * found(X, y).gap_share
    assert not found(X, rng.permutation(y), rng.permutation(category)).is_found


def test_find_copies_takes_small_categories_for_no_clusters():
    shares = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        category = np.repeat(np.arange(40), 18)
        told = found(rng.standard_t(3, (720, 4)), (category % 2), category, seed)
        assert not told.is_found
        shares.append(told.gap_share)
    assert np.mean(shares) < 0.05


def told(codes, y, *, has_order=True):
    """Return True if a column is taken for a group number."""
    codes = np.unique(codes, return_inverse=True)[1]
    outcome = make_outcome(y.astype(int), y) if y.dtype.kind in "bi" else make_outcome(None, y)
    found = measure_agreement(codes, outcome, has_order=has_order)
    return found is not None and found.is_found


@pytest.mark.parametrize("has_order", [True, False])
def test_group_number_is_found_with_label_noise_and_numeric_outcomes(has_order):
    """At least 18 of 20 drawings are found, as numbers and as text; noise is not."""
    assert sum(told(*coins(seed), has_order=has_order) for seed in range(20)) >= 18
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(40), 5)
    assert told(group, rng.standard_normal(40)[group] + 0.5 * rng.standard_normal(200))
    assert not told(group, rng.standard_normal(200))


def test_group_number_is_no_feature_that_y_depends_on():
    """Effects are smooth, in a step, none or swinging; lists have ten values, a scale has eight."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        age = rng.integers(20, 60, 300)
        assert not told(age, rng.random(300) < 1 / (1 + np.exp((40 - age) / 5)))
        assert not told(age, (age > 40) ^ (rng.random(300) < 0.1))
        assert not told(age, rng.random(300) < 0.5)
        assert not told(age, age + 5 * rng.standard_normal(300))
        job = rng.integers(0, 10, 300)
        assert not told(job, rng.random(300) < rng.random(10)[job], has_order=False)
        ten_words = np.repeat(np.arange(10), 10)
        assert not told(ten_words, rng.permutation(10)[ten_words] < 5, has_order=False)
        scale = rng.integers(0, 8, 300)
        assert not told(scale, rng.random(300) < rng.random(8)[scale])
        value = rng.integers(0, 40, 1000)
        assert not told(value, rng.random(1000) < 0.5 + 0.5 * np.sin(0.9 * value))
        assert not told(value, 5 * np.sin(0.9 * value) + rng.standard_normal(1000))


def test_group_number_is_no_noise():
    """With three rows for each value agreement is large by chance, and so is its error."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        codes = np.repeat(np.arange(16), 3)
        assert not told(codes, rng.random(48) < 0.5)
        assert not told(codes, rng.standard_normal(48))


def test_group_number_does_not_depend_on_names_of_classes_and_direction():
    group, y = coins(3)
    codes = np.unique(group, return_inverse=True)[1]
    plain = measure_agreement(codes, make_outcome(y.astype(int), y), has_order=True)
    turned = measure_agreement(29 - codes, make_outcome(1 - y.astype(int), y), has_order=True)
    assert turned.agreement_inside == pytest.approx(plain.agreement_inside)
    assert turned.agreement_outside == pytest.approx(plain.agreement_outside)


def test_group_number_agreement_is_the_mean_over_pairs():
    rng = np.random.default_rng(0)
    codes = np.sort(rng.integers(0, 6, 60))
    for outcome in (
        make_outcome(rng.integers(0, 3, 60), np.zeros(60)),
        make_outcome(None, rng.standard_normal((60, 2))),
    ):
        found = measure_agreement(codes, outcome, has_order=True)
        inside, outside = np.empty(6), np.full((6, 2), np.nan)
        for v in range(6):
            mine = np.flatnonzero(codes == v)
            i, j = (a.ravel() for a in np.meshgrid(mine, mine))
            inside[v] = outcome.agreement(i[i != j], j[i != j]).mean()
            for side, other in enumerate((v - 1, v + 1)):
                if 0 <= other < 6:
                    i, j = (a.ravel() for a in np.meshgrid(mine, np.flatnonzero(codes == other)))
                    outside[v, side] = outcome.agreement(i, j).mean()
        weights = np.bincount(codes) / 60
        assert found.agreement_inside == pytest.approx(weights @ inside)
        assert found.agreement_outside == pytest.approx(weights @ np.nanmean(outside, axis=1))


def test_group_number_needs_five_values_that_repeat():
    y = np.arange(100) % 2
    for codes in (np.arange(100), np.arange(100) % 4, np.r_[np.arange(8) // 2, 4:96]):
        assert measure_agreement(codes, make_outcome(y[: len(codes)], y), has_order=True) is None
