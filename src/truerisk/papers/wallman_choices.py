"""Wallman §5.4: the bias is the same whatever is chosen by an error that was minimised."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from truerisk.core.family import Family
from truerisk.methods.kfold import KFold
from truerisk.papers.experiment import Draws, Sample, experiment, stream, values_of
from truerisk.papers.figures import MeansGrid, Panel, Parts, Series
from truerisk.papers.statements import Statement
from truerisk.papers.wallman_bias import mean_of, mixture_gap, mixtures_of

ROWS = N, N_FRESH = 50, 1000
COLUMNS = GENES, TELLING = 60, 10
APART = 0.8  # means of the ten genes; the others are noise
KEPT = 10  # genes, where their number is not chosen
NEIGHBOURS = 3  # where their number is not chosen
SIZES = (1, 2, 3, 5, 8, 13, 20, 30)  # numbers of genes, or of components
KS = tuple(range(1, 16, 2))
CHOICES = ("neighbours", "genes", "components", "classifier")
BIAS = "p_b − p_a"


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
    sample = Sample.alternating(ROWS, COLUMNS, APART, stream("wallman choices", seed, number))
    draws: dict[str, np.ndarray] = {}
    for name, family in families().items():
        estimates = values_of(sample.evaluated(KFold(10), family, number))
        true = sample.errors(family).ravel()
        draws[name] = np.concatenate([[estimates.argmin()], estimates, true])
    return draws


@experiment(_replicate, replicates=200, quick=20)
def wallman_choices(draws: Draws) -> Parts:
    """Wallman (2005), §5.4: the same bias for other choices.

    {N} rows, {GENES} genes of which {TELLING} have means {APART:g} apart; the least 10-fold error
    wins, the first among equals

    the document argues and prints no numbers. Choices: {KS[0]} to {KS[7]} neighbours; {SIZES[0]}
    to {SIZES[7]} of the genes, by their F; as many principal components; nearest neighbours, tree,
    Parzen or Fisher. What is not chosen is {NEIGHBOURS} neighbours and the {KEPT} first genes.

    how large the bias is depends on how many candidates differ, and by how much.
    """
    mixtures = [mixtures_of(draws[name]) for name in CHOICES]
    names = {
        "reported, p_a (6)": "reported (6)",
        "all estimates, p_b (7)": "unselected (7)",
        "true, p (5)": "true (5)",
    }
    means = {name: [mean_of(every[of]) for every in mixtures] for name, of in names.items()}
    gaps = [mixture_gap(draws[name], "unselected (7)", "reported (6)") for name in CHOICES]
    yield MeansGrid.of("mean errors, by what is chosen", CHOICES, means | {BIAS: gaps})
    for name, gap in zip(CHOICES, gaps, strict=True):
        yield Statement.of(
            f"the bias occurs regardless of what is chosen: {name}",
            gap,
            mixture_gap(draws[name], "true (5)", "reported (6)"),
        )
    places = np.arange(1.0, len(CHOICES) + 1)
    bars = tuple(Series.of(name, places, every) for name, every in means.items())
    yield Panel("what is chosen", "", "mean error", bars, kind="bars", names=CHOICES)
