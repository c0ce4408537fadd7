r"""Stability of single predictions when a model is fitted to other training rows.

Row i has the prediction :math:`\hat p_i` of its model, and :math:`\hat p_{bi}` of B other models
that differ from it only in their training rows. Its instability is the mean absolute prediction
error

.. math:: \mathrm{MAPE}_i = \frac{1}{B} \sum_b |\hat p_{bi} - \hat p_i|

and, at a threshold, the share of the other models that classify it differently (Riley and Collins,
2023, where the other models are fitted to bootstrap samples).

Riley RD, Collins GS (2023). Stability of clinical prediction models developed using statistical or
machine learning methods. Biometrical Journal 65:2200302.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from truerisk.core import formats, tables
from truerisk.core.arguments import mention
from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.core.tables import frame_of
from truerisk.plan.answers import Answers, Response
from truerisk.results.door import load_from_above
from truerisk.results.records import FINITE, UNWRITTEN, Column, Count, Record
from truerisk.validation.honest import HonestRun, pair_answers
from truerisk.validation.outcomes import Event

if TYPE_CHECKING:  # samples are a branch
    from truerisk.validation.resampled import Resampled

RANGE = (0.025, 0.975)
BY: tuple[Response, ...] = ("probability", "value", "label")
SOURCE = (
    "the further models of a row were trained without one more fold than its own: they share most "
    "training rows with it, and vary {factor:.2g} times less than models of new training rows vary "
    "about their mean (first order)."
)
OF_SAMPLES = (
    "the further models are those of bootstrap samples, each tuned and fitted anew; they predict "
    "all rows, as the model of all rows does (Riley and Collins 2023)."
)
LABELS = "the model gives no probabilities: a change is another label."
OFTEN = 0.1  # Share of the models above which a row counts as often classified otherwise.


@frozen(eq=False)
class PredictionStability(Record):
    """The `predictions` for `rows`, and `others[b]`, those of B further models for the same rows.

    They are probabilities of `event`, or numbers if `event` is None. `low` and `high` contain 95 %
    of the others, `by_row` is the mean absolute prediction error of every row, and `otherwise` the
    share of others that classify it differently. ``changed[b, i]`` says whether model b assigns row
    i to another class, and is None without classes; two classes are separated by the `threshold`.
    Multiplied by `factor`, the differences estimate those between a model of new training rows and
    the mean of all such models. `source` says which models the others are. `others` and `changed`
    are not written to files.
    """

    schema: ClassVar[str] = "truerisk.prediction-stability/2"
    derived: ClassVar[tuple[str, ...]] = ("summary",)

    rows: Annotated[np.ndarray, Column("rows", "i8")]
    predictions: Annotated[np.ndarray, Column("rows", least=1, numbers=FINITE)] = field(
        metadata={"key": "given"}
    )
    low: Annotated[np.ndarray, Column("rows", numbers=FINITE)]
    high: Annotated[np.ndarray, Column("rows", numbers=FINITE)]
    by_row: Annotated[np.ndarray, Column("rows")] = field(metadata={"key": "mape"})
    otherwise: Annotated[np.ndarray, Column("rows")] | None
    n_models: Count
    source: str
    event: str | None = None
    threshold: float | None = None
    factor: float = 1.0
    others: np.ndarray | None = field(default=None, repr=False, metadata=UNWRITTEN)
    changed: np.ndarray | None = field(default=None, repr=False, metadata=UNWRITTEN)

    @classmethod
    def between(
        cls,
        rows: np.ndarray,
        given: np.ndarray,
        others: np.ndarray,
        source: str,
        changed: np.ndarray | None = None,
        **more: Any,
    ) -> PredictionStability:
        """Summarise one number per row, and the rows that each model classifies otherwise."""
        low, high = np.quantile(others, RANGE, axis=0)
        return cls(
            rows=rows,
            predictions=given,
            low=low,
            high=high,
            by_row=np.abs(others - given).mean(axis=0),
            otherwise=None if changed is None else changed.mean(axis=0),
            n_models=len(others),
            source=source,
            others=others,
            changed=changed,
            **more,
        )

    @classmethod
    def from_predictions(
        cls,
        rows: np.ndarray,
        given: np.ndarray,
        others: np.ndarray,
        source: str,
        *,
        event: str | None = None,
        threshold: float = 0.5,
        factor: float = 1.0,
    ) -> PredictionStability:
        """Summarise numbers, or probabilities: `(n,)` of an `event`, or `(n, classes)`.

        For several classes the probability of the most probable class is used.

        >>> rows = np.arange(2)
        >>> found = PredictionStability.from_predictions(
        ...     rows, np.array([0.4, 0.9]), np.array([[0.6, 0.9], [0.5, 0.7]]), "", event="ill"
        ... )
        >>> found.by_row.round(3).tolist(), found.otherwise.tolist()
        ([0.15, 0.1], [1.0, 0.0])
        """
        if given.ndim == 2:
            label = given.argmax(axis=1)
            changed = others.argmax(axis=2) != label
            at = np.arange(len(rows)), label
            given, others = given[at], others[:, at[0], at[1]]
            return cls.between(rows, given, others, source, changed, event=event, factor=factor)
        if event is None:
            return cls.between(rows, given, others, source, factor=factor)
        changed = (others >= threshold) != (given >= threshold)
        words = {"event": event, "threshold": threshold, "factor": factor}
        return cls.between(rows, given, others, source, changed, **words)

    @property
    def mape(self) -> float:
        """Mean absolute prediction error over rows."""
        return float(self.by_row.mean())

    @property
    def of_new_rows(self) -> float:
        """The same for a model of new training rows about the mean of such models, to first order.

        Models of bootstrap samples show the same about the model of all rows. Two models of new
        rows differ by √2 times as much.
        """
        return self.factor * self.mape

    @property
    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """The 2.5 % and 97.5 % quantiles of the other models' predictions of every row."""
        return self.low, self.high

    @property
    def summary(self) -> dict[str, float]:
        """The printed numbers by name."""
        numbers = {
            "mean absolute prediction error": self.mape,
            **({} if self.factor == 1 else {"of new training rows": self.of_new_rows}),
            "largest of a row": float(self.by_row.max()),
            "mean width of the 95 % range": float((self.high - self.low).mean()),
        }
        if (otherwise := self.otherwise) is not None:
            numbers["classified otherwise, mean share"] = float(otherwise.mean())
            numbers[f"rows classified otherwise by more than {OFTEN:.0%}"] = float(
                (otherwise > OFTEN).mean()
            )
        return numbers

    def to_frame(self) -> Any:
        """Return a table with one row per prediction: its range, mean change and class changes."""
        columns = {"row": self.rows, "given": self.predictions, "low": self.low, "high": self.high}
        columns["mape"] = self.by_row
        if (otherwise := self.otherwise) is not None:
            columns["otherwise"] = otherwise
        return frame_of({name: values.tolist() for name, values in columns.items()})

    def plot(self, ax: Any = None) -> Any:
        """Draw an instability plot: the other models' predictions over the given ones.

        It needs matplotlib.
        """
        return load_from_above("instability")(self, ax=ax)

    def __str__(self) -> str:
        rows = [[name, formats.number(value)] for name, value in self.summary.items()]
        head = ["stability of predictions", f"{self.n_models} further models per row"]
        return f"{tables.text_table(head, rows)}\nnote: {self.source}"


