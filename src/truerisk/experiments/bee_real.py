"""Experiments for Figures 2 and 3 of Huttunen and Tohka (2015): test errors on real data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

import numpy as np
from sklearn.base import clone

from truerisk.datasets import load
from truerisk.experiments.bee_choosing import (
    METHOD_NAMES,
    NOT_CONVERGED,
    ORACLE,
    REPLICATE_UNIT,
    SVM_METHOD_NAMES,
    ErrorComparison,
    Learners,
    TrainingSet,
    choices_by_size,
    compare_choices,
    convergence_note,
    error_rates,
    l1_logistic,
    linear_svms,
    mean_grid,
    methods_by_name,
    panel_by_training_rows,
    select_learner_values,
)
from truerisk.experiments.experiment import Draws, Experiment, replicate_rng, split_paragraphs
from truerisk.experiments.figures import FindingParts, Findings
from truerisk.experiments.statements import Claim, Statement
from truerisk.extend import Family, LinearRules

# These are the indices of the smallest and largest sizes in `training_sizes`.
FIRST_SIZE, LAST_SIZE = 0, -1
# Mean errors count as equal if they differ by at most this, fewer than two of the 86 test rows
# at n = 130.
EQUALITY_TOLERANCE = 0.02
# Each class needs this number of rows: the improper prior (BEEi) has no posterior with one row.
MIN_ROWS_PER_CLASS = 2


@dataclass(frozen=True)
class RealDataSet:
    """Real data set of an experiment, with the sizes of the training sets drawn from it.

    Training rows are drawn from the first `n_pool_rows` rows. If `has_fixed_split` is True, the
    rows after the pool are the test rows, otherwise all rows that were not drawn. `method_names`
    are the methods that choose a penalty of the logistic path. If `choices_diverge` is True, the
    document says that on this set the choices diverge from the best rule as the number of training
    rows grows.
    """

    name: str
    training_sizes: tuple[int, ...]
    n_pool_rows: int
    has_fixed_split: bool = False
    method_names: tuple[str, ...] = METHOD_NAMES
    scales_svm_features: bool = True
    choices_diverge: bool = False

    @property
    def learners(self) -> Learners:
        """Two families of candidates with their methods: logistic regressions and SVMs.

        Logistic regressions differ in the penalty, SVMs in the cost.
        """
        path_methods, cost_methods = (
            methods_by_name(method_names, standardize=True)
            for method_names in (self.method_names, SVM_METHOD_NAMES)
        )
        return {
            f"{self.name} LR": (l1_logistic(), path_methods),
            f"{self.name} SVM": (linear_svms(scaled=self.scales_svm_features), cost_methods),
        }

    def replicate(self, seed: int, replicate_number: int) -> Draws:
        """Draw a training set of every size, and return the errors of all choices on each."""
        X, y = _load_rows(self.name)

        def draw_training_set(n_training_rows: int) -> TrainingSet:
            train, test = self.split(
                replicate_rng(f"{self.name} {n_training_rows}", seed, replicate_number),
                n_training_rows,
            )

            def errors_on_test_rows(family: Family, rules: LinearRules) -> np.ndarray:
                # Test rows are scaled with the means and deviations of the training rows.
                rows = X[test]
                if family.is_piped:
                    rows = clone(family.estimator[:-1]).fit(X[train]).transform(rows)
                return error_rates(rows, y[test], rules)

            return X[train], y[train], errors_on_test_rows

        return choices_by_size(
            self.training_sizes, self.learners, draw_training_set, replicate_number
        )

    def split(
        self, rng: np.random.Generator, n_training_rows: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw training rows (at least two of each class), and return training and test rows."""
        _, y = _load_rows(self.name)
        shuffled_rows = rng.permutation(self.n_pool_rows)
        rows_of_each_class = np.concatenate(
            [
                shuffled_rows[y[shuffled_rows] == class_code][:MIN_ROWS_PER_CLASS]
                for class_code in np.unique(y)
            ]
        )
        remaining_rows = shuffled_rows[~np.isin(shuffled_rows, rows_of_each_class)]
        train = np.sort(
            np.concatenate([rows_of_each_class, remaining_rows])[
                : max(n_training_rows, len(rows_of_each_class))
            ]
        )
        return train, np.setdiff1d(
            np.arange(self.n_pool_rows if self.has_fixed_split else 0, len(y)), train
        )

    def tables_and_panels(self, draws: Draws) -> FindingParts:
        """Yield tables and panels of the mean test errors by size, for both learners."""
        for label, (_, methods) in self.learners.items():
            errors, title = (
                select_learner_values(draws, label, (*methods, ORACLE)),
                ", ".join(label.split()),
            )
            yield mean_grid(
                errors, self.training_sizes, f"{title}: mean test error of the chosen rule"
            )
            if len(self.training_sizes) > 1:
                yield panel_by_training_rows(title, "error", self.training_sizes, errors)
                # Errors are compared with the oracle's on the same training set. The plotted bands
                # therefore exclude the variance that training sets add to all errors alike.
                excess_errors = {name: errors[name] - errors[ORACLE] for name in methods}
                yield panel_by_training_rows(
                    f"{title}: beyond the oracle", "difference", self.training_sizes, excess_errors
                )
        yield f"{self.name}: {convergence_note(draws[f'{self.name} LR {NOT_CONVERGED}'])}"

    def divergence_statement(self, draws: Draws, label: str) -> Statement:
        """Return the statement that more training rows make choices diverge from the best rule."""
        size_difference_text = (
            f"n = {self.training_sizes[LAST_SIZE]} − {self.training_sizes[FIRST_SIZE]}"
        )
        errors = select_learner_values(draws, label, ("BEEp", "CV-5", ORACLE))
        excess_errors = {name: errors[name] - errors[ORACLE] for name in ("BEEp", "CV-5")}
        return Statement.from_quantities(
            f"{label}: the difference between the optimal model and the selected one "
            "increases with the training rows",
            {
                f"{name}: {size_difference_text}": excess[:, LAST_SIZE] - excess[:, FIRST_SIZE]
                for name, excess in excess_errors.items()
            },
        )


