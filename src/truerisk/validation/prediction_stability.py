r"""How far single predictions move when a model is made from other training rows.

Row i has the prediction :math:`\hat p_i` of its model and :math:`\hat p_{bi}` of B others that
differ from it in their training rows alone. Its instability is the mean absolute prediction error

.. math:: \mathrm{MAPE}_i = \frac{1}{B} \sum_b |\hat p_{bi} - \hat p_i|

and, at a threshold, the share of the other models that put it on the other side (Riley and Collins,
2023; there the others are fitted on bootstrap samples).

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
OFTEN = 0.1  # of the models: a row that so many of them classify otherwise


@frozen(eq=False)
class PredictionStability(Record):
    """The `predictions` for `rows`, and `others[b]`, those of B further models for the same.

    They are probabilities of `event`, or numbers where `event` is None. `low` and `high` hold 95 %
    of the others, `by_row` is the mean absolute prediction error of every row and `otherwise` the
    share of others that classify it otherwise. ``changed[b, i]`` says whether model b puts row i
    into another class, which is None where there are no classes; those of two classes are made by
    the `threshold`. `factor` is by how much the moves are to be multiplied to be those of a model
    of new training rows about the mean of all such models. `source` says which models the others
    are. `others` and `changed` are not written.
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
        """Of one number for each row, and which rows each of the others puts into another class."""
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
    def of(
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
        """Of numbers, or of probabilities: `(n,)` of an `event`, or `(n, classes)`.

        Of several classes it is the probability of the class that is the most probable.

        >>> rows = np.arange(2)
        >>> found = PredictionStability.of(
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
        """The mean absolute prediction error, over rows."""
        return float(self.by_row.mean())

    @property
    def of_new_rows(self) -> float:
        """The same of a model of new training rows about the mean of such models, to first order.

        That is what models of bootstrap samples show about the model of all rows. Two models of
        new rows differ by √2 times as much.
        """
        return self.factor * self.mape

    @property
    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """Quantiles of the other models' predictions of every row, 2.5 and 97.5 %."""
        return self.low, self.high

    @property
    def summary(self) -> dict[str, float]:
        """The numbers that are printed, by name."""
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
        """A line for each row: prediction, range of the others, mean move, share otherwise."""
        columns = {"row": self.rows, "given": self.predictions, "low": self.low, "high": self.high}
        columns["mape"] = self.by_row
        if (otherwise := self.otherwise) is not None:
            columns["otherwise"] = otherwise
        return frame_of({name: values.tolist() for name, values in columns.items()})

    def plot(self, ax: Any = None) -> Any:
        """An instability plot: predictions of the others over those given (needs matplotlib)."""
        return load_from_above("instability")(self, ax=ax)

    def __str__(self) -> str:
        rows = [[name, formats.number(value)] for name, value in self.summary.items()]
        head = ["stability of predictions", f"{self.n_models} further models per row"]
        return f"{tables.text_table(head, rows)}\nnote: {self.source}"


def others_of_pairs(answers: Answers, shaken: Answers) -> tuple[np.ndarray, np.ndarray] | None:
    """Tested rows, ascending, and `(K − 1, n)` positions in `shaken` of their further answers.

    Line s holds, for the rows of fold i, the model that lacks fold i and the s-th fold after it:
    each line is a whole set of predictions. None where rows were tested more than once.
    """
    plan = answers.plan
    rows = plan.positions[0]
    distinct, counts = np.unique(shaken.plan.positions[0], return_counts=True)
    if (
        len(np.unique(rows)) < len(rows)
        or np.ptp(counts)
        or not np.array_equal(distinct, np.sort(rows))
    ):
        return None
    further = np.repeat(shaken.plan.unit, shaken.plan.test_sizes)
    own = np.repeat(shaken.plan.fold, shaken.plan.test_sizes)
    n_folds = int(max(further.max(), own.max())) + 1
    after = (further - own) % n_folds
    order = np.lexsort((after, shaken.plan.positions[0]))
    return distinct, order.reshape(len(distinct), -1).T


def moves_of_samples(
    event: Event | None, apparent: np.ndarray | None, samples: Resampled | None
) -> PredictionStability | None:
    """Of models of bootstrap samples; None where there are none, or decision values."""
    if apparent is None or samples is None or len(samples.answers) < 2:
        return None
    given, others = apparent, samples.answers
    if event is not None:
        if apparent.ndim != 2:
            return None
        given, others = (event.read(of, "probability")[..., 1] for of in (apparent, others))
    label = None if event is None else event.label
    return PredictionStability.of(np.arange(len(apparent)), given, others, OF_SAMPLES, event=label)


def moves_of_pairs(run: HonestRun, event: Event | None) -> PredictionStability:
    """Of models that lack a further fold, asked about rows held out."""
    response = next((one for one in BY if one in run.answers), None)
    if response is None:
        raise Refusal("decision values of several models have no common scale.")
    answers = run.answers[response]
    shaken = pair_answers(run, response)
    of_pairs = others_of_pairs(answers, shaken)
    if of_pairs is None:
        raise Refusal(
            f"rows were tested more than once: use one repetition, {mention('outer', 'pairs')}."
        )
    rows, places = of_pairs
    given = answers.values[0][np.argsort(answers.plan.positions[0], kind="stable")]
    others, factor = shaken.values[0][places], max(1.0, len(places) - 1) ** 0.5
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
    return PredictionStability.of(rows, given, others, source, event=label, factor=factor)
