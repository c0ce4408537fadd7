"""Properties of a loss. A risk is a mean loss, so that lower is always better.

A loss of single rows (`per_row`) can be pooled, weighted and given a standard error. A loss that
rates a whole test set (AUC, F1, a scorer) can be given one if the influence of each row on it is
known (`tells_influences`).

Scores of one class refer to the positive class, by default the greater of two labels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np

from truerisk.core.arguments import Extensible, RenamedAttribute, mention
from truerisk.core.errors import Refusal, UnknownName
from truerisk.core.formats import escape_and_truncate
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.plain_values import to_json_value
from truerisk.data.data import Data, TaskName
from truerisk.plan.answers import Response
from truerisk.results.interval import Scale

Average = Literal["pooled", "fold", "rows by fold"]
"""Unit of a mean: all predictions of a repetition as one test set, or each fold.

"rows by fold" is the mean over folds for losses of rows, and the usual average for other losses.
"""

SURVIVAL_TASKS: tuple[TaskName, ...] = ("survival",)
TIME_LIMITS_AND_HINT = (0.0, np.inf, "give a time of y, such as 5")

AUC_IMPORT_PATH = "truerisk.losses.rank_scores:AUC"
AVERAGE_PRECISION_PATH = "truerisk.losses.rank_scores:AveragePrecision"
"""Import paths of rank scores, so that the class of a loss is compared without an import."""

NO_PREDICTIONS_MESSAGE = (
    "{} compares answers with y, and this model makes no predictions of y: rate it by "
    f"{mention('scoring')}, a function of (estimator, X, y)."
)

Risks = TypeVar("Risks", float, np.ndarray)


def check_average(average: str | None) -> None:
    """Raise UnknownName if `average` is not one of the ways to average over test sets."""
    if average not in (None, "pooled", "fold", "rows by fold"):
        raise UnknownName(f"average={average!r} is unknown; use 'pooled', 'fold' or None.")


ENOUGH_EVENTS = 12
"""Number of rows of a class, or of events, from which the intervals of scores have their coverage.