@dataclass(frozen=True)
class RealDataFigure:
    """Figure of document 002: test errors of all methods on several real data sets.

    `claims` are the document's statements as comparisons of errors, `equalities` are its statements
    that two methods choose equally well, and `notes` are paragraphs of the report.
    """

    name: str
    title: str
    data_sets: tuple[RealDataSet, ...]
    claims: tuple[ErrorComparison, ...]
    notes: str
    replicates: int
    unit: str = REPLICATE_UNIT
    equalities: tuple[ErrorComparison, ...] = ()

    def check(self) -> None:
        """Load all data sets; raise BadData if the files of one are missing."""
        for real_set in self.data_sets:
            _load_rows(real_set.name)

    def replicate(self, seed: int, replicate_number: int) -> Draws:
        """Draw training sets of every data set and size, and return the errors of all choices."""
        draws_of_sets = (real_set.replicate(seed, replicate_number) for real_set in self.data_sets)
        return {name: errors for draws in draws_of_sets for name, errors in draws.items()}

    def findings(self, draws: Draws) -> Findings:
        """Return tables and panels for each set and learner, the claims, and convergence notes."""
        training_sizes = {real_set.name: real_set.training_sizes for real_set in self.data_sets}
        finding_parts = chain(
            *(real_set.tables_and_panels(draws) for real_set in self.data_sets),
            *(
                compare_choices(draws, training_sizes[claim[0].split()[0]], claim)
                for claim in self.claims
            ),
            (
                _equality_statement(draws, training_sizes[claim[0].split()[0]], claim)
                for claim in self.equalities
            ),
            (
                real_set.divergence_statement(draws, learner)
                for real_set in self.data_sets
                if real_set.choices_diverge
                for learner in real_set.learners
            ),
        )
        return Findings.from_parts(self.name, split_paragraphs(self.notes.strip()), finding_parts)

    @property
    def with_all_sizes(self) -> RealDataFigure:
        """The same figure with all nineteen training-set sizes of the document: 10 %, 15 %, ..."""
        # Without fixed test rows, a training set of 100 % would leave no rows for testing.
        percentages = {True: range(10, 101, 5), False: range(10, 100, 5)}
        sets = (
            replace(
                real_set,
                training_sizes=tuple(
                    round(real_set.n_pool_rows * percentage / 100)
                    for percentage in percentages[real_set.has_fixed_split]
                ),
            )
            for real_set in self.data_sets
        )
        # Equality is judged at the sizes of the usual figure only.
        return replace(self, name=f"{self.name}-full", data_sets=tuple(sets), equalities=())

    def to_experiment(self, full: Experiment | None = None) -> Experiment:
        """Return the experiment of this figure, which `reproduce` runs by its name."""
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


def _equality_statement(
    draws: Draws, training_sizes: Sequence[int], claim: ErrorComparison
) -> Statement:
    """Return the statement that two methods choose rules of equal error at the given sizes."""
    learner, method, other_method, *size_indices = claim
    differences = draws[f"{learner} {method}"] - draws[f"{learner} {other_method}"]
    return Statement.from_quantities(
        f"{learner}: {method} is equal to {other_method} at n = "
        f"{', '.join(str(training_sizes[j]) for j in size_indices)}: within {EQUALITY_TOLERANCE}",
        {f"difference, n = {training_sizes[j]}": differences[:, j] for j in size_indices},
        claim=Claim("near", 0.0, EQUALITY_TOLERANCE),
    )


@lru_cache(maxsize=4)
def _load_rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    bundle = load(name)
    return bundle.X, bundle.y


# ------------------------------------------------------- Figures 2 and 3: the data sets and claims

# This method chooses the penalty for ovarian cancer, as in the document.
REPEATED_CV = "100×CV-5"
NO_NUMBERS_NOTE = "the document draws curves and prints no numbers."