def others_of_pairs(
    answers: Answers, left_two_out: Answers
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the tested rows, and the `(K − 1, n)` positions of their further predictions.

    The rows are ascending, and the positions refer to `left_two_out`. Line s holds, for the rows of
    fold i, the model that lacks fold i and the s-th fold after it, so that each line is a complete
    set of predictions. The result is None if rows were tested more than once.
    """
    plan = answers.plan
    rows = plan.positions[0]
    distinct, counts = np.unique(left_two_out.plan.positions[0], return_counts=True)
    if (
        len(np.unique(rows)) < len(rows)
        or np.ptp(counts)
        or not np.array_equal(distinct, np.sort(rows))
    ):
        return None
    further = np.repeat(left_two_out.plan.unit, left_two_out.plan.test_sizes)
    own = np.repeat(left_two_out.plan.fold, left_two_out.plan.test_sizes)
    n_folds = int(max(further.max(), own.max())) + 1
    after = (further - own) % n_folds
    order = np.lexsort((after, left_two_out.plan.positions[0]))
    return distinct, order.reshape(len(distinct), -1).T


def moves_of_samples(
    event: Event | None, apparent: np.ndarray | None, samples: Resampled | None
) -> PredictionStability | None:
    """Compare the models of bootstrap samples; return None without samples or for scores."""
    if apparent is None or samples is None or len(samples.answers) < 2:
        return None
    given, others = apparent, samples.answers
    if event is not None:
        if apparent.ndim != 2:
            return None
        given, others = (event.read(of, "probability")[..., 1] for of in (apparent, others))
    label = None if event is None else event.label
    return PredictionStability.from_predictions(
        np.arange(len(apparent)), given, others, OF_SAMPLES, event=label
    )


def moves_of_pairs(run: HonestRun, event: Event | None) -> PredictionStability:
    """Compare held-out predictions with those of models that lack a further fold."""
    response = next((one for one in BY if one in run.answers), None)
    if response is None:
        raise Refusal("decision values of several models have no common scale.")
    answers = run.answers[response]
    left_two_out = pair_answers(run, response)
    of_pairs = others_of_pairs(answers, left_two_out)
    if of_pairs is None:
        raise Refusal(
            f"rows were tested more than once: use one repetition, {mention('outer', 'pairs')}."
        )
    rows, places = of_pairs
    given = answers.values[0][np.argsort(answers.plan.positions[0], kind="stable")]
    others, factor = left_two_out.values[0][places], max(1.0, len(places) - 1) ** 0.5
    source = SOURCE.format(factor=factor)
    if response == "label":
        changed = others != given
        zero, one = np.zeros(len(rows)), changed.astype(float)
        return PredictionStability.between(rows, zero, one, f"{LABELS} {source}", changed)
    label = None
    if response == "probability":
        label = "the most probable class" if event is None else event.label
        if event is not None:
            given, others = (event.read(of, "probability")[..., 1] for of in (given, others))
    return PredictionStability.from_predictions(
        rows, given, others, source, event=label, factor=factor
    )
