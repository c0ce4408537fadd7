"""Predictions of forests and bagging by their first members, or by out-of-bag members.

The ensemble predicts the mean over its members. The mean over the first m members is therefore the
prediction of an ensemble of size m, whose seeds are the first m of the same sequence. A row is
out-of-bag for the members that did not draw it; the mean over these is its out-of-bag prediction
(Breiman 2001). Sums are accumulated member by member, as in scikit-learn.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from inspect import getattr_static
from math import ceil, log
from typing import Any

import numpy as np
from scipy.special import expit

from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.core.identity import is_plain
from truerisk.engines.running.answering import Enquiry
from truerisk.plan.answers import codes_of_scores

# The advised number of members leaves fewer rows than this, in expectation, in every bag.
UNSEEN = 0.01


def forests() -> tuple[type, ...]:
    """Return scikit-learn's forest classes."""
    from sklearn import ensemble

    return (
        ensemble.RandomForestClassifier,
        ensemble.RandomForestRegressor,
        ensemble.ExtraTreesClassifier,
        ensemble.ExtraTreesRegressor,
    )


def bagging() -> tuple[type, ...]:
    """Return scikit-learn's bagging classes."""
    from sklearn.ensemble import BaggingClassifier, BaggingRegressor

    return BaggingClassifier, BaggingRegressor


def why_no_bags(family: Family) -> str | None:
    """Return why members of the family's models are not fitted on bootstrap samples, or None."""
    if not _draws_bags(family.last):
        return f"{family.name} draws no bags of rows; forests and bagging do."
    if family.last is not family.estimator:
        return (
            "the steps of a pipeline have seen every row, so that nothing is out of its bag "
            "(without them, the ensemble could be asked)."
        )
    if not all(setting["bootstrap"] for setting in family.settings):
        return "bootstrap=False: every member is fitted on all rows; use bootstrap=True."
    return None


def _draws_bags(model: Any) -> bool:
    """Return True if out-of-bag means are the model's predictions without a row.

    A subclass qualifies only if it inherits the prediction methods unchanged, and defines its own
    ``estimators_samples_`` to tell which rows its members drew.
    """
    kinds = (*forests(), *bagging())
    if is_plain(model, *kinds):
        return True
    own = getattr_static(type(model), "estimators_samples_", None)
    answers = ("predict", "predict_proba", "decision_function")
    return any(
        isinstance(model, kind)
        and own is not getattr_static(kind, "estimators_samples_")
        and all(_is_inherited(model, kind, name) for name in answers)
        for kind in kinds
    )


def _is_inherited(model: Any, kind: type, name: str) -> bool:
    own = getattr_static(type(model), name, None)
    return own is getattr_static(kind, name, None) and name not in vars(model)


def averages(model: Any, sizes: set[int], enquiry: Enquiry) -> dict[int, FixedAnswers]:
    """Return the predictions of the ensemble of each size, out-of-bag if the enquiry has copies."""
    members = _Members(model, enquiry.X)
    if enquiry.copy_of is None:
        means = _means(members, sizes)
    else:
        means = _out_of_bag_means(members, enquiry.copy_of, sizes)
    if members.n_classes is None:
        return {size: FixedAnswers(mean) for size, mean in means.items()}
    return {size: SaidShares(mean, model.classes_) for size, mean in means.items()}


def out_of_bag(model: Any, enquiry: Enquiry) -> FixedAnswers:
    """Return a stand-in that predicts each training row by the members that did not draw it."""
    if not _draws_bags(model):
        raise Refusal(f"{type(model).__name__} draws no bags of rows; forests and bagging do.")
    size = len(model.estimators_)
    return averages(model, {size}, enquiry)[size]


class _Members:
    """Members of a fitted forest or bagging, which predict a table one after another.

    Classifiers return probabilities in the order of the ensemble's classes (a vote if they have no
    probabilities). Regressors return values.
    """

    def __init__(self, model: Any, X: Any) -> None:
        self.model = model
        self.is_forest = isinstance(model, forests())
        self.n_classes = len(model.classes_) if hasattr(model, "classes_") else None
        self.as_given = X
        first = self.first(1)  # This raises whatever error the ensemble would raise.
        self.are_single = self.n_classes is None and first.dtype.kind == "f" and first.itemsize < 8
        self.X = self._table(X)

    def __len__(self) -> int:
        return len(self.model.estimators_)

    def say(self, number: int, rows: Any = slice(None)) -> np.ndarray:
        """Return the predictions of one member for some rows of the table."""
        member, X = self.model.estimators_[number], self.X[rows]
        if self.is_forest:
            enquiry = member.predict if self.n_classes is None else member.predict_proba
            return enquiry(X, check_input=False)
        X = X[:, self.model.estimators_features_[number]]
        if self.n_classes is None:
            return np.asarray(member.predict(X), dtype=np.float64)
        full = np.zeros((X.shape[0], self.n_classes))
        if hasattr(member, "predict_proba"):
            full[:, member.classes_] = member.predict_proba(X)
        else:
            full[np.arange(len(full)), member.predict(X)] = 1
        return full

    def first(self, size: int) -> np.ndarray:
        """Return the predictions of the ensemble of the first members."""
        first = copy.copy(self.model)
        first.estimators_, first.n_estimators = self.model.estimators_[:size], size
        return np.asarray(first.predict(self.as_given))

    def seen(self) -> Iterator[np.ndarray]:
        """Yield the training rows that each member drew."""
        model = self.model
        if type(model) in forests():  # A forest draws its rows again from each member's seed.
            model, stream = copy.copy(model), np.random.RandomState(0)
            model.estimators_ = [_Seed(m.random_state, stream) for m in model.estimators_]
        yield from model.estimators_samples_

    def _table(self, X: Any) -> Any:
        """Return X as the members see it, after the ensemble's own checks."""
        from sklearn.utils import check_array

        return check_array(
            X,
            accept_sparse="csr",
            dtype=np.float32 if self.is_forest else None,
            ensure_all_finite=False,
        )


