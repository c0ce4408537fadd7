"""Shared code of the experiments of Huttunen and Tohka (2015), which is called document 002.

The functions compute the choices of each method, and report on them.

The synthetic data follow Tables 2 and 3 of the document, which does not publish its generator: two
normal classes with a common covariance that is not diagonal, 14 informative features, and a Bayes
error of .023 = Φ(−2). Ours are those of `make_sparse_gaussian`.

A family of linear rules is fitted once at all its penalties, and for each rule its true error or
its error on test rows is computed. Each method chooses one rule. The stored results are the error
of the chosen rule, the smallest error of all rules, the estimate by which the rule was chosen, and
its number of features. Reports show these by size (the number of training rows): each quantity has
the shape `(replicate, size)`.
"""

from __future__ import annotations

import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from truerisk.datasets import GaussianProblem, sparse_gaussian
from truerisk.experiments.experiment import (
    MINIMUM_RULE,
    Draws,
    evaluate_method,
    evaluation_terms,
    predict_plan,
    replicate_rng,
)
from truerisk.experiments.figures import (
    MeansGrid,
    Panel,
    PaperTable,
    Series,
    mean_lines,
    std_error_of_printed_mean,
)
from truerisk.experiments.statements import BELOW_ZERO, Quantity, Statement
from truerisk.extend import (
    Answers,
    Data,
    Family,
    LinearRules,
    Method,
    Rule,
    Streams,
    Tested,
    TrueRiskWarning,
    chosen_candidate,
)
from truerisk.losses import ZeroOne
from truerisk.methods import EBIC, BayesianError, KFold, LeaveOneOut
from truerisk.models import LogisticPath

LAMBDAS = tuple(float(x) for x in 10 ** (-0.1 * np.arange(5, 41)))
COSTS = tuple(float(x) for x in 10 ** np.arange(-4, 2.1, 0.5))
# These are the numbers of training rows in the synthetic experiments.
TRAINING_SIZES = (28, 50, 100, 200)
BAYES_ERROR = 0.023
GENERATOR_NOTE = (
    "the generator of the document is not published; this one has its dimensions and its Bayes "
    f"error, {BAYES_ERROR}. Levels are not comparable; the signs of the differences are."
)
METHOD_NAMES = ("CV-5", "CV-10", "BEEp", "BEEi", "EBIC")
SVM_METHOD_NAMES = ("CV-5", "BEEp", "BEEi")
ORACLE = "oracle"
# Scores of LogisticPath that differ by less than this are considered equal.
SCORE_TIE_TOLERANCE = 1e-10
NOT_CONVERGED = "stopped short"

# Features X, labels y, and a function that returns the true or test error of each linear rule.
TrainingSet = tuple[np.ndarray, np.ndarray, Callable[[Family, LinearRules], np.ndarray]]
Learners = Mapping[str, tuple[Family, Mapping[str, Method]]]


@lru_cache
def _problem_and_class_parameters(
    n_noise: int,
) -> tuple[GaussianProblem, list[tuple[np.ndarray, np.ndarray]]]:
    """Return the problem, and for each class the mean and the Cholesky factor of the covariance."""
    problem = sparse_gaussian(n_noise)
    means_and_covariances = zip(np.array(problem.means), np.array(problem.covariances), strict=True)
    return problem, [
        (mean, np.linalg.cholesky(covariance)) for mean, covariance in means_and_covariances
    ]


def draw_sparse_gaussian(rng: np.random.Generator, n_rows: int, n_noise: int = 6) -> TrainingSet:
    """Draw a training set of two equally large classes, with 14 informative features and noise."""
    problem, class_parameters = _problem_and_class_parameters(n_noise)
    X = rng.standard_normal((n_rows, problem.n_features))
    for label, (mean, cholesky_factor) in enumerate(class_parameters):
        X[label::2] = mean + X[label::2] @ cholesky_factor.T
    y = np.arange(n_rows) % 2
    return X, y, lambda _, rules: problem.true_risks_linear(*rules.between(0, 1))