BEE_FIGURE_2 = RealDataFigure(
    name="bee-figure-2",
    title="Figure 2: two classes, real data",
    data_sets=(
        RealDataSet(
            "ovarian",
            (22, 43, 86, 130),
            216,
            method_names=(*METHOD_NAMES[:2], REPEATED_CV, *METHOD_NAMES[2:]),
        ),
        RealDataSet(
            "a1a", (160, 400, 800, 1605), 1605, has_fixed_split=True, scales_svm_features=False
        ),
    ),
    claims=(
        ("ovarian LR", "BEEp", "CV-5", FIRST_SIZE, LAST_SIZE),
        ("ovarian SVM", "BEEp", "CV-5", FIRST_SIZE),
        ("ovarian LR", "BEEp", REPEATED_CV, FIRST_SIZE),
        ("ovarian LR", REPEATED_CV, "CV-5", LAST_SIZE),
        ("ovarian SVM", "BEEp", "BEEi", LAST_SIZE),
        ("a1a LR", "CV-5", "BEEp", FIRST_SIZE),
        ("a1a LR", "BEEp", "CV-5", LAST_SIZE),
        ("a1a SVM", "BEEp", "CV-5", FIRST_SIZE, LAST_SIZE),
    ),
    equalities=(
        ("ovarian LR", REPEATED_CV, "BEEp", LAST_SIZE),
        ("ovarian LR", REPEATED_CV, "BEEi", LAST_SIZE),
        ("ovarian LR", "BEEi", "BEEp", FIRST_SIZE, 1, 2, LAST_SIZE),
    ),
    replicates=25,
    notes=f"""
        {NO_NUMBERS_NOTE} Its MEG data could not be had.

        ovarian has 4000 of the document's 15,000 features, and is another version of the data; the
        rows that are not drawn are tested, so training and test sets overlap from one replicate to
        the next: standard errors hold for these 216 spectra.

        repeated cross-validation draws 100 times 5 folds, as in the document. At n = 1605
        Adult has one training set, and replicates differ in their folds alone.

        Bayesian estimates are of standardised features. Machines get the spectra standardised in
        each training set, and Adult's indicators as they are. The document says neither.
    """,
)
bee_figure_2 = BEE_FIGURE_2.to_experiment(full=BEE_FIGURE_2.with_all_sizes.to_experiment())

BEE_FIGURE_3 = RealDataFigure(
    name="bee-figure-3",
    title="Figure 3: several classes, real data",
    data_sets=(
        RealDataSet("yeast", (148, 297, 594, 1113), 1484, choices_diverge=True),
        RealDataSet("satellite", (222, 443, 1109, 2218), 4435, has_fixed_split=True),
    ),
    claims=(
        ("yeast LR", "BEEp", "CV-5", FIRST_SIZE),
        ("yeast LR", "BEEi", "CV-5", FIRST_SIZE),
        ("yeast SVM", "BEEp", "CV-5", FIRST_SIZE),
        ("yeast SVM", "BEEi", "CV-5", FIRST_SIZE),
        ("yeast LR", "BEEp", "CV-5", LAST_SIZE),
        ("yeast SVM", "BEEp", "CV-5", LAST_SIZE),
        ("yeast SVM", "BEEp", "BEEi", FIRST_SIZE),
        ("satellite LR", "BEEp", "CV-5", FIRST_SIZE),
        ("satellite SVM", "BEEp", "CV-5", FIRST_SIZE),
        ("satellite LR", "CV-5", "BEEi", LAST_SIZE),
        ("satellite SVM", "CV-5", "BEEi", LAST_SIZE),
        ("satellite LR", "CV-5", "BEEp", LAST_SIZE),
        ("satellite SVM", "CV-5", "BEEp", LAST_SIZE),
    ),
    replicates=20,
    notes=f"""
        {NO_NUMBERS_NOTE} Its MEG data could not be had.

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
bee_figure_3 = BEE_FIGURE_3.to_experiment(full=BEE_FIGURE_3.with_all_sizes.to_experiment())

BEE_FIGURE_3_END = RealDataFigure(
    name="bee-figure-3-end",
    title="Figure 3: all training rows of Satellite",
    data_sets=(
        RealDataSet(
            "satellite", (4435,), 4435, has_fixed_split=True, method_names=SVM_METHOD_NAMES
        ),
    ),
    claims=(
        ("satellite LR", "CV-5", "BEEp", LAST_SIZE),
        ("satellite SVM", "CV-5", "BEEp", LAST_SIZE),
        ("satellite LR", "CV-5", "BEEi", LAST_SIZE),
        ("satellite SVM", "CV-5", "BEEi", LAST_SIZE),
    ),
    notes=f"""
        {NO_NUMBERS_NOTE}

        there is one training set and one test set of 2000 rows: standard errors are over draws of
        the folds, and say nothing about other rows. The document's last point is made so, too.

        features are standardised in the training set. The document does not say whether.
    """,
    replicates=12,
    unit="draws of the folds",
)
bee_figure_3_end = BEE_FIGURE_3_END.to_experiment()
