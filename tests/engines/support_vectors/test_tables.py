"""Sparse tables, given or given out by steps, are answered as SVC answers them, to the last bit."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from tests.engines.closed_forms import both, counted, data_of, family_of
from tests.engines.support_vectors.test_svm import (
    ENGINE,
    LABEL,
    SCORE,
    is_answered,
    machine,
    plan_of,
)

import truerisk as tr
from truerisk.engines.prepared import LearnerFitNeeded
from truerisk.engines.support_vectors import stepping, svm_steps
from truerisk.engines.support_vectors.svm import SparseRows, resolve_gamma
from truerisk.exceptions import FitFailed
from truerisk.extend import Streams
from truerisk.methods import KFold

FORMS = [sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_matrix]


def gaps(rng, n, d):
    """A table with gaps, of unlike sizes, whole numbers or of ones alone; with copies of rows."""
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < rng.uniform(0.1, 0.9))
    kind = str(rng.choice(["plain", "ones", "whole", "unequal", "copies"]))
    if kind == "ones":
        X = (X > 0).astype(float)
    elif kind == "whole":
        X = np.round(3 * X).astype(np.int64)
    elif kind == "unequal":
        X = X * 10 ** rng.uniform(-1, 1, d)
    elif kind == "copies":
        X = X[rng.integers(0, n, n)]
    return X, kind == "unequal"


def disordered(table):
    """The same table with the cells of each row the other way round, and zeros that are given."""
    table = sparse.csr_array(table)
    for start, end in zip(table.indptr[:-1], table.indptr[1:], strict=True):
        table.indices[start:end] = table.indices[start:end][::-1].copy()
        table.data[start:end] = table.data[start:end][::-1].copy()
    table.data[np.abs(table.data) < 0.2] = 0
    table.has_sorted_indices = False
    return table


def problem(rng, seed):
    """A machine, a plan and a table that is sparse for it: as given, or after steps."""
    n, n_classes = int(rng.choice([10, 20, 40, 60])), int(rng.choice([2, 2, 3, 5]))
    X, wide = gaps(rng, n, int(rng.choice([1, 2, 5, 17, 40])))
    y = np.arange(n) % n_classes
    if rng.random() < 0.7:
        y = np.argsort(np.argsort(X[:, 0] + 0.5 * rng.normal(size=n))) * n_classes // n
    options, grid = machine(rng, wide)
    model, weights = SVC(**options), {}
    way = str(rng.choice(["given", "disordered", "words", "made"]))
    if way == "given":
        X = FORMS[int(rng.integers(len(FORMS)))](X)
    elif way == "disordered":
        X = disordered(X)
    elif way == "words":
        X = pd.DataFrame({"number": X[:, 0], "word": np.char.add("w", (y + seed).astype(str))})
        X["other"] = rng.choice(list("abcd"), n)
        steps = [(OneHotEncoder(handle_unknown="ignore"), ["word", "other"])]
        steps.append((StandardScaler(), ["number"]))
        model = make_pipeline(make_column_transformer(*steps, sparse_threshold=1.0), model)
    else:
        make = sparse.csr_array if rng.random() < 0.5 else disordered
        model = make_pipeline(FunctionTransformer(make), model)
    if isinstance(X, np.ndarray | pd.DataFrame):
        grid = {f"svc__{name}": values for name, values in grid.items()}
    elif rng.random() < 0.3:
        weights = {"sample_weight": rng.uniform(0.2, 3.0, n)}
    data = data_of(X, y, **weights)
    return data, family_of(model, grid), plan_of(rng, data, seed)


@pytest.mark.parametrize("part", range(4))
@pytest.mark.filterwarnings("ignore::truerisk.exceptions.TrueRiskWarning")
def test_svm_answers_sparse_tables_to_the_last_bit(part):
    answered = 0
    for seed in range(8 * part, 8 * part + 8):
        rng = np.random.default_rng([seed, 1])
        data, family, plan = problem(rng, seed)
        request = SCORE if data.n_classes == 2 and rng.random() < 0.5 else LABEL
        answered += is_answered(data, family, plan, request)
    assert answered >= 4


@pytest.mark.parametrize("gamma", ["scale", 0.3])
@pytest.mark.parametrize("given", [True, False])
def test_svm_fits_no_svc_on_sparse_tables(given, gamma, monkeypatch):
    """Sparse X, or a table of words and numbers that steps make sparse."""
    rng = np.random.default_rng(0)
    words = pd.DataFrame({f"word{j}": rng.choice(list("abcdefg"), 90) for j in range(4)})
    y = np.where((words["word0"] < "d") + rng.normal(size=90) > 0.5, "yes", "no")
    encoder = OneHotEncoder(handle_unknown="ignore")
    if given:
        data, family = data_of(encoder.fit_transform(words), y), family_of(SVC(gamma=gamma))
    else:
        data, family = data_of(words, y), family_of(make_pipeline(encoder, SVC(gamma=gamma)))
    with counted(monkeypatch) as seen:
        found, expected = both(ENGINE, family, data, KFold(4).plan(data, Streams(0)), SCORE)
    np.testing.assert_array_equal(found, expected)
    assert seen["asked"] == 0


@pytest.mark.parametrize("of_differences", [False, True])
def test_products_in_order_are_others_than_those_of_blas(of_differences):
    """So a sparse table has other last bits than the same dense one, and other labels near 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(37, 40)) * (rng.random((37, 40)) < 0.5)
    mine = svm_steps.sequential_inner_products(X[:20], X, of_differences=of_differences)
    part = (X[:20, None] - X) ** 2 if of_differences else X[:20, None] * X
    total = np.zeros((20, 37))
    for column in range(40):
        total += part[:, :, column]
    np.testing.assert_array_equal(mine, total)
    assert (
        mine != svm_steps.inner_products_between(X[:20], X, of_differences=of_differences)
    ).any()