def draw_synthetic_set(
    seed: int, replicate_number: int, n_rows: int, n_noise: int = 6
) -> TrainingSet:
    """Draw one training set of Table 2; Table 3 and the experiment on priors use the same sets."""
    name = f"bee-synthetic {n_rows}" + (f" {n_noise}" if n_noise != 6 else "")
    return draw_sparse_gaussian(replicate_rng(name, seed, replicate_number), n_rows, n_noise)


def l1_logistic() -> Family:
    """Return L1 logistic regression with the document's 36 penalties, on standardised columns."""
    return Family.from_grid(LogisticPath(lambdas=LAMBDAS), {"at": list(range(len(LAMBDAS)))})


def linear_svms(*, scaled: bool = False) -> Family:
    """Return linear support vector machines at 13 costs C, on scaled or unscaled features.

    Scaling is part of each fit. The document does not report the costs that it tries.
    """
    svm = SVC(kernel="linear")
    if not scaled:
        return Family.from_grid(svm, {"C": list(COSTS)})
    return Family.from_grid(make_pipeline(StandardScaler(), svm), {"svc__C": list(COSTS)})


def methods_by_name(names: Iterable[str], *, standardize: bool = False) -> dict[str, Method]:
    """Return methods by name: "CV-5", "100×CV-5" (repeated), "LOO", "EBIC", "BEEp" or "BEEi"."""
    fixed_methods: dict[str, Method] = {
        "BEEp": BayesianError("proper", standardize=standardize),
        "BEEi": BayesianError("improper", standardize=standardize),
        "EBIC": EBIC(),
        "LOO": LeaveOneOut(),
    }

    def cross_validation(name: str) -> Method:
        repeats, _, fold_label = name.rpartition("×")
        return KFold(int(fold_label.removeprefix("CV-")), repeats=int(repeats or 1))

    return {name: fixed_methods.get(name) or cross_validation(name) for name in names}


@dataclass(frozen=True, eq=False)
class TrainedFamily:
    """Candidates fitted to one training set, with the true or test error of each."""

    family: Family
    data: Data
    answers: Answers
    errors: np.ndarray
    # For each candidate, the number of features with a nonzero coefficient.
    n_features: np.ndarray

    @classmethod
    def from_family(cls, family: Family, training_set: TrainingSet) -> TrainedFamily:
        """Fit all candidates to the training set at once and compute their errors."""
        X, y, error_function = training_set
        data = Data.check(X, y, task="classification")
        # This plan has one fit on all rows, and requests the linear rules of the candidates.
        plan = BayesianError().plan(data, Streams(0))
        predictions = predict_plan(family, data, ZeroOne(), plan)
        errors, n_features = np.full((2, len(family)), np.nan)
        for rules in getattr(predictions.extra, "rules", None) or ():
            errors[rules.candidates] = error_function(family, rules)
            n_features[rules.candidates] = rules.coefficients.any(axis=1).sum(axis=1)
        return cls(family, data, predictions, errors, n_features)

    def estimate_risks(
        self, method: Method, seed: int = 0, rule: Rule = MINIMUM_RULE
    ) -> Sequence[Tested]:
        """Return a method's risk estimate of each candidate; Bayesian methods refit none."""
        loss = method.loss_of(self.data, ZeroOne(), requested=False)
        if isinstance(method, BayesianError):
            return method.reduce(self.answers, self.data, loss, evaluation_terms(self.family, rule))
        return evaluate_method(method, self.family, self.data, loss, seed, rule=rule).tested

    def evaluate_choice(
        self, method: Method, seed: int = 0, rule: Rule = MINIMUM_RULE
    ) -> tuple[float, float, float]:
        """Return estimate, true error and number of features of the rule that a method chooses."""
        estimates = self.estimate_risks(method, seed, rule)
        chosen_index = chosen_candidate(estimates, evaluation_terms(self.family, rule))
        return (
            estimates[chosen_index].value,
            float(self.errors[chosen_index]),
            float(self.n_features[chosen_index]),
        )


