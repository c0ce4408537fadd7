"""Parts of document 002's experiments: the choices of each method, and reports on them.

The synthetic data follow Tables 2 and 3 of the document, which does not publish its generator: two
normal classes with a common covariance that is not diagonal, 14 informative features, and a Bayes
error of .023 = Φ(−2). Ours are those of `make_sparse_gaussian`.

A family of linear rules is fitted once at all its penalties, and each rule has a true or a test
error. Each method chooses one of them. The stored results are the error of its choice, the smallest
error, the estimate by which it was chosen, and its number of features. Reports show these by size,
the number of training rows: a quantity of the draws has the shape `(replicate, size)`.
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
from truerisk.experiments.experiment import SMALLEST, Draws, answered, evaluated, stream, terms_of
from truerisk.experiments.figures import MeansGrid, Panel, PaperTable, Series, mean_lines, printed
from truerisk.experiments.statements import BELOW, Quantity, Statement
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
SIZES = (28, 50, 100, 200)  # sizes of the synthetic training sets
BAYES = 0.023
OF_ANOTHER_GENERATOR = (
    "the generator of the document is not published; this one has its dimensions and its Bayes "
    f"error, {BAYES}. Levels are not comparable; the signs of the differences are."
)
NAMES = ("CV-5", "CV-10", "BEEp", "BEEi", "EBIC")
OF_MACHINES = ("CV-5", "BEEp", "BEEi")
ORACLE = "oracle"
TIE = 1e-10  # Scores of LogisticPath that differ by less are considered equal.
SHORT = "stopped short"

# These are a training set, and a function that returns the errors of a family's rules on it.
Drawn = tuple[np.ndarray, np.ndarray, Callable[[Family, LinearRules], np.ndarray]]
Learners = Mapping[str, tuple[Family, Mapping[str, Method]]]


@lru_cache
def _classes(n_noise: int) -> tuple[GaussianProblem, list[tuple[np.ndarray, np.ndarray]]]:
    """Return the problem, and the mean and the Cholesky factor of the covariance of each class."""
    problem = sparse_gaussian(n_noise)
    laws = zip(np.array(problem.means), np.array(problem.covariances), strict=True)
    return problem, [(mean, np.linalg.cholesky(covariance)) for mean, covariance in laws]


def draw(rng: np.random.Generator, n_rows: int, n_noise: int = 6) -> Drawn:
    """Draw half of the rows from each class, with 14 informative and `n_noise` other features."""
    problem, laws = _classes(n_noise)
    X = rng.standard_normal((n_rows, problem.n_features))
    for label, (mean, root) in enumerate(laws):
        X[label::2] = mean + X[label::2] @ root.T
    y = np.arange(n_rows) % 2
    return X, y, lambda _, rules: problem.true_risks_linear(*rules.between(0, 1))


def synthetic(seed: int, number: int, n_rows: int, n_noise: int = 6) -> Drawn:
    """Draw a training set of Table 2; those of Table 3 and of the priors are among them."""
    name = f"bee-synthetic {n_rows}" + (f" {n_noise}" if n_noise != 6 else "")
    return draw(stream(name, seed, number), n_rows, n_noise)


def logistic() -> Family:
    """Return L1 logistic regression at the document's 36 penalties, in standard units."""
    return Family.from_grid(LogisticPath(lambdas=LAMBDAS), {"at": list(range(len(LAMBDAS)))})


def machines(*, scaled: bool = False) -> Family:
    """Return linear support vector machines at 13 costs, on scaled or unscaled features.

    Features are scaled in each training set. The document does not report the costs that it tries.
    """
    machine = SVC(kernel="linear")
    if not scaled:
        return Family.from_grid(machine, {"C": list(COSTS)})
    return Family.from_grid(make_pipeline(StandardScaler(), machine), {"svc__C": list(COSTS)})


def methods_named(names: Iterable[str], *, standardize: bool = False) -> dict[str, Method]:
    """Return methods by their names: "CV-5", "100×CV-5", "LOO", "EBIC", "BEEp", "BEEi"."""
    every: dict[str, Method] = {
        "BEEp": BayesianError("proper", standardize=standardize),
        "BEEi": BayesianError("improper", standardize=standardize),
        "EBIC": EBIC(),
        "LOO": LeaveOneOut(),
    }

    def folds(name: str) -> Method:
        repeats, _, label = name.rpartition("×")
        return KFold(int(label.removeprefix("CV-")), repeats=int(repeats or 1))

    return {name: every.get(name) or folds(name) for name in names}