class _Seed:
    """Stand-in for a member with its seed; reseeding a generator is faster than making one."""

    def __init__(self, seed: int, stream: np.random.RandomState) -> None:
        self.seed, self.stream = seed, stream

    @property
    def random_state(self) -> np.random.RandomState:
        """The generator in the state right after seeding."""
        self.stream.seed(self.seed)
        return self.stream


def _means(members: _Members, sizes: set[int]) -> dict[int, np.ndarray]:
    """Return the mean over the first members, for each size.

    In single precision the ensemble itself computes the mean, because its parallel jobs sum
    separately.
    """
    if members.are_single:
        return {size: members.first(size) for size in sizes}
    total: Any = 0.0
    means = {}
    for number in range(max(sizes)):
        total = total + members.say(number)
        if number + 1 in sizes:
            means[number + 1] = total / (number + 1)
    return means


def _out_of_bag_means(
    members: _Members, which: np.ndarray, sizes: set[int]
) -> dict[int, np.ndarray]:
    """Return for each size the mean over the first members that did not draw the row.

    `which[i]` is the row of the table of which training row i is a copy; a member that drew one
    copy has seen all of them.
    """
    n_rows = int(members.X.shape[0])
    total: np.ndarray | None = None
    times = np.zeros(n_rows)
    means = {}
    for number, drawn in zip(range(max(sizes)), members.seen(), strict=False):
        out = np.ones(n_rows, dtype=bool)
        out[which[drawn]] = False
        if out.any():
            answers = members.say(number, out)
            if total is None:
                total = np.zeros((n_rows, *answers.shape[1:]))
            total[out] += answers
            times[out] += 1
        if number + 1 in sizes:
            means[number + 1] = _divided(total, times, number + 1, members)
    return means


def _divided(
    total: np.ndarray | None, times: np.ndarray, size: int, members: _Members
) -> np.ndarray:
    missing = int((times == 0).sum())
    if total is None or missing:
        n = len(times)
        enough = ceil(log(UNSEEN / n) / log(1 - (1 - 1 / n) ** n)) if n > 1 else 0
        raise ValueError(
            f"{missing} of {n} rows were drawn by each of the {size} members and have no "
            f"out-of-bag answer: use n_estimators of {max(enough, 2 * size)} or more"
        )
    if members.n_classes is not None and not members.is_forest:
        return total / total.sum(axis=1)[:, None]  # BaggingClassifier divides in the same way.
    return total / times.reshape(-1, *[1] * (total.ndim - 1))


class FixedAnswers:
    """Fixed predictions of labels or values."""

    classes_: np.ndarray | None = None

    def __init__(self, answers: np.ndarray) -> None:
        self.answers = answers

    def predict(self, X: Any) -> np.ndarray:
        """Return the predictions."""
        return self.answers


class SaidOfClasses(FixedAnswers):
    """Fixed predictions about classes, with the class labels."""

    classes_: np.ndarray

    def __init__(self, answers: np.ndarray, classes: np.ndarray) -> None:
        super().__init__(answers)
        self.classes_ = classes


class SaidShares(SaidOfClasses):
    """Fixed class probabilities; the predicted label has the largest probability."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities."""
        return self.answers

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest probability, the first one if there are ties."""
        return self.classes_.take(self.answers.argmax(axis=1), axis=0)


class SaidScores(SaidOfClasses):
    """Fixed decision values."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values."""
        return self.answers


class SaidDecisions(SaidScores):
    """Fixed decision values that are positive for the second of two classes."""

    def predict(self, X: Any) -> np.ndarray:
        """Return the second class where the decision value is positive, else the first."""
        return self.classes_[codes_of_scores(self.answers[:, None])]


class SaidLogOdds(SaidDecisions):
    """Fixed log-odds of the second of two classes."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of both classes, from the log-odds of the second."""
        return np.column_stack([expit(-self.answers), expit(self.answers)])


def standing_for(model: Any, scores: np.ndarray) -> FixedAnswers:
    """Return an object that predicts these scores as the model would: values or decision values."""
    if not hasattr(model, "classes_"):
        return FixedAnswers(scores)
    kind = SaidLogOdds if hasattr(model, "predict_proba") else SaidDecisions
    return kind(scores, np.asarray(model.classes_))
