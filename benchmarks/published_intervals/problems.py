"""The simulated problems of the paper that are known by a formula, as a study imports them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

__all__ = ["bates_classif_20", "bates_classif_100", "bates_regr_20", "bates_regr_100", "chen_10",
           "friedman1"]  # fmt: skip

Rows = np.ndarray
Draw = Callable[..., tuple[Rows, Rows]]


def of_five(n_rows: int, *, random_state: Any, n_columns: int, classes: bool) -> tuple[Rows, Rows]:
    """Five columns count alike, for the logit of a class or with unit noise (Bates et al.)."""
    rng = np.random.default_rng(random_state)
    X = rng.standard_normal((n_rows, n_columns))
    line = X[:, :5].sum(axis=1)
    if classes:
        return X, (rng.random(n_rows) < 1 / (1 + np.exp(-line))).astype(int)
    return X, line + rng.standard_normal(n_rows)


def of_copies(n_rows: int, *, random_state: Any) -> tuple[Rows, Rows]:
    """Three hidden uniforms count, six have ten noisy copies each (Chen et al., as theirs)."""
    rng = np.random.default_rng(random_state)
    hidden = rng.random((n_rows, 6))
    a, b, c = hidden[:, :3].T
    sure = np.exp(4 * a) / 4 + 4 / (1 + np.exp(-20 * (b - 0.5))) + 3 * c
    scale = 0.01 + 0.5 * np.arange(10) / 9
    noise = scale * (0.3 + rng.standard_normal((n_rows, 6, 10)))
    X = (hidden[:, :, None] + noise).reshape(n_rows, 60)
    return X, sure + 0.2 * rng.standard_normal(n_rows)


def of_friedman(n_rows: int, *, random_state: Any) -> tuple[Rows, Rows]:
    """Ten uniforms, of which five count, unit noise (Friedman, 1991)."""
    rng = np.random.default_rng(random_state)
    X = rng.random((n_rows, 10))
    mean = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, mean + 10 * X[:, 3] + 5 * X[:, 4] + rng.standard_normal(n_rows)


def bates_classif_20() -> Draw:
    return partial(of_five, n_columns=20, classes=True)


def bates_classif_100() -> Draw:
    return partial(of_five, n_columns=100, classes=True)


def bates_regr_20() -> Draw:
    return partial(of_five, n_columns=20, classes=False)


def bates_regr_100() -> Draw:
    return partial(of_five, n_columns=100, classes=False)


def chen_10() -> Draw:
    return of_copies


def friedman1() -> Draw:
    return of_friedman
