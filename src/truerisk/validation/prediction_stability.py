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
from truerisk.core.overrides import override
from truerisk.core.tables import frame_from_columns
from truerisk.plan.answers import Answers, Response
from truerisk.results.door import load_from_package
from truerisk.results.records import FINITE_RANGE, UNWRITTEN, Column, Count, Record
from truerisk.validation.honest import HonestRun, get_pair_predictions
from truerisk.validation.outcomes import Event

if TYPE_CHECKING:  # Bootstrap samples are an optional module, loaded only when needed.
    from truerisk.validation.resampled import BootstrapPredictions

RANGE_QUANTILES = (0.025, 0.975)
COMPARED_RESPONSES: tuple[Response, ...] = ("probability", "value", "label")
PAIR_SOURCE_NOTE = (
    "the further models of a row were trained without one more fold than its own: they share most "
    "training rows with it, and vary {factor:.2g} times less than models of new training rows vary "
    "about their mean (first order)."
)
BOOTSTRAP_SOURCE_NOTE = (
    "the further models are those of bootstrap samples, each tuned and fitted anew; they predict "
    "all rows, as the model of all rows does (Riley and Collins 2023)."
)
LABEL_CHANGE_NOTE = "the model gives no probabilities: a change is another label."
FREQUENT_CHANGE_SHARE = (
    0.1  # A row is often classified otherwise if more than this share of models do so.
)


@frozen(eq=False)
class PredictionStability(Record):
    """Stability of the `predictions` for `rows` when models are fitted to other training rows.

    The predictions are probabilities of `event`, or numbers if `event` is None. `others[b]` are the
    predictions of the b-th of B further models for the same rows. `low` and `high` contain 95 % of
    the others, `by_row` is the mean absolute prediction error of every row, and `otherwise` the
    share of further models that classify it differently. ``changed[b, i]`` says whether model b
    assigns row i to another class, and is None without classes; two classes are separated by the
    `threshold`. Multiplied by `factor`, the differences estimate those between a model of new
    training rows and the mean of all such models. `source` says which models the others are.
    `others` and `changed` are not written to files.
    """

    schema: ClassVar[str] = "truerisk.prediction-stability/2"
    derived: ClassVar[tuple[str, ...]] = ("summary",)

    rows: Annotated[np.ndarray, Column("rows", "i8")]
    predictions: Annotated[np.ndarray, Column("rows", least=1, numbers=FINITE_RANGE)] = field(
        metadata={"key": "given"}
    )
    low: Annotated[np.ndarray, Column("rows", numbers=FINITE_RANGE)]
    high: Annotated[np.ndarray, Column("rows", numbers=FINITE_RANGE)]
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
    def from_other_models(
        cls,
        rows: np.ndarray,
        predictions: np.ndarray,
        other_predictions: np.ndarray,
        source: str,
        has_changed: np.ndarray | None = None,
        **fields: Any,
    ) -> PredictionStability:
        """Create the record from one number per row and model, and from the changed classes."""
        low, high = np.quantile(other_predictions, RANGE_QUANTILES, axis=0)
        return cls(
            rows=rows,
            predictions=predictions,
            low=low,
            high=high,
            by_row=np.abs(other_predictions - predictions).mean(axis=0),
            otherwise=None if has_changed is None else has_changed.mean(axis=0),
            n_models=len(other_predictions),
            source=source,
            others=other_predictions,
            changed=has_changed,
            **fields,
        )

    @classmethod
    def from_predictions(
        cls,
        rows: np.ndarray,
        predictions: np.ndarray,
        other_predictions: np.ndarray,
        source: str,
        *,
        event: str | None = None,
        threshold: float = 0.5,
        factor: float = 1.0,
    ) -> PredictionStability:
        """Create the record from numbers, or from probabilities of an event or of all classes.

        Probabilities have the shape `(n,)` for an `event`, or `(n, classes)`. For several classes
        the probability of the most probable class is used.

        >>> rows = np.arange(2)
        >>> found = PredictionStability.from_predictions(
        ...     rows, np.array([0.4, 0.9]), np.array([[0.6, 0.9], [0.5, 0.7]]), "", event="ill"
        ... )
        >>> found.by_row.round(3).tolist(), found.otherwise.tolist()
        ([0.15, 0.1], [1.0, 0.0])
        """
        if predictions.ndim == 2:
            predicted_class = predictions.argmax(axis=1)
            has_changed = other_predictions.argmax(axis=2) != predicted_class
            predicted_class_index = np.arange(len(rows)), predicted_class
            predictions, other_predictions = (
                predictions[predicted_class_index],
                other_predictions[:, predicted_class_index[0], predicted_class_index[1]],
            )
            return cls.from_other_models(
                rows,
                predictions,
                other_predictions,
                source,
                has_changed,
                event=event,
                factor=factor,
            )
        if event is None:
            return cls.from_other_models(
                rows, predictions, other_predictions, source, factor=factor
            )
        has_changed = (other_predictions >= threshold) != (predictions >= threshold)
        keyword_arguments = {"event": event, "threshold": threshold, "factor": factor}
        return cls.from_other_models(
            rows, predictions, other_predictions, source, has_changed, **keyword_arguments
        )

    @property
    def mape(self) -> float:
        """Mean absolute prediction error, averaged over rows."""
        return float(self.by_row.mean())

    @property
    def of_new_rows(self) -> float:
        """Mean absolute difference of a model of new training rows from the mean of such models.

        It is a first-order estimate. Models of bootstrap samples show the same difference from the
        model of all rows. Two models of new rows differ by √2 times as much.
        """
        return self.factor * self.mape

    @property
    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """The 2.5 % and 97.5 % quantiles of the other models' predictions of every row."""
        return self.low, self.high

    @property
    def summary(self) -> dict[str, float]:
        """Printed numbers by name: prediction errors, widths of ranges, changed classes."""
        numbers_by_name = {
            "mean absolute prediction error": self.mape,
            **({} if self.factor == 1 else {"of new training rows": self.of_new_rows}),
            "largest of a row": float(self.by_row.max()),
            "mean width of the 95 % range": float((self.high - self.low).mean()),
        }
        if (changed_share := self.otherwise) is not None:
            numbers_by_name["classified otherwise, mean share"] = float(changed_share.mean())
            numbers_by_name[
                f"rows classified otherwise by more than {FREQUENT_CHANGE_SHARE:.0%}"
            ] = float((changed_share > FREQUENT_CHANGE_SHARE).mean())
        return numbers_by_name

    def to_frame(self) -> Any:
        """Return a table with one row per prediction: its range, mean change and class changes."""
        columns = {"row": self.rows, "given": self.predictions, "low": self.low, "high": self.high}
        columns["mape"] = self.by_row
        if (changed_share := self.otherwise) is not None:
            columns["otherwise"] = changed_share
        return frame_from_columns({name: values.tolist() for name, values in columns.items()})

    def plot(self, ax: Any = None) -> Any:
        """Draw an instability plot: predictions of the other models against those of the model.

        It needs matplotlib.
        """
        return load_from_package("instability")(self, ax=ax)

    def __str__(self) -> str:
        (table,) = self.blocks()
        return f"{table.text}\nnote: {self.source}"

    @override
    def blocks(self) -> list[tables.Block]:
        rows = [[name, formats.format_number(value)] for name, value in self.summary.items()]
        header = ["stability of predictions", f"{self.n_models} further models per row"]
        return [tables.Block(self.source, header, rows)]


