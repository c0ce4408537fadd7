"""Wallman §5.4: the bias is the same whatever is chosen by an error that was minimised."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from truerisk.core.family import Family
from truerisk.core.losses import ZeroOne
from truerisk.methods.kfold import KFold
from truerisk.methods.parts.set_risks import split_risks
from truerisk.papers.experiment import (
    Draws,
    answered,
    evaluated,
    experiment,
    plan_of,
    stream,
    two_classes,
    values_of,
)
from truerisk.papers.figures import Findings, GridRow, MeansGrid, Panel, Panels, Series
from truerisk.papers.statements import Quantity, Statement
from truerisk.papers.wallman_bias import mixture_gap, selection_bias

N, N_FRESH = 50, 1000
GENES, TELLING, APART = 60, 10, 0.8  # ten genes with means .8 apart, and noise
KEPT = 10  # genes, where their number is not chosen
NEIGHBOURS = 3  # where their number is not chosen
SIZES = (1, 2, 3, 5, 8, 13, 20, 30)  # numbers of genes, or of components
KS = tuple(range(1, 16, 2))
CHOICES = ("neighbours", "genes", "components", "classifier")
BIAS = "p_b − p_a"


def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from and, after them, rows that only measure; every second one is positive."""
    y = np.arange(N + N_FRESH) % 2
    X = rng.standard_normal((len(y), GENES))
    X[:, :TELLING] += APART * y[:, None]
    return X, y


@lru_cache(maxsize=1)
def families() -> dict[str, Family]:
    """What is chosen, everything else being fixed; genes are ranked in each training set."""
    from sklearn.decomposition import PCA
    from sklearn.feature_selection import SelectKBest
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.tree import DecisionTreeClassifier

    from truerisk.models import FisherClassifier, ParzenClassifier

    nearest = KNeighborsClassifier(NEIGHBOURS)
    ranked = Pipeline([("genes", SelectKBest(k=KEPT)), ("rule", nearest)])
    extracted = Pipeline([("parts", PCA(svd_solver="full")), ("rule", nearest)])
    tree = DecisionTreeClassifier(criterion="entropy", random_state=0)
    rules = [nearest, tree, ParzenClassifier(), FisherClassifier()]
    grids = (
        (ranked, {"rule__n_neighbors": KS}),
        (ranked, {"genes__k": SIZES}),
        (extracted, {"parts__n_components": SIZES}),
        (ranked, {"rule": rules}),
    )
    return {name: Family.of(*grid) for name, grid in zip(CHOICES, grids, strict=True)}


def _replicate(seed: int, number: int) -> Draws:
    """10-fold cross-validation of every candidate of each choice, and their true errors."""
    X, y = draw(stream("wallman choices", seed, number))
    whole, sample, loss, rows = two_classes(X, y), two_classes(X[:N], y[:N]), ZeroOne(), len(y)
    plan = plan_of(rows, (np.arange(N), np.arange(N, rows)))
    draws: dict[str, np.ndarray] = {}
    for name, family in families().items():
        estimates = values_of(evaluated(KFold(10), family, sample, loss, number))
        true = split_risks(answered(family, whole, loss, plan), whole, loss).ravel()
        draws[name] = np.concatenate([[estimates.argmin()], estimates, true])
    return draws


@experiment(
    f"{N} rows, {GENES} genes of which {TELLING} have means {APART:g} apart; the least 10-fold "
    "error wins, the first among equals",
    _replicate,
    replicates=200,
    quick=20,
)
def wallman_choices(draws: Draws) -> Findings:
    """Wallman (2005), §5.4: the same bias for other choices."""
    why = [selection_bias(draws[name]) for name in CHOICES]
    gaps = {name: mixture_gap(draws[name], "unselected (7)", "reported (6)") for name in CHOICES}
    names = ("reported, p_a (6)", "all estimates, p_b (7)", "true, p (5)")
    mixtures = [(one.reported, one.unselected, one.true) for one in why]
    rows = [
        GridRow(name, tuple(of.mean for of in every), tuple(of.std_error for of in every))
        for name, every in zip(names, zip(*mixtures, strict=True), strict=True)
    ]
    bias = GridRow(
        BIAS, tuple(g.value for g in gaps.values()), tuple(g.std_error for g in gaps.values())
    )
    places = np.arange(1.0, len(CHOICES) + 1)
    bars = tuple(
        Series(row.name, places, np.array(row.means), error=np.array(row.std_errors))
        for row in rows
    )
    panel = Panel("what is chosen", "", "mean error", bars, kind="bars", names=CHOICES)
    return Findings(
        tables=(MeansGrid("mean errors, by what is chosen", CHOICES, (*rows, bias)),),
        claims=tuple(_claim(name, draws[name], gaps[name]) for name in CHOICES),
        notes=(
            (
                "the document argues and prints no numbers. Choices: "
                f"{KS[0]} to {KS[-1]} neighbours; {SIZES[0]} to {SIZES[-1]} of the genes, by their "
                "F; as many principal components; nearest neighbours, tree, Parzen or Fisher. "
                f"What is not chosen is {NEIGHBOURS} neighbours and the {KEPT} first genes."
            ),
            "how large the bias is depends on how many candidates differ, and by how much.",
        ),
        figures=(Panels("wallman-choices", (panel,)),),
    )


def _claim(name: str, rows: np.ndarray, gap: Quantity) -> Statement:
    return Statement.of(
        f"the bias occurs regardless of what is chosen: {name}",
        gap,
        mixture_gap(rows, "true (5)", "reported (6)"),
    )