def choices_by_size(
    training_sizes: Sequence[int],
    learners: Learners,
    draw_training_set: Callable[[int], TrainingSet],
    replicate_number: int,
    rule: Rule = MINIMUM_RULE,
) -> dict[str, np.ndarray]:
    """Return, by training-set size, the error of the rule that each method chooses per learner.

    The result also holds the estimates and the numbers of features of the chosen rules, the
    smallest error of all rules, and an indicator of paths that did not converge.
    """
    values: dict[str, list[float]] = defaultdict(list)
    for n_training_rows in training_sizes:
        training_set = draw_training_set(n_training_rows)
        for label, (family, methods) in learners.items():
            with record_non_convergence() as nonconvergence_flag:
                trained_family = TrainedFamily.from_family(family, training_set)
                for name, method in methods.items():
                    choice = trained_family.evaluate_choice(method, replicate_number, rule)
                    for quantity, value in zip(("estimate", "", "features"), choice, strict=True):
                        values[f"{label} {name} {quantity}".strip()].append(value)
            values[f"{label} {ORACLE}"].append(float(trained_family.errors.min()))
            values[f"{label} {NOT_CONVERGED}"].append(float(nonconvergence_flag))
    return {name: np.array(values_by_size) for name, values_by_size in values.items()}


def error_rates(X: np.ndarray, class_codes: np.ndarray, rules: LinearRules) -> np.ndarray:
    """Return the share of misclassified rows, for every linear rule.

    The predicted label is the class with the largest score, or the class that wins most comparisons
    of pairs of classes. The first class wins ties.
    """
    columns = rules.used
    rules, X = rules.cut(columns), X[:, columns]
    votes = np.zeros((len(rules.candidates), len(X), len(rules.codes)), dtype=np.int8)
    for class_a, class_b in combinations(range(len(rules.codes)), 2):
        coefficients, intercepts = rules.between(rules.codes[class_a], rules.codes[class_b])
        prefers_b = coefficients @ X.T + intercepts[:, None] > (
            0.0 if rules.pairs else SCORE_TIE_TOLERANCE
        )
        votes[..., class_b] += prefers_b
        votes[..., class_a] += ~prefers_b
    return np.asarray((np.array(rules.codes)[votes.argmax(axis=-1)] != class_codes).mean(axis=1))


@contextmanager
def record_non_convergence() -> Iterator[np.ndarray]:
    """Record whether a fit in the `with` block warns that it did not converge.

    Yield an array, which is set to 1.0 at the end of the block if so, and otherwise to 0.0.
    Warnings of rare classes in folds are suppressed.

    An experiment counts the warnings in its findings, because a worker process would hide them. In
    threads other than the main one warnings are not intercepted, and the result is NaN: unknown.
    """
    # Warning filters are global, so only the main thread may change and restore them.
    if threading.current_thread() is not threading.main_thread():
        yield np.array(np.nan)
        return
    nonconvergence_flag = np.array(0.0)
    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always")
        yield nonconvergence_flag
    for caught_warning in caught_warnings:
        if issubclass(caught_warning.category, ConvergenceWarning):
            nonconvergence_flag[...] = 1
        elif not (
            issubclass(caught_warning.category, TrueRiskWarning)
            and "folds" in str(caught_warning.message)
        ):
            warnings.warn_explicit(
                caught_warning.message,
                caught_warning.category,
                caught_warning.filename,
                caught_warning.lineno,
            )


# ---------------------------------------------------------------- reports of the choices

N_PERMUTATIONS = 10_000
SIGNIFICANT_P = 0.01
MARKS_TEXT = (
    "Bold: significantly smaller than with CV-5; italic: significantly larger (p < "
    f"{SIGNIFICANT_P:g}, paired permutation test, one-sided; our errors only)."
)
REPLICATE_UNIT = "training sets of each size"
LINE_STYLES = {
    "CV-5": "b--",
    "CV-10": "c--",
    "BEEp": "r--",
    "BEEi": "r-",
    "EBIC": "m:",
    "oracle": "g-",
    # Methods that the document plots have the line styles of the document.
}


