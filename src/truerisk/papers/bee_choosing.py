"""One training set of document 002: which penalty each method chooses, and how its rule errs.

The synthetic data are in the manner of its Tables 2 and 3. The document does not publish its
generator: two normal classes with a common covariance that is not diagonal, 14 features that tell
them apart, a Bayes error of .023 = Φ(−2). Here: seven pairs of features, the first of each with a
difference of means, correlated .6 with the second, which has none; then independent noise. The
difference makes the distance of the classes 4.

A family of linear rules is fitted once at all its penalties; each rule has a true or a test error.
Each method chooses one of them, and what is kept is the error of its choice, beside the least; and
the estimate by which it was chosen, and its number of features.
"""

from __future__ import annotations

import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from truerisk.core.answers import Answers, LinearRules
from truerisk.core.contracts import Method, Rule
from truerisk.core.errors import TrueRiskWarning, warn
from truerisk.core.evaluation import Tested
from truerisk.core.family import Family
from truerisk.core.losses import ZeroOne
from truerisk.core.table.data import Data
from truerisk.datasets.problems import CORRELATION, GAP, PAIRS
from truerisk.engines.running.fit_warnings import kept_warnings
from truerisk.methods.bayesian_error import BayesianError, ruled_plan
from truerisk.methods.information_criteria import EBIC
from truerisk.methods.kfold import KFold, LeaveOneOut
from truerisk.methods.parts.procedure import by_rule
from truerisk.papers.experiment import SMALLEST, answered, evaluated, terms_of

LAMBDAS = tuple(float(x) for x in 10 ** (-0.1 * np.arange(5, 41)))
COSTS = tuple(float(x) for x in 10 ** np.arange(-4, 2.1, 0.5))
BAYES = 0.023
ORACLE = "oracle"
SHORT = "stopped short"

ErrorsOf = Callable[[LinearRules], np.ndarray]
# a training set, and how rules of a family err there
Drawn = tuple[np.ndarray, np.ndarray, Callable[[Family], ErrorsOf]]


