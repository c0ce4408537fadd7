"""Wallman §6: genes chosen on all rows before the folds, or within each of them."""

from __future__ import annotations

import numpy as np

from truerisk.experiments.experiment import Draws, Sample, experiment, stream, two_classes
from truerisk.experiments.figures import MeansGrid, Panel, Parts, mean_lines
from truerisk.experiments.statements import Claim, Quantity, Statement
from truerisk.extend import Family
from truerisk.methods import Apparent, KFold

ROWS = N, N_FRESH = 50, 500
GENES = 500
SIZES = (1, 2, 5, 10, 20, 50, 100, 200, GENES)
# number of genes whose class means differ by 1
PROBLEMS = {"no gene tells": 0, "ten genes tell": 10}
APPARENT, OUTSIDE, INSIDE, TRUE = WAYS = (
    "its own rows",
    "folds, genes chosen on all rows",
    "folds, genes chosen in each",
    "fresh rows",
)
STYLES = "C4v:", "C1s--", "C0o-", "k^-."
MUCH, NEAR = 0.05, 0.02


def _replicate(seed: int, number: int) -> Draws:
    """Fit 3-NN on the genes with the largest F, chosen outside or inside the same ten folds."""
    from sklearn.feature_selection import SelectKBest
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import Pipeline

    draws: dict[str, np.ndarray] = {}
    rule, genes = KNeighborsClassifier(3), SelectKBest()
    inside = Family.from_grid(Pipeline([("genes", genes), ("rule", rule)]), {"genes__k": SIZES})
    for problem, telling in PROBLEMS.items():
        columns = GENES, telling
        sample = Sample.alternating(ROWS, columns, 1.0, stream(problem, seed, number))
        X, y = sample.whole.X[:N], sample.whole.y[:N]
        tables = [two_classes(SelectKBest(k=k).fit_transform(X, y), y) for k in SIZES]
        outside = [
            Sample(one, N).risks(KFold(10), Family.from_grid(rule), number) for one in tables
        ]
        errors = (
            sample.risks(Apparent(), inside, number),
            np.concatenate(outside),
            sample.risks(KFold(10), inside, number),
            sample.errors(inside).ravel(),
        )
        draws |= {f"{problem}: {way}": of for way, of in zip(WAYS, errors, strict=True)}
    return draws


@experiment(_replicate, replicates=200, quick=10)
def wallman_genes(draws: Draws) -> Parts:
    """Wallman (2005), §6: genes chosen before the folds.

    {N} rows of {GENES} genes, three nearest neighbours on those of largest F; the rule errs on its
    own rows, in ten folds, and on {N_FRESH} fresh rows
    """
    names, places = tuple(map(str, SIZES)), np.arange(1.0, len(SIZES) + 1)
    apparent, outside, inside = [], [], []
    for problem in PROBLEMS:
        of = {way: draws[f"{problem}: {way}"] for way in WAYS}
        hidden = of[TRUE] - of[OUTSIDE]
        apparent.append(_mean_gaps(problem, of[TRUE] - of[APPARENT]))
        outside.append(_mean_gaps(problem, hidden[:, :-1]))
        inside.append({f"{problem}: estimate − true": (of[INSIDE] - of[TRUE]).mean(axis=1)})
        yield MeansGrid.from_values(problem, names, {way: of[way].T for way in WAYS}, digits=3)
        lines = mean_lines(places, of, STYLES)
        steps = tuple(map(_step, SIZES, *(every.T for every in (*of.values(), hidden))))
        words = "number of genes", "mean error"
        yield Panel(problem, *words, lines, names=names, limits=(0.0, 0.6), steps=steps)
    yield Statement.from_quantities(
        "§2.2.1: the apparent error suffers from substantial optimistic bias: a twentieth or "
        "more, whatever the number of genes",
        *apparent,
        claim=Claim("above", MUCH),
    )
    yield Statement.from_quantities(
        "§6: bias occurs when cross-validation is used for feature selection, if improper test "
        "procedures are used: genes chosen on all rows",
        *outside,
    )
    yield Statement.from_quantities(
        "§2.2.2: the error of cross-validation is approximately unbiased where each fold "
        "chooses its genes: within a fiftieth, on average over their numbers",
        *inside,
        claim=Claim("near", 0.0, NEAR),
    )


def _mean_gaps(problem: str, gaps: np.ndarray) -> dict[str, np.ndarray]:
    genes = ("1 gene" if k == 1 else f"{k} genes" for k in SIZES)
    each = zip(genes, gaps.T, strict=False)
    return {f"{problem}, {of}: true − estimate": gap for of, gap in each}


def _step(k: int, *errors: np.ndarray) -> str:
    """Describe the effect of k genes in words; ± is one standard error."""
    means = (Quantity.mean("", 100 * each) for each in errors)
    own, outside, inside, fresh, hidden = (f"{q.value:.1f} ± {q.std_error:.1f}" for q in means)
    remark = f"Choosing on all rows hides {hidden} points of it."
    return (
        f"{k} of {GENES} genes: the rule errs on {own} % of its own rows; in folds on {outside} % "
        f"where the genes were chosen on all rows, on {inside} % where each fold chooses its own; "
        f"and on {fresh} % of fresh rows. "
        + (remark if k < GENES else "All genes are kept: nothing is chosen, and nothing hidden.")
    )
