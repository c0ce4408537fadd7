"""002, Figures 2 and 3: real data, training sets of several sizes, test errors of all choices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

import numpy as np
from sklearn.base import clone

from truerisk.datasets import load
from truerisk.experiments.bee_choosing import (
    NAMES,
    OF_MACHINES,
    ORACLE,
    SHORT,
    SPLIT_UNIT,
    Drawn,
    Learners,
    Less,
    along_rows,
    choices_by_size,
    compare_choices,
    convergence_note,
    errors_on,
    logistic,
    machines,
    mean_grid,
    methods_named,
    under,
)
from truerisk.experiments.experiment import Draws, Experiment, paragraphs, stream
from truerisk.experiments.figures import Findings, Parts
from truerisk.experiments.statements import Statement
from truerisk.extend import Family, LinearRules

FEWEST, MOST = 0, -1  # indices of the smallest and of the largest training sets
LEAST = 2  # Minimum number of rows of each class: with one, BEEi has no posterior.


@dataclass(frozen=True)
class RealSet:
    """A data set by name, with the sizes of training sets and the pool they are drawn from.

    Training rows are drawn from the first `pool` rows. If the split is `fixed`, the rows after the
    pool are tested, otherwise those that were not drawn. `names` are the methods along the path. In
    a `parting` set the document says that choices diverge from the best rule.
    """

    name: str
    sizes: tuple[int, ...]
    pool: int
    fixed: bool = False
    names: tuple[str, ...] = NAMES
    scaled: bool = True
    parting: bool = False

    @property
    def learners(self) -> Learners:
        """The path of penalties, and machines on features scaled in each training set."""
        path, costs = (methods_named(of, standardize=True) for of in (self.names, OF_MACHINES))
        return {
            f"{self.name} LR": (logistic(), path),
            f"{self.name} SVM": (machines(scaled=self.scaled), costs),
        }

    def replicate(self, seed: int, number: int) -> Draws:
        """Draw a training set of every size, and fit both learners to each."""
        X, y = _rows(self.name)

        def training_set(size: int) -> Drawn:
            train, test = self.split(stream(f"{self.name} {size}", seed, number), size)

            def on_test_rows(family: Family, rules: LinearRules) -> np.ndarray:
                rows = X[test]  # Test rows are transformed like the training rows.
                if family.is_piped:
                    rows = clone(family.estimator[:-1]).fit(X[train]).transform(rows)
                return errors_on(rows, y[test], rules)

            return X[train], y[train], on_test_rows

        return choices_by_size(self.sizes, self.learners, training_set, number)

    def split(self, rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw training rows, with at least two of each class; return them and the test rows."""
        _, y = _rows(self.name)
        order = rng.permutation(self.pool)
        least = np.concatenate([order[y[order] == code][:LEAST] for code in np.unique(y)])
        others = order[~np.isin(order, least)]
        train = np.sort(np.concatenate([least, others])[: max(size, len(least))])
        return train, np.setdiff1d(np.arange(self.pool if self.fixed else 0, len(y)), train)

    def contents(self, draws: Draws) -> Parts:
        """Yield mean test errors by size for both learners, with their panels."""
        for label, (_, methods) in self.learners.items():
            errors, title = under(draws, label, (*methods, ORACLE)), ", ".join(label.split())
            yield mean_grid(errors, self.sizes, f"{title}: mean test error of the chosen rule")
            if len(self.sizes) > 1:
                yield along_rows(title, "error", self.sizes, errors)
                # Differences are within training sets, so that the bands exclude the variance
                # between sets.
                beyond = {name: errors[name] - errors[ORACLE] for name in methods}
                yield along_rows(f"{title}: beyond the oracle", "difference", self.sizes, beyond)
        yield f"{self.name}: {convergence_note(draws[f'{self.name} LR {SHORT}'])}"

    def parted(self, draws: Draws, label: str) -> Statement:
        """Test whether both choices diverge from the best rule with more training rows."""
        last = f"n = {self.sizes[MOST]} − {self.sizes[FEWEST]}"
        errors = under(draws, label, ("BEEp", "CV-5", ORACLE))
        away = {name: errors[name] - errors[ORACLE] for name in ("BEEp", "CV-5")}
        return Statement.from_quantities(
            f"{label}: the difference between the optimal model and the selected one "
            "increases with the training rows",
            {f"{name}: {last}": gap[:, MOST] - gap[:, FEWEST] for name, gap in away.items()},
        )


