"""Do intervals of subgroups hold together? `python -m benchmarks.subgroups [--sets N]`.

Rows of five centres of 40, 25, 18, 12 and 5 % are drawn, and of two ages that cross them; the rule
is a linear discriminant, tested by pairs of 10 folds. The true risk of a level is the mean risk of
the rules of all data sets on 4,000 fresh rows of it. Printed are the share of data sets in which
all intervals of a score hold their true risks, the same for intervals each at 95 %, and the root
mean squared errors of the values and of the shrunken ones. Ten minutes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from benchmarks.machine import one_blas_thread
from truerisk.contracts import Terms
from truerisk.core.family import Family
from truerisk.estimation.problem import problem_from_arguments
from truerisk.estimation.run import compute_risks
from truerisk.validation.subgroup_risks import subgroup_risks
from truerisk.validation.subgroups import ColumnLevels, SubgroupRisks, subgroup_levels

__all__ = ["main"]

SHARES = (0.40, 0.25, 0.18, 0.12, 0.05)
SCORES = ("auc", "brier", "log")
FRESH = 4000
LEVEL = 0.95
CELLS = ((200, 0.0), (200, 0.6), (800, 0.0), (800, 0.6))  # rows, and how far apart centres are


def draw(
    n: int, apart: float, rng: np.random.Generator, centre: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows, classes, centres and ages; centres differ in noise by `apart`."""
    centre = rng.choice(len(SHARES), n, p=SHARES) if centre is None else centre
    old = rng.random(n) < 0.5
    X = rng.standard_normal((n, 4))
    noise = 1 + apart * (centre - 2) / 2 + 0.3 * apart * old
    y = (X @ [1.5, 1.0, 0.0, 0.0] + noise * rng.logistic(size=n) > 0).astype(int)
    return X, y, centre, old


def tested(
    X: np.ndarray, y: np.ndarray, columns: tuple[ColumnLevels, ...]
) -> tuple[dict[str, SubgroupRisks], LinearDiscriminantAnalysis]:
    """Every score in every level, and the rule of the first fold."""
    problem = problem_from_arguments(
        Family.from_grid(LinearDiscriminantAnalysis()), X, y, scoring=["zero-one", *SCORES]
    )
    told = compute_risks(problem, "pairs")
    found = {}
    for name, one in {"zero-one": told, **told.score_computations}.items():
        terms, tested_risk = Terms(LEVEL, problem.rule), one.procedure or one.tested[0]
        shaken = tested_risk.influences.left_two_out if tested_risk.influences else None
        asked = one.answers, shaken, one.problem.data, one.problem.loss, terms, columns
        found[name] = subgroup_risks(*asked)  # type: ignore[arg-type]
    plan = told.answers.plan  # type: ignore[union-attr]
    rows = plan.train_rows(0)[0]
    return found, LinearDiscriminantAnalysis().fit(X[rows], y[rows])


def risks_of(rule: LinearDiscriminantAnalysis, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return the losses and the AUC of a rule on fresh rows."""
    from sklearn.metrics import roc_auc_score

    p = rule.predict_proba(X)[:, 1]
    sure = np.clip(np.where(y == 1, p, 1 - p), 1e-12, 1)
    return {
        "zero-one": float(((p > 0.5) != y).mean()),
        "auc": float(roc_auc_score(y, p)),
        "brier": float(((p - y) ** 2).mean()),
        "log": float(-np.log(sure).mean()),
    }


def rate(n: int, apart: float, n_sets: int, seed: int | None) -> None:
    """Draw the data sets of one cell and print what was found."""
    named = [] if seed is None else [seed]
    rng = np.random.default_rng([*named, int(100 * apart), n])
    fresh = [draw(FRESH, apart, rng, np.full(FRESH, code)) for code in range(len(SHARES))]
    mixed = draw(4 * FRESH, apart, rng)
    for side in (False, True):
        mine = mixed[3] == side
        fresh.append(tuple(part[mine] for part in mixed))  # type: ignore[arg-type]
    sets, truths = [], []
    for _ in range(n_sets):
        centres = rng.choice(len(SHARES), n, p=SHARES)
        centres[:12] = 4  # none is absent
        X, y, centre, old = draw(n, apart, rng, centres)
        columns = subgroup_levels({"centre": centre, "old": old}, None, n)
        found, rule = tested(X, y, columns)
        sets.append(found)
        truths.append([risks_of(rule, *rows[:2]) for rows in fresh])
    for name in ("zero-one", *SCORES):
        truth = np.array([[one[name] for one in levels] for levels in truths])
        _print(name, n, apart, [one[name] for one in sets], truth.mean(axis=0))


def _print(
    name: str, n: int, apart: float, sets: Sequence[SubgroupRisks], truth: np.ndarray
) -> None:
    together, alone, raw, drawn = [], [], [], []
    for one in sets:
        given = [(r, t) for r, t in zip(one.levels, truth, strict=True) if r.interval is not None]
        holds = [t in r.interval for r, t in given]  # type: ignore[operator]
        together.append(all(holds))
        alone.append(np.mean(holds))
        raw += [(r.value - t) ** 2 for r, t in given if r.shrunken is not None]
        drawn += [(r.shrunken - t) ** 2 for r, t in given if r.shrunken is not None]
    error = (np.mean(together) * (1 - np.mean(together)) / len(together)) ** 0.5
    print(
        f"{name:9} n={n} apart={apart:g}: together {np.mean(together):.3f} ± {error:.3f}, "
        f"each {np.mean(alone):.3f}; RMSE {np.mean(raw) ** 0.5:.4f}, "
        f"shrunken {np.mean(drawn) ** 0.5:.4f}",
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Every cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=300)
    parser.add_argument("--seed", type=int, help="another one, for other data sets")
    parser.add_argument("--cell", type=int, help="one of them, from 0 on")
    asked = parser.parse_args(arguments)
    one_blas_thread()
    warnings.simplefilter("ignore")
    for n, apart in CELLS if asked.cell is None else CELLS[asked.cell : asked.cell + 1]:
        rate(n, apart, asked.sets, asked.seed)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
