"""Random folds, blocks and buffers against the risk at new places, among the rows and beyond them.

    python -m benchmarks.space_folds --fields 60

The western half of a field is sampled. `among` is the risk of a model of all sampled rows at other
places of that half, `beyond` in the half next to it, further than .1 from the border.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import truerisk as tr
from benchmarks.machine import one_blas_thread
from truerisk.datasets.dependent import FieldProblem

__all__ = ["METHODS", "main", "measured"]

RANGES = (0.05, 0.15, 0.4)
N_ROWS, N_SAMPLED = 700, 200
METHODS: dict[str, Any] = {
    "5-fold": "5-fold",
    "blocks-5": "blocks-5",
    "buffered .1": tr.methods.Buffered(0.1, k=5),
}
MODELS: dict[str, tuple[Callable[[], Any], slice]] = {
    "ridge on features": (Ridge, slice(2, 4)),
    "15 neighbours": (lambda: KNeighborsRegressor(15), slice(0, 4)),
}


def measured(model: str, range_: float, seed: int) -> dict[str, float]:
    """The squared error that each method says of one field, and the two that are true."""
    rng = np.random.default_rng([seed, *f"{range_:g}".encode()])  # other fields for each range
    X, y = FieldProblem(range_, task="regression")(N_ROWS, random_state=rng)
    make, columns = MODELS[model]
    west = np.flatnonzero(X[:, 0] < 0.5)
    mine, among = west[:N_SAMPLED], west[N_SAMPLED:]
    beyond = np.flatnonzero(X[:, 0] > 0.6)
    places = X[mine, :2]
    found = {
        name: float(
            tr.estimate_risk(make(), X[mine][:, columns], y[mine], cv=method, block=places).value
        )
        for name, method in METHODS.items()
    }
    fitted = make().fit(X[mine][:, columns], y[mine])
    for name, rows in {"among": among, "beyond": beyond}.items():
        found[name] = float(((fitted.predict(X[rows][:, columns]) - y[rows]) ** 2).mean())
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.space_folds")
    parser.add_argument("--fields", type=int, default=60, help="of each range")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # that random folds ignore the places
    print("| model | range | " + " | ".join([*METHODS, "among", "beyond"]) + " |")
    print("|---|---|" + "---|" * (len(METHODS) + 2))
    for model in MODELS:
        for range_ in RANGES:
            lines = [measured(model, range_, seed) for seed in range(given.fields)]
            means = [np.mean([line[name] for line in lines]) for name in lines[0]]
            print(f"| {model} | {range_:g} | " + " | ".join(f"{v:.3f}" for v in means) + " |")
    return 0


if __name__ == "__main__":
    one_blas_thread()
    sys.exit(main())
