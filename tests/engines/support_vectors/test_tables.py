"""Sparse tables, given or given out by steps, are answered as SVC answers them, to the last bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from tests.engines.closed_forms import both, counted, data_of, family_of
from tests.engines.support_vectors.test_stepping import machine, plan_of

import truerisk as tr
from truerisk.contracts import Request, Streams
from truerisk.core.errors import FitFailed
from truerisk.engines.prepared import OwnArithmetic
from truerisk.engines.support_vectors import stepping, svm_steps
from truerisk.engines.support_vectors.svm import Gapped, SupportVectors, gamma_of

ENGINE = SupportVectors()
LABEL, SCORE = Request("label"), Request("score")
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
@pytest.mark.filterwarnings("ignore::truerisk.core.errors.TrueRiskWarning")
def test_sparse_tables_are_answered_to_the_last_bit(part):
    """Labels and decision values are those of clone, fit and predict, at whatever tolerance."""
    served = 0
    for seed in range(8 * part, 8 * part + 8):
        rng = np.random.default_rng([seed, 1])
        data, family, plan = problem(rng, seed)
        request = SCORE if data.n_classes == 2 and rng.random() < 0.5 else LABEL
        fits = range(plan.n_fits)
        if any(len(np.unique(data.y[plan.train_rows(fit)[0]])) < 2 for fit in fits):
            continue
        assert ENGINE.refuse(family, data, plan, request) is None
        found, expected = both(ENGINE, family, data, plan, request)
        np.testing.assert_array_equal(found, expected)
        served += 1
    assert served >= 4


@pytest.mark.parametrize("gamma", ["scale", 0.3])
@pytest.mark.parametrize("given", [True, False])
def test_none_of_the_fits_is_made_by_svc(given, gamma, monkeypatch):
    """Sparse X, or a table of words and numbers that steps make sparse."""
    rng = np.random.default_rng(0)
    words = pd.DataFrame({f"word{j}": rng.choice(list("abcdefg"), 90) for j in range(4)})
    y = np.where((words["word0"] < "d") + rng.normal(size=90) > 0.5, "yes", "no")
    encoder = OneHotEncoder(handle_unknown="ignore")
    if given:
        data, family = data_of(encoder.fit_transform(words), y), family_of(SVC(gamma=gamma))
    else:
        data, family = data_of(words, y), family_of(make_pipeline(encoder, SVC(gamma=gamma)))
    plan = tr.methods.KFold(4).plan(data, Streams(0))
    with counted(monkeypatch) as seen:
        found, expected = both(ENGINE, family, data, plan, SCORE)
    np.testing.assert_array_equal(found, expected)
    assert seen["asked"] == 0


def test_sums_in_order_are_others_than_those_of_blas():
    """So a sparse table has other last bits than the same dense one, and other labels near 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(37, 40)) * (rng.random((37, 40)) < 0.5)
    for of_differences in (False, True):
        mine = svm_steps.products_in_order(X[:20], X, of_differences=of_differences)
        part = X[:20, None] - X if of_differences else X[:20, None] * X
        part = part**2 if of_differences else part
        total = np.zeros((20, 37))
        for column in range(40):
            total += part[:, :, column]
        np.testing.assert_array_equal(mine, total)
        assert (mine != svm_steps.products_between(X[:20], X, of_differences=of_differences)).any()


@pytest.mark.parametrize("make", [*FORMS, disordered])
def test_gamma_of_a_sparse_table_is_that_of_svc(make):
    """From other moments than those of a dense one, of the cells as they are given."""
    rng = np.random.default_rng(1)
    X, setting = np.round(rng.normal(size=(30, 7)), 1) * (rng.random((30, 7)) < 0.6), SVC()
    table, times = make(X), rng.integers(1, 4, 30)
    every = sparse.csr_array(table)[np.repeat(np.arange(30), times)]
    theirs = SVC().fit(every, np.repeat(np.arange(30) % 2, times))
    assert gamma_of(setting.get_params(), Gapped.of(table), times) == theirs._gamma


@pytest.mark.parametrize("engine", [ENGINE, "generic"])
def test_a_variance_that_rounding_leaves_negative_is_left_to_svc(engine):
    """It refuses the gamma."""
    X = sparse.csr_array(np.full((31, 3), 0.3))
    assert gamma_of(SVC().get_params(), Gapped.of(X), None) < 0
    with pytest.raises(FitFailed, match="gamma"):
        tr.risk_curve(SVC(), None, X, np.arange(31) % 2, cv="apparent", engine=engine)


def test_what_svc_would_refuse_or_sum_otherwise_is_left_to_it(monkeypatch):
    """Long indices, a cell that is given twice, and a table that steps make now and then."""
    X = sparse.csr_array(np.eye(4))
    longer = X.copy()
    longer.indices, longer.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    with pytest.raises(ValueError, match="int64"):
        Gapped.of(longer)
    twice = sparse.csr_matrix(([1.0, 2.0], [1, 1], [0, 2, 2]), shape=(2, 2))
    with pytest.raises(OwnArithmetic, match="twice"):
        Gapped.of(twice)
    rng = np.random.default_rng(0)
    data = data_of(rng.normal(size=(24, 3)), np.arange(24) % 2)
    steps = FunctionTransformer(lambda X: sparse.csr_array(X) if len(X) < 12 else X)
    family = family_of(make_pipeline(steps, SVC()))
    plan = tr.methods.KFold(4).plan(data, Streams(0))
    for engine in (ENGINE, "generic"):
        with pytest.raises(FitFailed, match="sparse input"):
            tr.risk_curve(family.estimator, None, data.X, data.y, cv="4-fold", engine=engine)
    assert plan.n_fits == 4


def test_refusals_of_sparse_tables_say_why(monkeypatch):
    """Single precision, a table of zeros alone nearly, a Gram matrix, steps, another libsvm."""
    X, y = sparse.csr_array(np.eye(20)), np.arange(20) % 2
    plan = tr.methods.KFold(2).plan(data_of(X, y), Streams(0))
    piped = make_pipeline(StandardScaler(with_mean=False), SVC())

    def reason(model, table):
        return ENGINE.refuse(family_of(model), data_of(table, y), plan, LABEL)

    assert reason(SVC(), X) is None
    assert "single precision" in reason(SVC(), X.astype(np.float32))
    assert "too empty" in reason(SVC(), sparse.csr_array((20, 100_000)))
    assert reason(SVC(kernel="precomputed"), X) == "X is sparse."
    assert reason(piped, X) == "X is sparse."
    stepping.takes_the_same_steps_on_sparse.cache_clear()
    monkeypatch.setattr(stepping, "in_order", stepping.as_called)
    assert "takes other steps" in reason(SVC(), X)
    stepping.takes_the_same_steps_on_sparse.cache_clear()