def find_pair_positions(
    held_out_predictions: Answers, left_two_out: Answers
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the tested rows, and the positions of each row's K − 1 further predictions.

    The rows are ascending, and the positions, of shape `(K − 1, n)`, refer to `left_two_out`. Line
    s holds, for the rows of fold i, the model that lacks fold i and the s-th fold after it, so that
    each line is a complete set of predictions. The result is None if rows were tested more than
    once.
    """
    plan = held_out_predictions.plan
    rows = plan.positions[0]
    distinct_rows, n_predictions_of_row = np.unique(
        left_two_out.plan.positions[0], return_counts=True
    )
    if (
        len(np.unique(rows)) < len(rows)
        or np.ptp(n_predictions_of_row)
        or not np.array_equal(distinct_rows, np.sort(rows))
    ):
        return None
    extra_left_out_fold = np.repeat(left_two_out.plan.unit, left_two_out.plan.test_sizes)
    own_fold = np.repeat(left_two_out.plan.fold, left_two_out.plan.test_sizes)
    n_folds = int(max(extra_left_out_fold.max(), own_fold.max())) + 1
    fold_distance = (extra_left_out_fold - own_fold) % n_folds
    sorted_positions = np.lexsort((fold_distance, left_two_out.plan.positions[0]))
    return distinct_rows, sorted_positions.reshape(len(distinct_rows), -1).T


def stability_over_samples(
    event: Event | None,
    apparent_predictions: np.ndarray | None,
    bootstrap_samples: BootstrapPredictions | None,
) -> PredictionStability | None:
    """Compare the final model's predictions with those of models of bootstrap samples.

    Return None without samples, or for decision values.
    """
    if (
        apparent_predictions is None
        or bootstrap_samples is None
        or len(bootstrap_samples.answers) < 2
    ):
        return None
    predictions, other_predictions = apparent_predictions, bootstrap_samples.answers
    if event is not None:
        if apparent_predictions.ndim != 2:
            return None
        predictions, other_predictions = (
            event.convert_values(values, "probability")[..., 1]
            for values in (apparent_predictions, other_predictions)
        )
    label = None if event is None else event.label
    return PredictionStability.from_predictions(
        np.arange(len(apparent_predictions)),
        predictions,
        other_predictions,
        BOOTSTRAP_SOURCE_NOTE,
        event=label,
    )


def stability_over_pairs(run: HonestRun, event: Event | None) -> PredictionStability:
    """Compare held-out predictions with those of models that lack a further fold."""
    response = next(
        (response_kind for response_kind in COMPARED_RESPONSES if response_kind in run.answers),
        None,
    )
    if response is None:
        raise Refusal("decision values of several models have no common scale.")
    held_out_predictions = run.answers[response]
    left_two_out = get_pair_predictions(run, response)
    rows_and_indices = find_pair_positions(held_out_predictions, left_two_out)
    if rows_and_indices is None:
        raise Refusal(
            f"rows were tested more than once: use one repetition, {mention('outer', 'pairs')}."
        )
    rows, pair_indices = rows_and_indices
    predictions = held_out_predictions.values[0][
        np.argsort(held_out_predictions.plan.positions[0], kind="stable")
    ]
    other_predictions, factor = (
        left_two_out.values[0][pair_indices],
        max(1.0, len(pair_indices) - 1) ** 0.5,
    )
    source = PAIR_SOURCE_NOTE.format(factor=factor)
    if response == "label":
        has_changed = other_predictions != predictions
        unchanged_values, changed_values = np.zeros(len(rows)), has_changed.astype(float)
        return PredictionStability.from_other_models(
            rows, unchanged_values, changed_values, f"{LABEL_CHANGE_NOTE} {source}", has_changed
        )
    label = None
    if response == "probability":
        label = "the most probable class" if event is None else event.label
        if event is not None:
            predictions, other_predictions = (
                event.convert_values(values, "probability")[..., 1]
                for values in (predictions, other_predictions)
            )
    return PredictionStability.from_predictions(
        rows, predictions, other_predictions, source, event=label, factor=factor
    )