In 300 rows with 6, 8, 10, 12 and 15 events, 95 % intervals of AUC held the mean score in .86, .90,
.92, .93 and .96 of 400 drawings. Those of F1, precision, recall and MCC held it in .95 or more, as
they are wide (`python -m benchmarks.unseen --events`, docs/checks.md).
"""


@frozen
class Events:
    """Number of the rows that a score mainly depends on, and a noun such as "rows of class 'ill'".

    With fewer than `sufficient_count` of them the score moves much with each, and its interval may
    be too narrow.
    """

    count: int
    noun: str
    sufficient_count: int = ENOUGH_EVENTS

    @classmethod
    def from_class(
        cls, data: Data, code_of_class: int | None = None, n_enough: int = ENOUGH_EVENTS
    ) -> Events:
        """Count the rows of a class, by default of the rarest class."""
        class_sizes = data.class_sizes
        code_of_class = int(np.argmin(class_sizes)) if code_of_class is None else code_of_class
        return cls(
            int(class_sizes[code_of_class]),
            f"rows of class {escape_and_truncate(str(data.label(code_of_class)), 60)!r}",
            n_enough,
        )


class Loss(Extensible, ABC):
    """Base class of losses: how models are rated, and what the loss needs from them.

    `name` is its name, `response` the type of predictions that it needs, and `tasks` the tasks for
    which it is defined. `perfect` is the score of a model without error, `lower` and `upper` are
    the smallest and the largest loss. Derive from `RowLoss` if each row has a loss of its own.

    See Also
    --------
    truerisk.extend.RowLoss : Base class of losses of single rows.
    truerisk.losses.names : List the names of losses.

    Examples
    --------
    >>> import truerisk as tr
    >>> loss = tr.losses.AUC()
    >>> loss.name, loss.per_row, float(loss.score(0.2))
    ('auc', False, 0.8)
    """

    name: str
    word = RenamedAttribute("name")
    response: Response
    tasks: tuple[TaskName, ...] = ("classification",)
    per_row: ClassVar[bool]
    binary: bool = False  # True if the loss counts errors (0 or 1 per row).
    lower: float | None = 0.0
    upper: float | None = None
    perfect: float = 0.0
    # True if results show a score instead of the loss. The score is `perfect` minus the loss.
    is_score: bool = False
    usual_average: Average = "fold"  # default way to average over the test sets of a repetition
    # True if the name of the loss requests pooled predictions, as in "f1 pooled".
    is_pooled: bool = False
    tells_influences: bool = False
    # True if the expected loss of every model is larger on a test set of few rows.
    grows_with_few_rows: bool = False
    horizons: tuple[float, ...] = ()  # the times at which survival curves are evaluated
    is_biased_on_small_sets: bool = False
    """True if the mean over small test sets is expected to differ from the value on a large one.

    A ratio with a random denominator is biased so; AUC is a mean over pairs, and is not.
    """
    # True if intervals of the score had their nominal coverage on spatial data.
    holds_in_space: bool = False
    positive: Any = None  # the positive class that a user named, for scores of one class
    notes: tuple[str, ...] = ()  # notes on assumptions, for the reader of a result

    @abstractmethod
    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """Return the loss of each candidate on one test set.

        Parameters
        ----------
        data : Data
            The checked rows of the call.
        rows : array of int
            Row numbers.
        answers : array, shape (n_candidates, n_rows, ...)
            The predictions of every candidate for these rows.
        weights : array, shape (n_rows,), or None
            Sample weights of these rows. None means equal weights.

        Returns
        -------
        array, shape (n_candidates,)
            The losses.
        """

    def influences(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        """Return the influence of each row on the loss of a test set.

        It is the derivative of the loss with respect to the weight of the row, times the total
        weight. Scores of a confusion table do not use `about`. A loss of rows needs no formula,
        because its losses are known.

        Parameters
        ----------
        data : Data
            The checked rows of the call.
        rows : array of int
            Row numbers.
        answers : array, shape (n_candidates, n_rows, ...)
            The predictions of every candidate for these rows.
        weights : array, shape (n_rows,), or None
            Sample weights of these rows. None means equal weights.
        about : array
            A value for each candidate with which a row is compared: the loss of the set, or of
            several sets.

        Returns
        -------
        array, shape (n_candidates, n_rows)
            The influences.
        """
        raise Refusal(f"loss '{self.name}' has no formula for what a single row does to it.")

    def of_one_row(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """Return how much each candidate's loss can change if the prediction for one row changes.

        By default it is the range of the loss divided by the number of rows. A loss may know a
        larger effect: one of few positive rows changes the recall by more.

        Parameters
        ----------
        data : Data
            The checked rows of the call.
        rows : array of int
            Row numbers.
        answers : array, shape (n_candidates, n_rows, ...)
            The predictions of every candidate for these rows.
        weights : array, shape (n_rows,), or None
            Sample weights of these rows. None means equal weights.

        Returns
        -------
        array, shape (n_candidates,)
            The largest change.
        """
        low, high = self.lower or 0.0, self.upper or 0.0
        return np.full(len(answers), (high - low) / len(rows))

    def counted_twice(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        """Return the part of Σ (w φ/W)² that two rows have in common, for losses of pairs of rows.

        Here φ are the influences of the rows, w their weights, and W the total weight.

        Parameters
        ----------
        data : Data
            The checked rows of the call.
        rows : array of int
            Row numbers.
        answers : array, shape (n_candidates, n_rows, ...)
            The predictions of every candidate for these rows.
        weights : array, shape (n_rows,), or None
            Sample weights of these rows. None means equal weights.
        about : array
            The value of each candidate around which the influence is computed.

        Returns
        -------
        array, shape (n_candidates,)
            The common part, for each candidate; 0 by default.
        """
        return np.zeros(len(answers))

    def enlargement(self, data: Data, rows: np.ndarray) -> tuple[float, float]:
        """Return a factor for the variance of a finished model's loss, and degrees of freedom.

        The degrees of freedom are those of Student's t. Few rows underestimate that variance. The
        factor is 1 and the degrees are infinite if the rows estimate it without bias, as those of a
        mean do.

        Parameters
        ----------
        data : Data
            The checked rows of the call.
        rows : array of int
            Row numbers.

        Returns
        -------
        tuple of float
            The factor of the variance, and the degrees of freedom.
        """
        return 1.0, np.inf

    def events(self, data: Data) -> Events | None:
        """Count the few rows that the score mainly depends on, such as those of the rarer class.

        The result is None if the value depends equally on all rows, as a mean of row losses does.

        Parameters
        ----------
        data : Data
            The checked rows of the call.

        Returns
        -------
        Events or None
            The few rows, or None if the value depends equally on all rows, as a mean of row losses
            does.
        """
        return None

    def rated(self, data: Data) -> int | None:
        """Return the code of the class to which the loss refers.

        Parameters
        ----------
        data : Data
            The checked rows of the call.

        Returns
        -------
        int or None
            The code, or None if the loss refers to all classes.
        """
        return None

    def label(self, data: Data) -> Any:
        """Return the class to which the loss refers, as a result shows it.

        Parameters
        ----------
        data : Data
            The checked rows of the call.

        Returns
        -------
        label or None
            The class, or None if the loss refers to all classes.
        """
        code = self.rated(data)
        return None if code is None else to_json_value(data.label(code))

    def of_class(self, positive: Any) -> Self:
        """Return the loss for this class, if it is a score of one class that has no class yet.

        Parameters
        ----------
        positive : label
            The class.

        Returns
        -------
        Loss
            The loss; by default the same loss.
        """
        return self

    def averaged(self, requested: Average | None) -> Average:
        """Return the way in which losses are averaged over the test sets of a repetition.

        Parameters
        ----------
        requested : {"pooled", "fold", "rows by fold"} or None
            The requested average; None for the usual one of the loss.

        Returns
        -------
        {"pooled", "fold"}
            The average to use.
        """
        if self.is_pooled:
            return "pooled"
        if requested == "rows by fold":
            return "fold" if self.per_row else self.usual_average
        return requested or self.usual_average

    @property
    def one_scale(self) -> bool:
        """True if predictions of different models are comparable, as labels and numbers are."""
        return self.response not in ("score", "scored")

    def check(self, data: Data) -> None:
        """Raise Refusal for data for which this loss is not defined.

        Parameters
        ----------
        data : Data
            The checked rows of the call.
        """
        if data.task == "other" and data.task not in self.tasks:
            raise Refusal(NO_PREDICTIONS_MESSAGE.format(self.name))
        if data.task not in self.tasks:
            suggested_losses_by_task = {
                "classification": "zero-one, log or brier",
                "regression": "squared or absolute",
                "survival": "concordance, integrated-brier or brier-at-5, say",
            }
            raise Refusal(
                f"loss '{self.name}' is not defined for {data.task}; use "
                f"{suggested_losses_by_task[data.task]}."
            )

    def score(self, risk: Risks) -> Risks:
        """Return the risk as a score, as scikit-learn reports it: higher is better.

        Parameters
        ----------
        risk : float or array
            The loss.

        Returns
        -------
        float or array
            The score, `perfect` minus the loss.
        """
        return self.perfect - risk

    @property
    def scale(self) -> Scale:
        """Scale on which results are printed: this loss, or the score from which it is computed."""
        return Scale(self.perfect if self.is_score else None)


class RowLoss(Loss):
    """Base class of losses of single rows; the loss of a test set is their (weighted) mean.

    See Also
    --------
    truerisk.extend.Loss : Base class of losses of whole test sets.

    Examples
    --------
    >>> import numpy as np
    >>> import truerisk as tr
    >>> from sklearn.linear_model import Ridge
    >>> class Pinball(tr.losses.RowLoss):
    ...     name, response, tasks = "pinball", "value", ("regression",)
    ...
    ...     def of_rows(self, data, rows, answers):
    ...         over = data.y[rows] - answers
    ...         return np.maximum(0.9 * over, -0.1 * over)
    >>> X, y = tr.datasets.make_daily_load(60, random_state=0)
    >>> risk = tr.estimate_risk(Ridge(), X, y, scoring=Pinball(), checks=False)
    >>> risk.scoring, round(risk.value, 3)
    ('pinball', 0.391)
    """

    per_row = True
    usual_average = "pooled"
    tells_influences = True

    @abstractmethod
    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Return the losses of the given rows for each candidate.

        Parameters
        ----------
        data : Data
            The checked rows of the call.
        rows : array of int
            Row numbers.
        answers : array, shape (n_candidates, n_rows, ...)
            The predictions of every candidate for these rows.

        Returns
        -------
        array, shape (n_candidates, n_rows)
            The losses.
        """

    @override
    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        return np.average(self.of_rows(data, rows, answers), axis=1, weights=weights)


def class_code(positive: Any, data: Data) -> int:
    """Return the code of the class of y that `positive=` names; raise if it is not a label."""
    if data.task != "classification":
        raise Refusal(
            f"{mention('positive', positive)} names a class, and y holds numbers: leave it out."
        )
    labels = [data.label(code) for code in range(data.n_classes)]
    try:
        return labels.index(positive)
    # Comparing an arbitrary object with labels may raise any exception.
    except Exception:  # noqa: BLE001
        labels_text = escape_and_truncate(", ".join(map(str, labels)), 160)
        raise UnknownName(
            f"{mention('positive', positive)} is no class of y, which has {labels_text}."
        ) from None
