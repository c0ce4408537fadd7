"""Do pairs of folds tell how far predictions move? `python -m benchmarks.instability [--sets N]`.

Rows with twelve columns of which two count, logistic regression. Three numbers for each data set:
the mean absolute prediction error by the models of pairs of folds, times √(K − 2); by 40 bootstrap
samples; and the mean distance of the models of 20 fresh data sets of 180 rows from their mean, at
the same rows. A minute.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from sklearn.linear_model import LogisticRegression

import truerisk as tr
from benchmarks.machine import one_blas_thread

__all__ = ["main"]

N, FRESH, MODELS, SAMPLES = 200, 180, 20, 40


def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two columns count."""
    X = rng.standard_normal((n, 12))
    return X, (X[:, 0] + X[:, 1] + rng.logistic(size=n) > 0).astype(int)


def moves(seed: int) -> tuple[float, float, float]:
    """By pairs, by bootstrap samples, and in truth."""
    rng = np.random.default_rng(seed)
    X, y = draw(N, rng)
    by_pairs = tr.validate(LogisticRegression(), X, y, replicates=0).stability
    by_samples = tr.validate(LogisticRegression(), X, y, replicates=SAMPLES).stability
    fitted = [LogisticRegression().fit(*draw(FRESH, rng)) for _ in range(MODELS)]
    said = np.array([model.predict_proba(X)[:, 1] for model in fitted])
    truth = float(np.abs(said - said.mean(axis=0)).mean())
    pairs, samples = by_pairs.predictions, by_samples.predictions
    assert pairs is not None
    assert samples is not None
    return pairs.of_new_rows, samples.mape, truth


def main(arguments: Sequence[str] | None = None) -> int:
    """Means over data sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=20)
    n_sets = parser.parse_args(arguments).sets
    one_blas_thread()
    found = np.array([moves(seed) for seed in range(n_sets)])
    errors = found.std(axis=0, ddof=1) / n_sets**0.5
    for name, mean, error in zip(
        ("pairs", "bootstrap", "truth"), found.mean(axis=0), errors, strict=True
    ):
        print(f"{name:9} {mean:.4f} ± {error:.4f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