@pytest.mark.parametrize("make", [*FORMS, disordered])
def test_gamma_of_a_sparse_table_is_that_of_svc(make):
    """From other moments than those of a dense one, of the cells as they are given."""
    rng = np.random.default_rng(1)
    X, setting = np.round(rng.normal(size=(30, 7)), 1) * (rng.random((30, 7)) < 0.6), SVC()
    table, times = make(X), rng.integers(1, 4, 30)
    every = sparse.csr_array(table)[np.repeat(np.arange(30), times)]
    theirs = SVC().fit(every, np.repeat(np.arange(30) % 2, times))
    assert resolve_gamma(setting.get_params(), SparseRows.from_table(table), times) == theirs._gamma


def test_svm_leaves_what_svc_refuses_or_sums_otherwise_to_it():
    """Long indices, cells given twice, a table that is sparse now and then, a negative variance."""
    X = sparse.csr_array(np.eye(4))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    with pytest.raises(ValueError, match="int64"):
        SparseRows.from_table(X)
    twice = sparse.csr_matrix(([1.0, 2.0], [1, 1], [0, 2, 2]), shape=(2, 2))
    with pytest.raises(LearnerFitNeeded, match="twice"):
        SparseRows.from_table(twice)
    level = sparse.csr_array(np.full((31, 3), 0.3))
    assert resolve_gamma(SVC().get_params(), SparseRows.from_table(level), None) < 0
    now_and_then = FunctionTransformer(lambda X: sparse.csr_array(X) if len(X) < 12 else X)
    pipe = make_pipeline(now_and_then, SVC())
    dense = np.random.default_rng(0).normal(size=(24, 3))
    for engine in (ENGINE, "generic"):
        with pytest.raises(FitFailed, match="gamma"):
            tr.estimate_risk(SVC(), level, np.arange(31) % 2, cv="apparent", engine=engine)
        with pytest.raises(FitFailed, match="sparse input"):
            tr.estimate_risk(pipe, dense, np.arange(24) % 2, cv="4-fold", engine=engine)


EYE = sparse.csr_array(np.eye(20))


@pytest.mark.parametrize(
    ("model", "table", "reason"),
    [
        (SVC(), EYE.astype(np.float32), "single precision"),
        (SVC(), sparse.csr_array((20, 100_000)), "too empty"),
        (SVC(kernel="precomputed"), EYE, "X is sparse."),
        (make_pipeline(StandardScaler(with_mean=False), SVC()), EYE, "X is sparse."),
        (SVC(), EYE, None),
    ],
)
def test_svm_says_why_it_refuses_a_sparse_table(model, table, reason, monkeypatch):
    data = data_of(table, np.arange(20) % 2)
    given = family_of(model), data, KFold(2).plan(data, Streams(0)), LABEL
    if reason:
        assert reason in ENGINE.refuse(*given)
        return
    assert ENGINE.refuse(*given) is None
    stepping.solver_matches_svc_on_sparse.cache_clear()
    monkeypatch.setattr(stepping, "sparse_products", stepping.dense_products)
    assert "takes other steps" in ENGINE.refuse(*given)
    stepping.solver_matches_svc_on_sparse.cache_clear()