def draw(rng: np.random.Generator, n_rows: int, n_noise: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Half of the rows of each class, 14 features and `n_noise` that tell nothing."""
    y = np.arange(n_rows) % 2
    X = rng.normal(size=(n_rows, 2 * PAIRS + n_noise))
    second = X[:, 1 : 2 * PAIRS : 2]
    first = X[:, 0 : 2 * PAIRS : 2]
    second[:] = CORRELATION * first + np.sqrt(1 - CORRELATION**2) * second
    first += np.where(y == 1, GAP / 2, -GAP / 2)[:, None]
    return X, y


def true_errors(slopes: np.ndarray, intercepts: np.ndarray) -> np.ndarray:
    """The error of rules `(rule, feature)` that say class 1 where the score is positive."""
    from scipy.special import ndtr

    first, second = slopes[:, 0 : 2 * PAIRS : 2], slopes[:, 1 : 2 * PAIRS : 2]
    spread = np.sqrt((slopes**2).sum(axis=1) + 2 * CORRELATION * (first * second).sum(axis=1))
    shift = GAP / 2 * first.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_0, of_1 = ndtr((intercepts - shift) / spread), ndtr(-(intercepts + shift) / spread)
    return np.where(spread > 0, (of_0 + of_1) / 2, 0.5)


def errors_of(rules: LinearRules) -> np.ndarray:
    """The true error of every rule between the two classes."""
    return true_errors(rules.coefficients[:, 0], rules.intercepts[:, 0])


def logistic() -> Family:
    """L1 logistic regression at the document's 36 penalties; penalised in standard units."""
    from truerisk.models.logistic_path import LogisticPath

    return Family.of(LogisticPath(lambdas=LAMBDAS), {"at": list(range(len(LAMBDAS)))})


def machines(*, scaled: bool = False) -> Family:
    """Linear support vector machines at 13 costs, on features scaled in each training set or not.

    The document does not say which costs it tries.
    """
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    machine = SVC(kernel="linear")
    if not scaled:
        return Family.of(machine, {"C": list(COSTS)})
    return Family.of(make_pipeline(StandardScaler(), machine), {"svc__C": list(COSTS)})


def methods_named(names: Iterable[str], *, standardize: bool = False) -> dict[str, Method]:
    """Methods by the document's names: "CV-5", "100×CV-5", "LOO", "EBIC", "BEEp", "BEEi"."""
    every: dict[str, Method] = {
        "BEEp": BayesianError("proper", standardize=standardize),
        "BEEi": BayesianError("improper", standardize=standardize),
        "EBIC": EBIC(),
        "LOO": LeaveOneOut(),
    }

    def folds(name: str) -> Method:
        repeats, _, word = name.rpartition("×")
        return KFold(int(word.removeprefix("CV-")), repeats=int(repeats or 1))

    return {name: every.get(name) or folds(name) for name in names}


@dataclass(frozen=True, eq=False)
class Trained:
    """A family fitted to all rows of a training set, and the error of every candidate's rule."""

    family: Family
    data: Data
    answers: Answers
    errors: np.ndarray
    n_features: np.ndarray  # with a coefficient

    @classmethod
    def of(cls, family: Family, X: np.ndarray, y: np.ndarray, errors_of: ErrorsOf) -> Trained:
        """One fit; `errors_of` gives the true error of each of its rules."""
        data = Data.check(X, y, task="classification")
        answers = answered(family, data, ZeroOne(), ruled_plan(data.n_rows))
        errors, n_features = np.full((2, len(family)), np.nan)
        for rules in answers.rules or ():
            errors[rules.candidates] = errors_of(rules)
            n_features[rules.candidates] = rules.coefficients.any(axis=1).sum(axis=1)
        return cls(family, data, answers, errors, n_features)

    def tested(self, method: Method, seed: int = 0, rule: Rule = SMALLEST) -> Sequence[Tested]:
        """What a method says of every rule; Bayesian estimates need no further fit."""
        loss = method.loss_of(self.data, ZeroOne(), asked=False)
        if isinstance(method, BayesianError):
            return method.reduce(self.answers, self.data, loss, terms_of(self.family, rule))
        return evaluated(method, self.family, self.data, loss, seed, rule=rule).tested

    def choice(
        self, method: Method, seed: int = 0, rule: Rule = SMALLEST
    ) -> tuple[float, float, float]:
        """What a method says of its choice, the error of that, and its number of features."""
        tested = self.tested(method, seed, rule)
        chosen = by_rule(tested, rule)
        return tested[chosen].value, float(self.errors[chosen]), float(self.n_features[chosen])


def choices_by_size(
    sizes: Sequence[int],
    learners: Mapping[str, tuple[Family, Mapping[str, Method]]],
    drawn: Callable[[int], Drawn],
    number: int,
    rule: Rule = SMALLEST,
) -> dict[str, np.ndarray]:
    """The error of each method's choice at every size, behind the word of the learner.

    Beside them stand its estimate and its number of features, the least error of all rules, and
    whether a path stopped short.
    """
    kept: dict[str, list[float]] = defaultdict(list)
    for size in sizes:
        X, y, errors_of = drawn(size)
        for word, (family, methods) in learners.items():
            with unconverged() as short:
                trained = Trained.of(family, X, y, errors_of(family))
                for name, method in methods.items():
                    found = trained.choice(method, number, rule)
                    for what, value in zip(("estimate", "", "features"), found, strict=True):
                        kept[f"{word} {name} {what}".strip()].append(value)
            kept[f"{word} {ORACLE}"].append(float(trained.errors.min()))
            kept[f"{word} {SHORT}"].append(float(short))
    return {name: np.array(of) for name, of in kept.items()}


def counted(X: np.ndarray, codes: np.ndarray) -> ErrorsOf:
    """The share of wrong labels among given rows, for every rule."""
    return lambda rules: (labels_of(rules, X) != codes).mean(axis=1)


def labels_of(rules: LinearRules, X: np.ndarray) -> np.ndarray:
    """Class codes (rule, row): the largest score, or the most pairs won, the first among equals."""
    from truerisk.models.logistic_places import codes_of_scores

    used = rules.used
    scores = np.tensordot(X[:, used], rules.coefficients[:, :, used], axes=(1, 2))
    scores = scores.transpose(1, 0, 2) + rules.intercepts[:, None]
    codes = np.array(rules.codes)
    if not rules.pairs or len(codes) == 2:
        return np.asarray(codes[codes_of_scores(scores)])
    votes = np.zeros((*scores.shape[:2], len(codes)), dtype=np.int8)
    for place, (first, second) in enumerate(combinations(range(len(codes)), 2)):
        votes[..., second] += scores[..., place] > 0
        votes[..., first] += scores[..., place] <= 0
    return np.asarray(codes[votes.argmax(axis=-1)])


@contextmanager
def unconverged() -> Iterator[np.ndarray]:
    """Whether fits say that they have not converged, 1 or 0; those of rare classes say nothing.

    An experiment counts them in its findings: a worker process would swallow them. In other threads
    than the main one warnings go their usual way, and it is NaN: not known.
    """
    from sklearn.exceptions import ConvergenceWarning

    heard = threading.current_thread() is threading.main_thread()  # whose filters are put back
    short = np.array(0.0 if heard else np.nan)
    with kept_warnings() as warned:
        if heard:
            warnings.simplefilter("always")
        yield short
    for category, text in warned:
        if issubclass(category, ConvergenceWarning):
            short[...] = 1
        elif not (issubclass(category, TrueRiskWarning) and "folds" in text):
            warn(text, category)
