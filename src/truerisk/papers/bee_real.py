"""002, Figures 2 and 3: real data, training sets of several sizes, test errors of all choices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from sklearn.base import clone

from truerisk.core.answers import LinearRules
from truerisk.core.contracts import Method
from truerisk.core.family import Family
from truerisk.datasets import documents
from truerisk.methods.information_criteria import EBIC
from truerisk.papers.bee_choosing import (
    ORACLE,
    SHORT,
    Drawn,
    ErrorsOf,
    bayesian,
    choices_by_size,
    counted,
    counting,
    logistic,
    machines,
)
from truerisk.papers.bee_report import convergence_note, error_panels, less, mean_grid
from truerisk.papers.experiment import Draws, Experiment, paragraphs, stream
from truerisk.papers.figures import Findings, MeansGrid, Parts
from truerisk.papers.statements import Statement

LEARNERS = ("LR", "SVM")
LAST = -1  # the place of the largest training sets
LEAST = 2  # rows of each class: with one, BEEi has no posterior
UNIT = "training sets of each size"


@dataclass(frozen=True)
class RealSet:
    """A data set by its word, sizes of training sets, and where they are drawn from.

    Of a set with a fixed split, `pool` rows at its beginning are for training and the others are
    tested. Without one, the rows that were not drawn are tested. A `plain` set compares 5 folds and
    the Bayesian estimates alone.
    """

    word: str
    sizes: tuple[int, ...]
    pool: int | None = None
    repeats: int = 0
    scaled: bool = True
    plain: bool = False

    def methods(self, learner: str) -> Mapping[str, Method]:
        """All of them for logistic regression, the document's for machines and of a plain set."""
        if learner == "SVM" or self.plain:
            return {**counting(tens=False), **bayesian(standardize=True)}
        return {**counting(repeats=self.repeats), **bayesian(standardize=True), "EBIC": EBIC()}

    def family(self, learner: str) -> Family:
        """Penalties of the path, or costs of machines on features scaled in each training set."""
        return machines(scaled=self.scaled) if learner == "SVM" else logistic()

    def replicate(self, seed: int, number: int) -> Draws:
        """A training set of every size, and both learners on each."""
        X, y = _rows(self.word)

        def drawn(size: int) -> Drawn:
            train, test = self.split(stream(f"{self.word} {size}", seed, number), size)
            return X[train], y[train], lambda family: _tested(family, X[train], X[test], y[test])

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
        rest = np.arange(len(y)) if self.pool is None else np.arange(self.pool, len(y))
        return train, np.setdiff1d(rest, train)

    def errors(self, draws: Draws, learner: str) -> dict[str, np.ndarray]:
        """Those of every choice, and the least."""
        names = (*self.methods(learner), ORACLE)
        return {name: draws[f"{self.word} {learner} {name}"] for name in names}

    def grid(self, draws: Draws, learner: str) -> MeansGrid:
        """Mean test errors by size."""
        title = f"{self.word}, {learner}: mean test error of the chosen rule"
        return mean_grid(self.errors(draws, learner), self.sizes, title)


# set, learner, who errs less than whom, place of the size
Less = tuple[str, str, str, str, int]


@dataclass(frozen=True)
class RealSetsFigure:
    """A figure of document 002: several sets, both learners, a curve per method.

    `notes` are paragraphs; `full` are the document's sizes of each set, of which usually few are
    run.
    """

    word: str
    sets: tuple[RealSet, ...]
    claims: tuple[Less, ...]
    notes: str
    full: tuple[tuple[int, ...], ...] = ()
    parting: tuple[tuple[str, str], ...] = ()  # whose choices move away from the best rule

    def check(self) -> None:
        """Refuse where the files are missing."""
        for real in self.sets:
            _rows(real.word)

    def replicate(self, seed: int, number: int) -> Draws:
        """Training sets of every set and size, and all choices on each."""
        draws: dict[str, np.ndarray] = {}
        for real in self.sets:
            draws |= real.replicate(seed, number)
        return draws

    def findings(self, draws: Draws) -> Findings:
        """A grid and panels for each set and learner, the claims, whether the paths converged."""
        return Findings.of(self.word, paragraphs(self.notes.strip()), self._contents(draws))

    def _contents(self, draws: Draws) -> Parts:
        sets = {real.word: real for real in self.sets}
        for word, real in sets.items():
            for learner in LEARNERS:
                yield real.grid(draws, learner)
                if len(real.sizes) > 1:
                    errors = real.errors(draws, learner)
                    yield from error_panels(errors, real.sizes, f"{word}, {learner}")
            yield f"{word}: {convergence_note(draws, f'{word} LR {SHORT}')}"
        for word, learner, low, high, j in self.claims:
            yield less(draws, low, high, j, sets[word].sizes[j], learner=f"{word} {learner}")
        for word, learner in self.parting:
            yield _parts(draws, sets[word], learner)

    def experiment(self, title: str, replicates: int, unit: str = UNIT) -> Experiment:
        """What is run by its word."""
        full = None
        if self.full:
            sets = zip(self.sets, self.full, strict=True)
            every = tuple(replace(real, sizes=sizes) for real, sizes in sets)
            whole = replace(self, word=f"{self.word}-full", sets=every, full=())
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