def size_tables(
    draws: Draws,
    training_sizes: Sequence[int],
    earlier_means: Mapping[str, Sequence[float]],
    n_earlier_sets: int,
    title_suffix: str = "",
) -> Iterator[PaperTable]:
    """Yield a table per training-set size that compares our mean errors with earlier ones.

    The earlier means are those of `n_earlier_sets` training sets of the same generator.
    """
    for size_index, n in enumerate(training_sizes):
        values = {name: quantity_values[:, size_index] for name, quantity_values in draws.items()}
        reference_values = {
            name: (
                quantity_values[size_index],
                std_error_of_printed_mean(values[name], n_earlier_sets, 3),
            )
            for name, quantity_values in earlier_means.items()
        }
        title = f"n = {n}{title_suffix}"
        yield PaperTable.from_values(
            title, f"{n_earlier_sets} sets of this recipe", values, reference_values
        )


def table_quoting_paper(
    draws: Draws, training_sizes: Sequence[int], printed_table: Mapping[str, Sequence[str]]
) -> PaperTable:
    """Return a table of our mean errors; its row names quote the numbers of the document.

    The document's numbers come from another generator, so the table does not compare them.
    """
    values = {
        f"{name}, n = {n} (document: {printed_number})": draws[name][:, j]
        for name, printed_numbers in printed_table.items()
        for j, (n, printed_number) in enumerate(zip(training_sizes, printed_numbers, strict=True))
        if printed_number
    }
    return PaperTable.from_values("beside the document", "not comparable", values)


