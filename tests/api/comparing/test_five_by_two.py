"""Five times two folds: R's t and F, and the splits that are of another kind."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import Refusal

# Rscript -e 'options(digits=15); p <- matrix(c(.02,.05,-.01,.03,.04,0,.06,.02,.01,.03),5,
#   byrow=TRUE); s <- rowSums((p-rowMeans(p))^2); t <- p[1,1]/sqrt(mean(s))
#   f <- sum(p^2)/(2*sum(s)); cat(t, 2*pt(-abs(t),5), f, pf(f,10,5,lower=FALSE))'
P = np.array([0.02, 0.05, -0.01, 0.03, 0.04, 0.00, 0.06, 0.02, 0.01, 0.03])


def test_the_numbers_of_r() -> None:
    """Dietterich's t with its p-value, and Alpaydin's F with its."""
    found = tr.compare(0.2 + P, np.full(10, 0.2), test="5x2", n_train=50, n_test=50)
    assert (found.statistic, found.p_value) == pytest.approx(
        (0.809776330178916, 0.454864137485221), rel=1e-11
    )
    assert tuple(found.details.values()) == pytest.approx(
        (1.72131147540984, 0.285373618756069), rel=1e-11
    )
    assert found.df == 5


def test_estimates_by_5x2_fold() -> None:
    """Odd numbers of rows have halves that differ by one; rows by folds give the same."""
    X, y = tr.datasets.make_difficult(61, random_state=0)
    rng = np.random.default_rng(0)
    folds = np.array([rng.permutation(61) % 2 for _ in range(5)])
    method = tr.methods.KFold(folds=folds, average="fold")
    a, b = (tr.estimate_risk(KNeighborsClassifier(k), X, y, method=method) for k in (1, 9))
    found = tr.compare(a, b, test="5x2")
    assert found.difference == pytest.approx(a.value - b.value, abs=1e-15)
    rows = [np.zeros((5, 61)), np.zeros((5, 61))]
    for r in range(5):
        given = tr.methods.KFold(folds=folds[r])
        for kind, k in enumerate((1, 9)):
            est = tr.estimate_risk(KNeighborsClassifier(k), X, y, method=given)
            rows[kind][r] = est.losses
    again = tr.compare(*rows, test="5x2", folds=folds)
    assert again.p_value == pytest.approx(found.p_value, rel=1e-9)


def test_equal_differences_have_no_p_value() -> None:
    """Without spread within repetitions there is no t: None and a note."""
    found = tr.compare(np.full(10, 0.3), np.full(10, 0.2), test="5x2", n_train=50, n_test=50)
    assert found.p_value is None
    assert "same difference" in found.notes[0]


@pytest.mark.parametrize(
    ("n", "sizes"), [(8, (50, 50)), (10, (90, 10)), (10, ([50, 51] * 5, [50, 50] * 5))]
)
def test_other_splits_are_refused(n, sizes) -> None:
    """Four repetitions, ten folds, or parts that are not each other's training set."""
    with pytest.raises(Refusal, match=r"five repetitions of twofold"):
        tr.compare(P[:n], P[:n] / 2, test="5x2", n_train=sizes[0], n_test=sizes[1])


def test_ten_folds_of_an_estimate_are_refused() -> None:
    """Ten splits of one repetition are not five of two."""
    X, y = tr.datasets.make_difficult(60, random_state=0)
    a, b = (tr.estimate_risk(KNeighborsClassifier(k), X, y) for k in (1, 9))
    with pytest.raises(Refusal, match="use method='5x2-fold'"):
        tr.compare(a, b, test="5x2")
