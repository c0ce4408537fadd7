"""002, Figures 2 and 3: real data, training sets of several sizes, test errors of all choices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

import numpy as np
from sklearn.base import clone

from truerisk.core.contracts import Method
from truerisk.core.family import Family
from truerisk.datasets import documents
from truerisk.papers.bee_choosing import (
    ORACLE,
    SHORT,
    Drawn,
    ErrorsOf,
    choices_by_size,
    counted,
    logistic,
    machines,
    methods_named,
)
from truerisk.papers.bee_report import (
    SPLIT_UNIT,
    Less,
    convergence_note,
    error_panels,
    less,
    mean_grid,
    under,
)
from truerisk.papers.experiment import Draws, Experiment, paragraphs, stream
from truerisk.papers.figures import Findings, Parts
from truerisk.papers.statements import Statement

LEARNERS = ("LR", "SVM")
OF_MACHINES = ("CV-5", "BEEp", "BEEi")
FEWEST, MOST = 0, -1  # places of the smallest and of the largest training sets
LEAST = 2  # rows of each class: with one, BEEi has no posterior
PERCENT = tuple(range(10, 101, 5))  # of the training rows: the document's nineteen sizes


@dataclass(frozen=True)
class RealSet:
    """A data set by its word, sizes of training sets, and where they are drawn from.

    Of a set with a fixed split, `pool` rows at its beginning are for training and the others are
    tested. Without one, the rows that were not drawn are tested. `names` are the methods along the
    path. In a `parting` set choices move away from the best rule.
    """

    word: str
    sizes: tuple[int, ...]
    pool: int | None = None
    names: tuple[str, ...] = ("CV-5", "CV-10", "BEEp", "BEEi", "EBIC")
    scaled: bool = True
    parting: bool = False

    def methods(self, learner: str) -> dict[str, Method]:
        """Along the path those of the set, and the document's for machines."""
        return methods_named(OF_MACHINES if learner == "SVM" else self.names, standardize=True)

    def family(self, learner: str) -> Family:
        """Penalties of the path, or costs of machines on features scaled in each training set."""
        return machines(scaled=self.scaled) if learner == "SVM" else logistic()

    def replicate(self, seed: int, number: int) -> Draws:
        """A training set of every size, and both learners on each."""
        X, y = _rows(self.word)

        def drawn(size: int) -> Drawn:
            train, test = self.split(stream(f"{self.word} {size}", seed, number), size)

            def on_test_rows(family: Family) -> ErrorsOf:
                rows = X[test]  # prepared as the training rows were
                if family.is_piped:
                    rows = clone(family.estimator[:-1]).fit(X[train]).transform(rows)
                return counted(rows, y[test])

            return X[train], y[train], on_test_rows

        learners = {
            f"{self.word} {learner}": (self.family(learner), self.methods(learner))
            for learner in LEARNERS
        }
        return choices_by_size(self.sizes, learners, drawn, number)

    def split(self, rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows to train on, drawn at random but at least two of each class, and rows to test."""
        _, y = _rows(self.word)
        pool = len(y) if self.pool is None else self.pool
        order = rng.permutation(pool)
        least = np.concatenate([order[y[order] == code][:LEAST] for code in np.unique(y)])
        others = order[~np.isin(order, least)]
        train = np.sort(np.concatenate([least, others])[: max(size, len(least))])
        rest = np.arange(self.pool or 0, len(y))
        return train, np.setdiff1d(rest, train)

    def contents(self, draws: Draws) -> Parts:
        """Mean test errors by size for both learners, with their panels."""
        for learner in LEARNERS:
            names = (*self.methods(learner), ORACLE)
            errors, title = under(draws, f"{self.word} {learner}", names), f"{self.word}, {learner}"
            yield mean_grid(errors, self.sizes, f"{title}: mean test error of the chosen rule")
            if len(self.sizes) > 1:
                yield from error_panels(errors, self.sizes, title)
        yield f"{self.word}: {convergence_note(draws, f'{self.word} LR {SHORT}')}"

    def parted(self, draws: Draws, learner: str) -> Statement:
        """Whether both choices part from the best rule, from the fewest to the most rows."""
        of, last = f"{self.word} {learner}", f"n = {self.sizes[MOST]} − {self.sizes[FEWEST]}"
        away = {name: draws[f"{of} {name}"] - draws[f"{of} {ORACLE}"] for name in ("BEEp", "CV-5")}
        return Statement.of(
            f"{of}: the difference between the optimal model and the selected one "
            "increases with the training rows",
            {f"{name}: {last}": gap[:, MOST] - gap[:, FEWEST] for name, gap in away.items()},
        )


@dataclass(frozen=True)
class RealSetsFigure:
    """A figure of document 002: several sets, both learners, a curve per method.

    `claims` are the document's sentences, and `notes` paragraphs. Usually few sizes are run; with
    `n_rows`, those of each set, the document's shares of them can be.
    """

    word: str
    sets: tuple[RealSet, ...]
    claims: tuple[Less, ...]
    notes: str
    n_rows: tuple[int, ...] = ()

    def check(self) -> None:
        """Refuse where the files are missing."""
        for real in self.sets:
            _rows(real.word)

    def replicate(self, seed: int, number: int) -> Draws:
        """Training sets of every set and size, and all choices on each."""
        every = (real.replicate(seed, number) for real in self.sets)
        return {name: errors for draws in every for name, errors in draws.items()}

    def findings(self, draws: Draws) -> Findings:
        """A grid and panels for each set and learner, the claims, whether the paths converged."""
        sizes = {real.word: real.sizes for real in self.sets}
        parts = chain(
            *(real.contents(draws) for real in self.sets),
            *(less(draws, sizes[one[0].split()[0]], one) for one in self.claims),
            (real.parted(draws, of) for real in self.sets if real.parting for of in LEARNERS),
        )
        return Findings.of(self.word, paragraphs(self.notes.strip()), parts)

    def experiment(self, title: str, replicates: int, unit: str = SPLIT_UNIT) -> Experiment:
        """What is run by its word."""
        full = None
        if self.n_rows:
            shares = [PERCENT if real.pool else PERCENT[:-1] for real in self.sets]  # some to test
            every = tuple(
                replace(real, sizes=tuple(round(n * share / 100) for share in of))
                for real, n, of in zip(self.sets, self.n_rows, shares, strict=True)
            )
            whole = replace(self, word=f"{self.word}-full", sets=every, n_rows=())
            full = whole.experiment(title, replicates, unit)
        return Experiment(
            word=self.word,
            title=f"Huttunen and Tohka (2015), {title}",
            document="L1 logistic regression (LR) and linear machines (SVM) on random parts of the "
            "training rows",
            replicates=replicates,
            quick=2,
            replicate=self.replicate,
            findings=self.findings,
            unit=unit,
            check=self.check,
            full=full,
        )


@lru_cache(maxsize=4)
def _rows(word: str) -> tuple[np.ndarray, np.ndarray]:
    bundle = getattr(documents, word).bundle()
    return bundle.X, bundle.y


# ---------------------------------------------------------------- Figures 2 and 3

REPEATED = "100×CV-5"  # as in the document, for ovarian cancer along the path
WITH_REPEATED = ("CV-5", "CV-10", REPEATED, "BEEp", "BEEi", "EBIC")
NO_NUMBERS = "the document draws curves and prints no numbers."

BEE_FIGURE_2 = RealSetsFigure(
    word="bee-figure-2",
    sets=(
        RealSet("ovarian", (22, 43, 86, 130), names=WITH_REPEATED),
        RealSet("a1a", (160, 400, 800, 1605), pool=1605, scaled=False),
    ),
    claims=(
        ("ovarian LR", "BEEp", "CV-5", FEWEST, MOST),
        ("ovarian SVM", "BEEp", "CV-5", FEWEST),
        ("ovarian LR", "BEEp", REPEATED, FEWEST),
        ("ovarian LR", REPEATED, "CV-5", MOST),
        ("ovarian SVM", "BEEp", "BEEi", MOST),
        ("a1a LR", "CV-5", "BEEp", FEWEST),
        ("a1a LR", "BEEp", "CV-5", MOST),
        ("a1a SVM", "BEEp", "CV-5", FEWEST, MOST),
    ),
    n_rows=(216, 1605),
    notes=f"""
        {NO_NUMBERS} Its MEG data could not be had.

        ovarian has 4000 of the document's 15,000 features, and is another version of the data; the
        rows that are not drawn are tested, so training and test sets overlap from one replicate to
        the next: standard errors hold for these 216 spectra.

        repeated cross-validation draws 100 times 5 folds, as in the document. At n = 1605
        Adult has one training set, and replicates differ in their folds alone.

        Bayesian estimates are of standardised features. Machines get the spectra standardised in
        each training set, and Adult's indicators as they are. The document says neither.
    """,
)
bee_figure_2 = BEE_FIGURE_2.experiment("Figure 2: two classes, real data", 25)

BEE_FIGURE_3 = RealSetsFigure(
    word="bee-figure-3",
    sets=(
        RealSet("yeast", (148, 297, 594, 1113), parting=True),
        RealSet("satellite", (222, 443, 1109, 2218), pool=4435),
    ),
    claims=(
        ("yeast LR", "BEEp", "CV-5", FEWEST),
        ("yeast LR", "BEEi", "CV-5", FEWEST),
        ("yeast SVM", "BEEp", "CV-5", FEWEST),
        ("yeast SVM", "BEEi", "CV-5", FEWEST),
        ("yeast LR", "BEEp", "CV-5", MOST),
        ("yeast SVM", "BEEp", "CV-5", MOST),
        ("yeast SVM", "BEEp", "BEEi", FEWEST),
        ("satellite LR", "BEEp", "CV-5", FEWEST),
        ("satellite SVM", "BEEp", "CV-5", FEWEST),
        ("satellite LR", "CV-5", "BEEi", MOST),
        ("satellite SVM", "CV-5", "BEEi", MOST),
        ("satellite LR", "CV-5", "BEEp", MOST),
        ("satellite SVM", "CV-5", "BEEp", MOST),
    ),
    n_rows=(1484, 4435),
    notes=f"""
        {NO_NUMBERS} Its MEG data could not be had.

        with several classes the Bayesian estimates are pairwise errors (equation 3). They may
        exceed 1, and rank only.

        training rows are drawn at random, but at least two of each class: from one row BEEi has no
        posterior. Of Yeast's rarest class there are five; folds may lack it.

        Yeast's rows that are not drawn are tested; 31 of its rows repeat another, and may stand on
        both sides. Satellite has 2000 test rows of its own; neighbouring pixels are alike.

        features are standardised in each training set. The document does not say whether.

        all 4435 of Satellite's training rows are one training set: that of bee-figure-3-end, and
        the last of --full.
    """,
)
bee_figure_3 = BEE_FIGURE_3.experiment("Figure 3: several classes, real data", 20)

BEE_FIGURE_3_END = RealSetsFigure(
    word="bee-figure-3-end",
    sets=(RealSet("satellite", (4435,), pool=4435, names=OF_MACHINES),),
    claims=(
        ("satellite LR", "CV-5", "BEEp", MOST),
        ("satellite SVM", "CV-5", "BEEp", MOST),
        ("satellite LR", "CV-5", "BEEi", MOST),
        ("satellite SVM", "CV-5", "BEEi", MOST),
    ),
    notes=f"""
        {NO_NUMBERS}

        there is one training set and one test set of 2000 rows: standard errors are over draws of
        the folds, and say nothing about other rows. The document's last point is made so, too.

        features are standardised in the training set. The document does not say whether.
    """,
)
bee_figure_3_end = BEE_FIGURE_3_END.experiment(
    "Figure 3: all training rows of Satellite", 12, "draws of the folds"
)
