"""PYTHON adelie_path.py FOLDER rows columns repeats: what rows/logistic.R does, by adelie.

It runs in an environment of its own (adelie needs an older NumPy) and imports nothing of ours.
FOLDER holds X, y and lambda, and gets the coefficients; prints the seconds of one path and of one
5-fold cross-validation, medians over repeats, and the number of penalties. Columns are brought to
variance one beforehand, outside the time.
"""

import sys
import time
from pathlib import Path
from statistics import median

import adelie  # type: ignore[import-not-found]
import numpy as np


def main(folder: Path, n: int, p: int, repeats: int) -> None:
    X = np.fromfile(folder / "X").reshape(p, n).T
    y = np.fromfile(folder / "y")
    lambdas = np.fromfile(folder / "lambda")
    centre, scale = X.mean(axis=0), X.std(axis=0)
    Z = np.asfortranarray((X - centre) / scale)
    glm = adelie.glm.binomial(y)
    plain = {"early_exit": False, "progress_bar": False, "n_threads": 1}
    ratio = lambdas[-1] / lambdas[0]

    def path():
        return adelie.grpnet(Z, glm, lmda_path=lambdas, **plain)

    def cross():
        return adelie.cv_grpnet(
            Z, glm, n_folds=5, seed=0, lmda_path_size=len(lambdas), min_ratio=ratio, **plain
        )

    state = path()
    seconds = [median(timed(work) for _ in range(repeats)) for work in (path, cross)]
    print(*seconds, len(state.lmdas))
    slopes = np.asarray(state.betas.todense()) / scale
    intercepts = np.asarray(state.intercepts) - slopes @ centre
    np.concatenate([intercepts.ravel(), slopes.ravel()]).tofile(folder / "solution-adelie")


def timed(work):
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
