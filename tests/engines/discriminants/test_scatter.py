"""Class scatter, and two ways to invert it."""

import numpy as np
import pytest

from truerisk.engines.discriminants.scatter import (
    RowsByClass,
    compute_scatter_root,
    compute_scatter_spectrum,
)

RNG = np.random.default_rng(4)
CODES = np.array([2, 0, 0, 2, 4, 4, 2, 0, 2, 4, 0, 2])
X = RNG.normal(size=(12, 3)) + 50


def with_variances(values, n=40):
    """Rows whose products have these eigenvalues, along random axes."""
    left = np.linalg.qr(RNG.normal(size=(n, len(values))))[0]
    axes = np.linalg.qr(RNG.normal(size=(len(values), len(values))))[0]
    return left * np.sqrt(values) @ axes


def test_classes_remove_what_rounding_leaves_of_a_mean():
    """Far-off columns: the mean of the centred rows is 0 to the last digits of their spread."""
    far = 1e12 + 1e6 * RNG.normal(size=(999, 3))
    classes = RowsByClass.from_rows(far, np.arange(999) % 3)
    for place in range(3):
        centred = classes.centred_table[classes.class_slice(place)]
        assert np.abs(centred.mean(axis=0)).max() <= 2e-13 * 1e6
        assert np.allclose(classes.sums_of_squares[place], (centred**2).sum(axis=0), rtol=1e-12)


def test_classes_know_flat_columns():
    """What varies by a millionth of its size is half noise once it is centred."""
    for spread, flat in ((1e-3, False), (1e-9, True), (0.0, True)):
        column = 50 + spread * RNG.normal(size=12)
        assert RowsByClass.from_rows(np.c_[X, column], CODES).has_flat_columns is flat
    assert not RowsByClass.from_rows(X, CODES).has_flat_columns


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_root_whitens(scale):
    rows = with_variances(np.array([1.0, 2.0, 5.0, 30.0])) * [1, scale, 1, 1 / scale]
    root = compute_scatter_root(rows, 0.5)
    scatter = 0.5 * rows.T @ rows
    white = root.whiten(rows)
    assert np.allclose(white.T @ white, 2 * np.eye(4), atol=1e-12)
    assert np.allclose(root.solve(rows) @ scatter, rows, rtol=1e-9, atol=1e-12 * abs(rows).max())
    assert root.log_determinant == pytest.approx(np.linalg.slogdet(scatter)[1], rel=1e-12)


def test_root_bounds_the_least_eigenvalue():
    """From below by the trace, within a factor p; exactly where that does not decide."""
    rows = with_variances(np.array([0.1, 2.0, 5.0, 30.0]))
    root, scatter = compute_scatter_root(rows), rows.T @ rows
    scale = np.sqrt(np.diag(scatter))
    for bound, exact, matrix in (
        (
            root.scaled_eigenvalue_bound,
            root.smallest_scaled_eigenvalue(),
            scatter / scale / scale[:, None],
        ),
        (root.unscaled_eigenvalue_bound, root.smallest_unscaled_eigenvalue(), scatter),
    ):
        least = np.linalg.eigvalsh(matrix)[0]
        assert exact == pytest.approx(least, rel=1e-10)
        assert least / 4 <= bound <= least


@pytest.mark.parametrize(
    "rows", [X[:2], np.c_[X, X[:, 0]], np.c_[X, np.zeros(12)], np.c_[X, X[:, 0] + 1e-5 * CODES]]
)
def test_root_of_what_cannot_be_inverted_is_none(rows):
    assert compute_scatter_root(rows) is None


@pytest.mark.parametrize("least", [1.0, 1e-4, 1e-6, 1e-10])
def test_spectrum_keeps_the_digits_of_small_eigenvalues(least):
    """Relative to themselves, not to the largest: the product X'X is left where it loses them."""
    values = np.array([least, 1.0, 3.0, 7.0])
    found = compute_scatter_spectrum(with_variances(values), 2.0)
    assert np.allclose(np.sort(found.values), 2 * values, rtol=2e-10, atol=0)
    assert found.trace == pytest.approx(2 * values.sum())
    assert not found.has_null_space


def test_spectrum_of_wide_rows_has_a_rest():
    """Fewer rows than columns: as many axes as rows, and all other directions have value 0."""
    rows = RNG.normal(size=(3, 5))
    found = compute_scatter_spectrum(rows)
    assert found.has_null_space
    assert np.allclose(found.vectors * found.values @ found.vectors.T, rows.T @ rows)