def select_learner_values(draws: Draws, label: str, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Select the quantities of one learner, and remove the learner's name from their keys."""
    return {name: draws[f"{label} {name}"] for name in names}


def mean_grid(values: Draws, training_sizes: Sequence[int], title: str) -> MeansGrid:
    """Return a table of means with a row per quantity and a column per training-set size."""
    rows = {name: quantity_values.T for name, quantity_values in values.items()}
    return MeansGrid.from_values(title, (f"n = {n}" for n in training_sizes), rows)


def split_by_size(
    name: str, values: np.ndarray, training_sizes: Sequence[int]
) -> dict[str, np.ndarray]:
    """Split an array (replicate, size) into one array per training-set size."""
    return {
        f"{name}, n = {n}": size_values
        for n, size_values in zip(training_sizes, values.T, strict=True)
    }


# Learner, method with the smaller error, method with the larger error, and size indices.
ErrorComparison = tuple[str, str, str, *tuple[int, ...]]


def compare_choices(
    draws: Draws, training_sizes: Sequence[int], *claims: ErrorComparison, text_suffix: str = ""
) -> Iterator[Statement]:
    """Yield statements that one method chooses rules of smaller error than another method.

    There is one statement per claim and training-set size. The methods' chosen rules are paired by
    training set. Each statement adds the one-sided p-value of a paired permutation test, which the
    document uses, too.
    """
    for learner, lower_method, higher_method, *size_indices in claims:
        lower_errors, higher_errors = (
            draws[f"{learner} {name}".strip()] for name in (lower_method, higher_method)
        )
        prefix = f"{learner}: " if learner else ""
        for size_index in size_indices:
            differences = (higher_errors - lower_errors)[:, size_index]
            yield Statement.from_quantities(
                f"{prefix}{lower_method} lies below {higher_method} at n = "
                f"{training_sizes[size_index]}{text_suffix}",
                Quantity.mean(f"{higher_method} − {lower_method}", differences),
                remark=(
                    "paired permutation test, one-sided: p = "
                    f"{permutation_p_value(differences):.4f}"
                ),
            )


def std_differences(
    draws: Draws, training_sizes: Sequence[int], text: str, name: str, *other_choices: str
) -> Iterator[Quantity]:
    """Yield differences between standard deviations of errors, one per training-set size.

    Each is that of the choice `name` minus the smallest of the other choices.
    """

    def deviation_difference(errors_by_choice: np.ndarray) -> float:
        first_deviation, *other_deviations = errors_by_choice.std(axis=0, ddof=1)
        return float(first_deviation - min(other_deviations))

    errors_of_choices = np.stack([draws[choice] for choice in (name, *other_choices)], axis=1)
    for j, n in enumerate(training_sizes):
        yield Quantity.from_statistic(
            f"{text}, n = {n}", deviation_difference, errors_of_choices[:, :, j], BELOW_ZERO
        )


def permutation_p_value(differences: np.ndarray) -> float:
    """Return the one-sided permutation p-value of a mean difference (10,000 random signs)."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(N_PERMUTATIONS, len(differences)))
    n_sums_at_least_observed = (signs @ differences >= differences.sum() - 1e-12).sum()
    return float((n_sums_at_least_observed + 1) / (N_PERMUTATIONS + 1))


def panel_by_training_rows(
    title: str,
    label: str,
    training_sizes: Sequence[int],
    values: Draws,
    styles: Mapping[str, str] = LINE_STYLES,
    *,
    log: bool = False,
) -> Panel:
    """Return a panel with mean values over the number of training rows."""
    mean_curves = mean_lines(
        np.array(training_sizes), values, (styles.get(name, "k-") for name in values)
    )
    return Panel(title, "training rows", label, mean_curves, log=log)


def heat_maps(
    our_errors: Draws,
    printed_errors: Mapping[str, Sequence[str]],
    training_sizes: Sequence[int],
    title: str,
) -> Iterator[Panel]:
    """Yield two heat maps: our mean errors and the mean errors that the document prints.

    There is a row per choice and a column per size. Numbers that are not legible in the document
    are NaN. Our errors are marked as the document marks its own: bold if a choice by BEE has a
    significantly smaller error than CV-5, and italic if it has a significantly larger one.
    """
    our_means = {name: our_errors[name].mean(axis=0) for name in printed_errors}
    printed_means = {
        choice_name: [float(cell.split()[0] if cell else "nan") for cell in row]
        for choice_name, row in printed_errors.items()
    }
    size_positions, columns = (
        np.arange(len(training_sizes)),
        tuple(f"n = {choice_name}" for choice_name in training_sizes),
    )
    marked = tuple(_significance_marks(our_errors, name) for name in printed_errors)
    for text, mean_errors, marks, marks_text in (
        (title, our_means, marked, MARKS_TEXT),
        (f"{title}, the document's", printed_means, (), ""),
    ):
        rows = tuple(
            Series(name, size_positions, np.array(row)) for name, row in mean_errors.items()
        )
        yield Panel(
            text,
            "",
            "mean error",
            rows,
            "shades",
            columns,
            marked=marks,
            marks_text=marks_text,
        )


def _significance_marks(errors: Draws, name: str) -> str:
    """Return "+" for each size at which BEE has a smaller error than CV-5, "−" or " " if not."""
    cv_name = f"{name[:-4]}CV-5"
    if "BEE" not in name or cv_name not in errors:
        return " " * errors[name].shape[1]
    return "".join(
        "+"
        if permutation_p_value(differences) < SIGNIFICANT_P
        else "−"
        if permutation_p_value(-differences) < SIGNIFICANT_P
        else " "
        for differences in (errors[cv_name] - errors[name]).T
    )


def convergence_note(nonconvergence_flags: np.ndarray) -> str:
    """Return a note on the number of runs in which a path did not converge at some penalty."""
    n_unknown_runs, n_nonconverged_runs = (
        np.count_nonzero(np.isnan(nonconvergence_flags)),
        np.nansum(nonconvergence_flags),
    )
    if n_unknown_runs:
        return (
            f"NOT KNOWN of {n_unknown_runs} of {nonconvergence_flags.size} runs whether a path "
            "stopped short: they were drawn in threads, where warnings are not heard. Of the "
            f"others {n_nonconverged_runs:g} have one that did."
        )
    if not n_nonconverged_runs:
        return (
            "every path converged at every penalty, in all folds of "
            f"{nonconvergence_flags.size} runs."
        )
    return (
        f"NOT CONVERGED: in {n_nonconverged_runs:g} of {nonconvergence_flags.size} runs a path "
        "stopped "
        "short at some penalty, in a fold or on all rows; its errors are those of where it stopped."
    )