@dataclass(frozen=True, eq=False)
class Trained:
    """A family fitted to all rows of a training set, with the error of every candidate's rule."""

    family: Family
    data: Data
    answers: Answers
    errors: np.ndarray
    n_features: np.ndarray  # number of features with a nonzero coefficient

    @classmethod
    def from_family(cls, family: Family, drawn: Drawn) -> Trained:
        """Fit all rules at once and compute their errors."""
        X, y, errors_of = drawn
        data = Data.check(X, y, task="classification")
        # The plan has one fit, whose rules are requested.
        plan = BayesianError().plan(data, Streams(0))
        answers = answered(family, data, ZeroOne(), plan)
        errors, n_features = np.full((2, len(family)), np.nan)
        for rules in getattr(answers.extra, "rules", None) or ():
            errors[rules.candidates] = errors_of(family, rules)
            n_features[rules.candidates] = rules.coefficients.any(axis=1).sum(axis=1)
        return cls(family, data, answers, errors, n_features)

    def tested(self, method: Method, seed: int = 0, rule: Rule = SMALLEST) -> Sequence[Tested]:
        """Return a method's estimates of all rules; Bayesian ones need no further fit."""
        loss = method.loss_of(self.data, ZeroOne(), requested=False)
        if isinstance(method, BayesianError):
            return method.reduce(self.answers, self.data, loss, terms_of(self.family, rule))
        return evaluated(method, self.family, self.data, loss, seed, rule=rule).tested

    def choice(
        self, method: Method, seed: int = 0, rule: Rule = SMALLEST
    ) -> tuple[float, float, float]:
        """Return a method's estimate of its choice, the true error, and its number of features."""
        tested = self.tested(method, seed, rule)
        chosen = chosen_candidate(tested, terms_of(self.family, rule))
        return tested[chosen].value, float(self.errors[chosen]), float(self.n_features[chosen])


def choices_by_size(
    sizes: Sequence[int],
    learners: Learners,
    training_set: Callable[[int], Drawn],
    number: int,
    rule: Rule = SMALLEST,
) -> dict[str, np.ndarray]:
    """Return the error of each method's choice at every size, with the learner's name in front.

    The result also holds its estimate and number of features, the smallest error of all rules, and
    whether a path stopped early.
    """
    values: dict[str, list[float]] = defaultdict(list)
    for size in sizes:
        drawn = training_set(size)
        for label, (family, methods) in learners.items():
            with unconverged() as short:
                trained = Trained.from_family(family, drawn)
                for name, method in methods.items():
                    found = trained.choice(method, number, rule)
                    for what, value in zip(("estimate", "", "features"), found, strict=True):
                        values[f"{label} {name} {what}".strip()].append(value)
            values[f"{label} {ORACLE}"].append(float(trained.errors.min()))
            values[f"{label} {SHORT}"].append(float(short))
    return {name: np.array(of) for name, of in values.items()}


def errors_on(X: np.ndarray, codes: np.ndarray, rules: LinearRules) -> np.ndarray:
    """Return the share of wrong labels among given rows, for every rule.

    The label is the class with the largest score, or with the most pairs, and the first one of
    ties.
    """
    columns = rules.used
    rules, X = rules.cut(columns), X[:, columns]
    votes = np.zeros((len(rules.candidates), len(X), len(rules.codes)), dtype=np.int8)
    for first, second in combinations(range(len(rules.codes)), 2):
        slopes, starts = rules.between(rules.codes[first], rules.codes[second])
        of_second = slopes @ X.T + starts[:, None] > (0.0 if rules.pairs else TIE)
        votes[..., second] += of_second
        votes[..., first] += ~of_second
    return np.asarray((np.array(rules.codes)[votes.argmax(axis=-1)] != codes).mean(axis=1))