@dataclass(frozen=True)
class RealSetsFigure:
    """A figure of document 002: several sets, both learners, a curve per method.

    `claims` are the document's statements, and `notes` paragraphs.
    """

    name: str
    title: str
    sets: tuple[RealSet, ...]
    claims: tuple[Less, ...]
    notes: str
    replicates: int
    unit: str = SPLIT_UNIT

    def check(self) -> None:
        """Raise if the files are missing."""
        for real in self.sets:
            _rows(real.name)

    def replicate(self, seed: int, number: int) -> Draws:
        """Draw training sets of every set and size, and compute all choices on each."""
        every = (real.replicate(seed, number) for real in self.sets)
        return {name: errors for draws in every for name, errors in draws.items()}

    def findings(self, draws: Draws) -> Findings:
        """Return tables and panels for each set and learner, the claims, and convergence notes."""
        sizes = {real.name: real.sizes for real in self.sets}
        parts = chain(
            *(real.contents(draws) for real in self.sets),
            *(compare_choices(draws, sizes[one[0].split()[0]], one) for one in self.claims),
            (real.parted(draws, of) for real in self.sets if real.parting for of in real.learners),
        )
        return Findings.from_parts(self.name, paragraphs(self.notes.strip()), parts)

    @property
    def with_all_sizes(self) -> RealSetsFigure:
        """The same figure with the document's nineteen sizes, from 10 % by steps of 5."""
        # Some rows have to be left for testing.
        shares = {True: range(10, 101, 5), False: range(10, 100, 5)}
        sets = (
            replace(real, sizes=tuple(round(real.pool * of / 100) for of in shares[real.fixed]))
            for real in self.sets
        )
        return replace(self, name=f"{self.name}-full", sets=tuple(sets))

    def experiment(self, full: Experiment | None = None) -> Experiment:
        """Return the experiment that is run by its name."""
        return Experiment(
            name=self.name,
            title=f"Huttunen and Tohka (2015), {self.title}",
            document="L1 logistic regression (LR) and linear machines (SVM) on random parts of the "
            "training rows",
            replicates=self.replicates,
            quick=2,
            replicate=self.replicate,
            findings=self.findings,
            unit=self.unit,
            check=self.check,
            full=full,
        )


@lru_cache(maxsize=4)
def _rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    bundle = load(name)
    return bundle.X, bundle.y


# ---------------------------------------------------------------- Figures 2 and 3

REPEATED = "100×CV-5"  # This method is used for ovarian cancer along the path, as in the document.
NO_NUMBERS = "the document draws curves and prints no numbers."

BEE_FIGURE_2 = RealSetsFigure(
    name="bee-figure-2",
    title="Figure 2: two classes, real data",
    sets=(
        RealSet("ovarian", (22, 43, 86, 130), 216, names=(*NAMES[:2], REPEATED, *NAMES[2:])),
        RealSet("a1a", (160, 400, 800, 1605), 1605, fixed=True, scaled=False),
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
    replicates=25,
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
bee_figure_2 = BEE_FIGURE_2.experiment(full=BEE_FIGURE_2.with_all_sizes.experiment())

BEE_FIGURE_3 = RealSetsFigure(
    name="bee-figure-3",
    title="Figure 3: several classes, real data",
    sets=(
        RealSet("yeast", (148, 297, 594, 1113), 1484, parting=True),
        RealSet("satellite", (222, 443, 1109, 2218), 4435, fixed=True),
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
    replicates=20,
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
bee_figure_3 = BEE_FIGURE_3.experiment(full=BEE_FIGURE_3.with_all_sizes.experiment())

BEE_FIGURE_3_END = RealSetsFigure(
    name="bee-figure-3-end",
    title="Figure 3: all training rows of Satellite",
    sets=(RealSet("satellite", (4435,), 4435, fixed=True, names=OF_MACHINES),),
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
    replicates=12,
    unit="draws of the folds",
)
bee_figure_3_end = BEE_FIGURE_3_END.experiment()
