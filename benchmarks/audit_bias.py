"""How biased a claim, its corrections and nested validation are, on searches of known optimism.

    python -m benchmarks.audit_bias [replicates]

A candidate is a rule that errs on each row with its own known probability, so no model is fitted
and the risk of whatever is chosen is known. `independent` rules err independently; `correlated`
ones share a normal latent variable (correlation .8). `alike` rules all have risk .3; `spread` ones
lie evenly between .2 and .4. A search takes the rule with the smallest mean error.

The bias of claim, bbc and tt is the mean of value − risk of the chosen rule. That of pairs and of
nested is against the mean risk of the rules that their folds chose, five and ten. No rule learns,
so that fits without a further fold choose as the errors of the other folds do.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from scipy.special import ndtri

from truerisk.intervals.bootstrapped_choice import (
    correct_risk_by_bootstrap,
    correct_risk_by_splits,
)

SIZES = (20, 50, 100, 200, 500)
COUNTS = (5, 20, 100, 300)
BOOTSTRAPS = 200
FOLDS, OUTER = 5, 10


@dataclass
class Cell:
    """The biases of one situation, one per replicate."""

    n_rows: int
    n_candidates: int
    dependence: str
    risks: str
    biases: dict[str, list[float]] = field(default_factory=dict)

    def mean(self, what: str) -> float:
        return float(np.mean(self.biases[what]))

    def error(self, what: str) -> float:
        values = self.biases[what]
        return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def draw(cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Errors of every rule on every row, and the risks of the rules."""
    c, n = cell.n_candidates, cell.n_rows
    risks = np.full(c, 0.3) if cell.risks == "alike" else rng.permutation(np.linspace(0.2, 0.4, c))
    share = 0.8 if cell.dependence == "correlated" else 0.0
    latent = np.sqrt(share) * rng.normal(size=n) + np.sqrt(1 - share) * rng.normal(size=(c, n))
    return (latent < ndtri(risks)[:, None]).astype(float), risks


def nested(losses: np.ndarray, risks: np.ndarray, folds: int) -> tuple[float, float]:
    """Return the nested value of fixed rules, and the mean risk of what the outer folds chose."""
    n = losses.shape[1]
    fold = np.arange(n) % folds
    value = target = 0.0
    for k in range(folds):
        held = fold == k
        chosen = losses[:, ~held].mean(axis=1).argmin()
        value += losses[chosen, held].sum() / n
        target += risks[chosen] * held.sum() / n
    return value, target


def replicate(cell: Cell, rng: np.random.Generator) -> dict[str, float]:
    """Value minus truth of each estimate in one replicate."""
    losses, risks = draw(cell, rng)
    corrected = correct_risk_by_bootstrap(losses, rng, replicates=BOOTSTRAPS)
    chosen = int(losses.mean(axis=1).argmin())
    splits = np.stack([part.mean(axis=1) for part in np.array_split(losses, FOLDS, axis=1)], axis=1)
    in_pairs, target_of_pairs = nested(losses, risks, FOLDS)
    value, target = nested(losses, risks, OUTER)
    low, high = np.quantile(corrected.bootstrap_risks, [0.025, 0.975])
    return {
        "claim": losses[chosen].mean() - risks[chosen],
        "bbc": corrected.value - risks[chosen],
        "tt": correct_risk_by_splits(splits, chosen) - risks[chosen],
        "pairs": in_pairs - target_of_pairs,
        "nested": value - target,
        "covered": float(low <= risks[chosen] <= high),
    }


def measure(cell: Cell, replicates: int, seed: int = 0) -> Cell:
    """The cell with the biases of so many replicates."""
    word = f"{cell.n_rows} {cell.n_candidates} {cell.dependence} {cell.risks}"
    rng = np.random.default_rng([seed, *word.encode()])
    for _ in range(replicates):
        for what, bias in replicate(cell, rng).items():
            cell.biases.setdefault(what, []).append(bias)
    return cell


def cells() -> Iterator[Cell]:
    """All situations."""
    for dependence, risks, n, c in product(
        ("independent", "correlated"), ("alike", "spread"), SIZES, COUNTS
    ):
        yield Cell(n, c, dependence, risks)


def main() -> None:
    replicates = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    head = "| rules | risks | rows | rules compared | claim | bbc | tt | pairs (se) | nested (se) "
    head += "| coverage |"
    print(f"{replicates} replicates\n\n{head}\n|" + "---|" * 10)
    for cell in cells():
        measure(cell, replicates)
        means = " | ".join(f"{cell.mean(what):+.3f}" for what in ("claim", "bbc", "tt"))
        by_folds = " | ".join(
            f"{cell.mean(what):+.4f} ({cell.error(what):.4f})" for what in ("pairs", "nested")
        )
        print(
            f"| {cell.dependence} | {cell.risks} | {cell.n_rows} | {cell.n_candidates} | {means} "
            f"| {by_folds} | {cell.mean('covered'):.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