@contextmanager
def unconverged() -> Iterator[np.ndarray]:
    """Record whether fits warn of non-convergence (1 or 0), without warnings of rare classes.

    An experiment counts them in its findings, because a worker process would hide them. In threads
    other than the main one warnings are not intercepted, and the result is NaN: unknown.
    """
    # Only the filters of the main thread are restored.
    if threading.current_thread() is not threading.main_thread():
        yield np.array(np.nan)
        return
    short = np.array(0.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield short
    for caught_warning in caught:
        if issubclass(caught_warning.category, ConvergenceWarning):
            short[...] = 1
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


# ---------------------------------------------------------------- reports

PERMUTATIONS = 10_000
SPLIT_UNIT = "training sets of each size"
STYLES = {
    "CV-5": "b--",
    "CV-10": "c--",
    "BEEp": "r--",
    "BEEi": "r-",
    "EBIC": "m:",
    "oracle": "g-",
}  # styles of the document, if it has them


def size_tables(
    draws: Draws,
    sizes: Sequence[int],
    known: Mapping[str, Sequence[float]],
    n_known: int,
    foot: str = "",
) -> Iterator[PaperTable]:
    """Yield a table per size that compares with an earlier run of `n_known` training sets."""
    for place, n in enumerate(sizes):
        values = {name: of[:, place] for name, of in draws.items()}
        reference = {
            name: (of[place], printed(values[name], n_known, 3)) for name, of in known.items()
        }
        title = f"n = {n}{foot}"
        yield PaperTable.from_values(title, f"{n_known} sets of this recipe", values, reference)


def table_with_paper(
    draws: Draws, sizes: Sequence[int], paper: Mapping[str, Sequence[str]]
) -> PaperTable:
    """Return a table that states the document's numbers in its names only.

    They come from another generator, so they cannot be compared with these values.
    """
    values = {
        f"{name}, n = {n} (document: {number})": draws[name][:, j]
        for name, every in paper.items()
        for j, (n, number) in enumerate(zip(sizes, every, strict=True))
        if number
    }
    return PaperTable.from_values("beside the document", "not comparable", values)


def under(draws: Draws, label: str, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Return the errors of a learner's choices by method, without the learner's name."""
    return {name: draws[f"{label} {name}"] for name in names}


def mean_grid(values: Draws, sizes: Sequence[int], title: str) -> MeansGrid:
    """Return a table of means with a row per name and a column per size."""
    rows = {name: of.T for name, of in values.items()}
    return MeansGrid.from_values(title, (f"n = {n}" for n in sizes), rows)


def by_size(name: str, values: np.ndarray, sizes: Sequence[int]) -> dict[str, np.ndarray]:
    """Split a quantity into one per size."""
    return {f"{name}, n = {n}": of for n, of in zip(sizes, values.T, strict=True)}


# The entries are a learner, the choice with the smaller error, the other one, and indices of sizes.
Less = tuple[str, str, str, *tuple[int, ...]]


def compare_choices(
    draws: Draws, sizes: Sequence[int], *claims: Less, foot: str = ""
) -> Iterator[Statement]:
    """Yield statements that one choice has a smaller error than another at some sizes.

    The choices are paired by training set. The one-sided p-value of a paired permutation test, as
    in the document, is added.
    """
    for learner, lower, higher, *places in claims:
        low, high = (draws[f"{learner} {name}".strip()] for name in (lower, higher))
        head = f"{learner}: " if learner else ""
        for place in places:
            gaps = (high - low)[:, place]
            yield Statement.from_quantities(
                f"{head}{lower} lies below {higher} at n = {sizes[place]}{foot}",
                Quantity.mean(f"{higher} − {lower}", gaps),
                remark=f"paired permutation test, one-sided: p = {permutation_p(gaps):.4f}",
            )


def spread_gaps(
    draws: Draws, sizes: Sequence[int], text: str, name: str, *others: str
) -> Iterator[Quantity]:
    """Yield, by size, the standard deviation of a choice's errors minus the smallest of others'."""

    def gap(every: np.ndarray) -> float:
        first, *rest = every.std(axis=0, ddof=1)
        return float(first - min(rest))

    every = np.stack([draws[one] for one in (name, *others)], axis=1)
    for j, n in enumerate(sizes):
        yield Quantity.from_statistic(f"{text}, n = {n}", gap, every[:, :, j], BELOW)


def permutation_p(gaps: np.ndarray) -> float:
    """Return the one-sided p-value: how often random signs give at least this mean difference."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(PERMUTATIONS, len(gaps)))
    at_least = (signs @ gaps >= gaps.sum() - 1e-12).sum()
    return float((at_least + 1) / (PERMUTATIONS + 1))


def along_rows(
    title: str,
    label: str,
    sizes: Sequence[int],
    values: Draws,
    styles: Mapping[str, str] = STYLES,
) -> Panel:
    """Draw means over the number of training rows."""
    lines = mean_lines(np.array(sizes), values, (styles.get(name, "k-") for name in values))
    return Panel(title, "training rows", label, lines)


def shaded(
    ours: Draws, paper: Mapping[str, Sequence[str]], sizes: Sequence[int], title: str
) -> Iterator[Panel]:
    """Yield heat maps of our mean errors and of the printed ones.

    There is a row per choice and a column per size. What is not legible in the document is NaN.
    """
    means = {name: ours[name].mean(axis=0) for name in paper}
    theirs = {n: [float(of.split()[0] if of else "nan") for of in row] for n, row in paper.items()}
    places, columns = np.arange(len(sizes)), tuple(f"n = {n}" for n in sizes)
    for text, values in ((title, means), (f"{title}, the document's", theirs)):
        rows = tuple(Series(name, places, np.array(of)) for name, of in values.items())
        yield Panel(text, "", "mean error", rows, "shades", columns)


def convergence_note(short: np.ndarray) -> str:
    """Return a note on the number of runs in which a path stopped early at some penalty."""
    unknown, n_short = np.count_nonzero(np.isnan(short)), np.nansum(short)
    if unknown:
        return (
            f"NOT KNOWN of {unknown} of {short.size} runs whether a path stopped short: they were "
            f"drawn in threads, where warnings are not heard. Of the others {n_short:g} have one "
            "that did."
        )
    if not n_short:
        return f"every path converged at every penalty, in all folds of {short.size} runs."
    return (
        f"NOT CONVERGED: in {n_short:g} of {short.size} runs a path stopped short at "
        "some penalty, in a fold or on all rows; its errors are those of where it stopped."
    )