def _tested(family: Family, X_train: np.ndarray, X: np.ndarray, y: np.ndarray) -> ErrorsOf:
    """Errors on test rows, prepared as the training rows were."""

    def errors_of(rules: LinearRules) -> np.ndarray:
        steps = family.estimator[:-1] if family.is_piped else []
        rows = clone(steps).fit(X_train).transform(X) if len(steps) else X
        return counted(rows, y)(rules)

    return errors_of


def _parts(draws: Draws, real: RealSet, learner: str) -> Statement:
    """From the fewest to the most training rows."""
    of, last = f"{real.word} {learner}", f"n = {real.sizes[LAST]} − {real.sizes[0]}"
    away = {name: draws[f"{of} {name}"] - draws[f"{of} {ORACLE}"] for name in ("BEEp", "CV-5")}
    return Statement.of(
        f"{of}: the difference between the optimal model and the selected one "
        "increases with the training rows",
        {f"{name}: {last}": gap[:, LAST] - gap[:, 0] for name, gap in away.items()},
    )


# ---------------------------------------------------------------- Figures 2 and 3

REPEATS = 100  # as in the document, for ovarian cancer along the path
REPEATED = f"{REPEATS}×CV-5"
PERCENT = range(10, 101, 5)  # of the training rows: the document's nineteen sizes
NO_NUMBERS = "the document draws curves and prints no numbers."


def _shares(n_rows: int, percent: range = PERCENT) -> tuple[int, ...]:
    return tuple(round(n_rows * share / 100) for share in percent)


BEE_FIGURE_2 = RealSetsFigure(
    word="bee-figure-2",
    sets=(
        RealSet("ovarian", (22, 43, 86, 130), repeats=REPEATS),
        RealSet("a1a", (160, 400, 800, 1605), pool=1605, scaled=False),
    ),
    claims=(
        ("ovarian", "LR", "BEEp", "CV-5", 0),
        ("ovarian", "LR", "BEEp", "CV-5", LAST),
        ("ovarian", "SVM", "BEEp", "CV-5", 0),
        ("ovarian", "LR", "BEEp", REPEATED, 0),
        ("ovarian", "LR", REPEATED, "CV-5", LAST),
        ("ovarian", "SVM", "BEEp", "BEEi", LAST),
        ("a1a", "LR", "CV-5", "BEEp", 0),
        ("a1a", "LR", "BEEp", "CV-5", LAST),
        ("a1a", "SVM", "BEEp", "CV-5", 0),
        ("a1a", "SVM", "BEEp", "CV-5", LAST),
    ),
    notes=f"""
        {NO_NUMBERS} Its MEG data could not be had.

        ovarian has 4000 of the document's 15,000 features, and is another version of the data; the
        rows that are not drawn are tested, so training and test sets overlap from one replicate to
        the next: standard errors hold for these 216 spectra.

        repeated cross-validation draws {REPEATS} times 5 folds, as in the document. At n = 1605
        Adult has one training set, and replicates differ in their folds alone.

        Bayesian estimates are of standardised features. Machines get the spectra standardised in
        each training set, and Adult's indicators as they are. The document says neither.
    """,
    full=(_shares(216, PERCENT[:-1]), _shares(1605)),
)
bee_figure_2 = BEE_FIGURE_2.experiment("Figure 2: two classes, real data", 25)

BEE_FIGURE_3 = RealSetsFigure(
    word="bee-figure-3",
    sets=(
        RealSet("yeast", (148, 297, 594, 1113)),
        RealSet("satellite", (222, 443, 1109, 2218), pool=4435),
    ),
    claims=(
        *(
            ("yeast", learner, name, "CV-5", 0)
            for learner in ("LR", "SVM")
            for name in ("BEEp", "BEEi")
        ),
        *(("yeast", learner, "BEEp", "CV-5", LAST) for learner in ("LR", "SVM")),
        ("yeast", "SVM", "BEEp", "BEEi", 0),
        *(("satellite", learner, "BEEp", "CV-5", 0) for learner in ("LR", "SVM")),
        *(
            ("satellite", learner, "CV-5", name, LAST)
            for name in ("BEEi", "BEEp")
            for learner in ("LR", "SVM")
        ),
    ),
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
    full=(_shares(1484, PERCENT[:-1]), _shares(4435)),
    parting=(("yeast", "LR"), ("yeast", "SVM")),
)
bee_figure_3 = BEE_FIGURE_3.experiment("Figure 3: several classes, real data", 20)

BEE_FIGURE_3_END = RealSetsFigure(
    word="bee-figure-3-end",
    sets=(RealSet("satellite", (4435,), pool=4435, plain=True),),
    claims=tuple(
        ("satellite", learner, "CV-5", name, LAST)
        for name in ("BEEp", "BEEi")
        for learner in ("LR", "SVM")
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
