"""ROC curves over all thresholds of a classifier's scores, and the area with DeLong's interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, ClassVar

import numpy as np

from truerisk.core import formats, plain_values, tables
from truerisk.core.arguments import RenamedAttribute, as_array, check_level, mention, real_array
from truerisk.core.errors import BadData, MissingResult, Refusal, first_line
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.rows import is_missing
from truerisk.results.door import load_from_package
from truerisk.results.interval import Interval
from truerisk.results.operating_points import (
    OperatingPoint,
    ThresholdCounts,
    area_under_roc_curve,
    covariance_of_areas,
    placements,
)
from truerisk.results.records import (
    UNWRITTEN,
    Column,
    NonNegative,
    PositiveCount,
    Range,
    Record,
    Share,
)

WEIGHTED_ROWS_NOTE = "DeLong's variance is not defined for weighted rows: the area has no interval."
FEW_ROWS_NOTE = (
    "DeLong's variance needs two rows (or groups) of each class: the area has no interval."
)
SEPARATED_CLASSES_NOTE = (
    "every pair is ordered alike: the area has no spread, which says nothing of its error."
)
READ_FROM_FILE_MESSAGE = (
    "this curve was read from a file, which keeps its rates and no rows: make it anew to choose a "
    "threshold or to compare it."
)


RateArray = Annotated[np.ndarray, Column("points", numbers=Range(0, 1))]


@frozen(eq=False)
class RocCurve(Record):
    """ROC curve: true against false positive rate for every threshold, and the area under it.

    A row is called positive if its score is *at least* the threshold. Equal scores have one point,
    so that every array has one entry per distinct score and one more. The interval of the area is
    DeLong's, computed from the normal distribution and cut to [0, 1].

    Parameters
    ----------
    thresholds : array of float
        The thresholds, from infinity (nothing is called positive) down to the smallest score.
    fpr : array of float
        The false positive rate at each threshold.
    tpr : array of float
        The true positive rate at each threshold.
    auc : float
        The share of (positive, negative) pairs in the right order, where ties count half.
    std_error : float or None
        The standard error of the area.
    interval : Interval or None
        The interval of the area.
    positive : label
        The positive class.
    method : str
        Where the scores come from.
    n_positive : int
        The number of positive rows.
    n_negative : int
        The number of negative rows.
    notes : tuple of str, optional
        Notes for the reader.
    fold_aucs : array, optional
        The area in each fold.
    sweep : ThresholdCounts, optional
        Counts at every threshold. They are not written to JSON, like all parameters below.
    is_positive : array of bool, optional
        True for positive rows.
    scores : array, optional
        The score of each row.
    rows : array of int, optional
        The row numbers.
    weights : array, optional
        The weights of the rows.
    groups : array, optional
        The groups of the rows.

    See Also
    --------
    RiskEstimate : Estimate of the AUC, with `scoring="roc_auc"`.
    truerisk.models.ThresholdClassifier : Classifier with a tuned threshold.

    Examples
    --------
    >>> roc = RocCurve.from_scores([0, 0, 1, 1, 1], [0.1, 0.4, 0.35, 0.8, 0.9])
    >>> print(roc)
    AUC 0.8333, 95 % interval [0.3714, 1.0000] (delong), 3 of class 1 + 2 rows (given scores)
    >>> roc.fpr.tolist(), roc.thresholds.tolist()
    ([0.0, 0.0, 0.0, 0.5, 0.5, 1.0], [inf, 0.9, 0.8, 0.4, 0.35, 0.1])
    """

    schema: ClassVar[str] = "truerisk.roc-curve/2"

    thresholds: Annotated[np.ndarray, Column("points", least=2)] = field(repr=False)
    fpr: RateArray = field(repr=False)
    tpr: RateArray = field(repr=False)
    auc: Share
    std_error: NonNegative | None
    interval: Interval | None
    positive: Any
    method: str
    n_positive: PositiveCount
    n_negative: PositiveCount
    notes: tuple[str, ...] = ()
    fold_aucs: np.ndarray | None = None
    sweep: ThresholdCounts | None = field(default=None, repr=False, metadata=UNWRITTEN)
    is_positive: np.ndarray = field(
        default_factory=lambda: np.zeros(0, bool), repr=False, metadata=UNWRITTEN
    )
    scores: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False, metadata=UNWRITTEN)
    rows: np.ndarray = field(
        default_factory=lambda: np.zeros(0, int), repr=False, metadata=UNWRITTEN
    )
    weights: np.ndarray | None = field(default=None, repr=False, metadata=UNWRITTEN)
    groups: np.ndarray | None = field(default=None, repr=False, metadata=UNWRITTEN)

    of = RenamedAttribute("from_scores")

    @classmethod
    def from_scores(
        cls,
        y: Any,
        scores: Any,
        *,
        positive: Any = None,
        weights: Any = None,
        groups: Any = None,
        rows: Any = None,
        confidence_level: float = 0.95,
        method: str = "given scores",
        fold_aucs: np.ndarray | None = None,
        notes: tuple[str, ...] = (),
    ) -> RocCurve:
        """Compute the curve of scores that increase with the probability of `positive`.

        `positive` is by default the second class in sorted order. `groups` are clusters of rows
        that may depend on each other; the interval is then Obuchowski's (1997).

        Parameters
        ----------
        y : array, shape (n_rows,)
            The labels, of two classes.
        scores : array, shape (n_rows,)
            The scores, which increase with the probability of `positive`.
        positive : label, optional
            The positive class. The default is the second class in sorted order.
        weights : array, shape (n_rows,), optional
            The weights of the rows.
        groups : array, shape (n_rows,), optional
            Clusters of rows that may depend on each other.
        rows : array of int, shape (n_rows,), optional
            The row numbers, by which two curves are paired.
        confidence_level : float, default=0.95
            The nominal coverage of the interval of the area.
        method : str, default="given scores"
            Where the scores come from.
        fold_aucs : array, optional
            The area in each fold.
        notes : tuple of str, optional
            Notes for the reader.

        Returns
        -------
        RocCurve
            The curve.
        """
        scores, classes, is_positive = _check_scores(y, scores, positive)
        row_weights = None if weights is None else _to_real_numbers(weights, len(scores), "weights")
        group_labels = (
            None if groups is None else _check_labels(_check_length(groups, len(scores), "groups"))
        )
        if row_weights is not None and (
            not np.isfinite(row_weights).all() or (row_weights < 0).any()
        ):
            raise BadData("weights are finite and not negative.")
        if row_weights is not None and not (
            row_weights[is_positive].any() and row_weights[~is_positive].any()
        ):
            raise BadData("a class has no weight at all: there is no curve.")
        auc = area_under_roc_curve(scores, is_positive, row_weights)
        delong_result = _delong_interval(
            auc, scores, is_positive, row_weights, group_labels, confidence_level
        )
        sweep = ThresholdCounts.from_scores(scores, is_positive, row_weights)
        return cls(
            thresholds=sweep.thresholds,
            fpr=sweep.false_positives / sweep.n_negative,
            tpr=sweep.true_positives / sweep.n_positive,
            sweep=sweep,
            auc=auc,
            std_error=delong_result[0],
            interval=delong_result[1],
            positive=plain_values.to_json_value(classes[1] if positive is None else positive),
            method=method,
            n_positive=int(is_positive.sum()),
            n_negative=int((~is_positive).sum()),
            notes=(*notes, *delong_result[2]),
            fold_aucs=fold_aucs,
            is_positive=is_positive,
            scores=scores,
            rows=np.arange(len(scores)) if rows is None else np.asarray(rows),
            weights=row_weights,
            groups=group_labels,
        )

    @classmethod
    def plot_models(
        cls,
        models: Any,
        X: Any,
        y: Any,
        *,
        positive: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Any:
        """Draw the ROC curves of several fitted classifiers on test rows (needs matplotlib).

        Parameters
        ----------
        models : dict of str to estimator
            The fitted classifiers by name, such as tuned searches. Their scores are
            probabilities of the positive class, or decision values if there are none.
        X : array, shape (n_samples, n_features)
            The test rows, on which no model was fitted.
        y : array, shape (n_samples,)
            The classes of the test rows, two of them.
        positive : label, optional
            The positive class. The default is the second of the sorted classes.
        ax : matplotlib Axes, optional
            The axes to draw on. By default new axes are made.
        **options
            Further options of `from_scores`.

        Returns
        -------
        matplotlib Axes
            The axes with a line for each model; the legend has the areas with their intervals.
        """
        if not isinstance(models, Mapping) or not models:
            raise BadData("models: give a dict of fitted classifiers by their names.")
        labels = np.unique(_check_labels(np.asarray(y), "y")).tolist()
        label = labels[-1] if positive is None else positive
        curves = {
            name: cls.from_scores(
                y,
                _scores_of_model(name, model, X, label),
                positive=label,
                method="test rows",
                **options,
            )
            for name, model in models.items()
        }
        (first_name, first_curve), *others = curves.items()
        return first_curve.plot(ax=ax, label=first_name, others=dict(others))

    @property
    def flaw(self) -> tuple[str, str] | None:
        """Name and requirement of an invalid field, or None if all fields are valid.

        A field of a record that was read from a file may be invalid.
        """
        if not np.isfinite(self.thresholds[1:]).all():
            return "thresholds", "finite but for the first"
        are_rising = all(
            (np.diff(rates) >= 0).all() and rates[-1] == 1 for rates in (self.fpr, self.tpr)
        )
        return None if are_rising else ("fpr", "rising to 1, like 'tpr'")

    @property
    def _threshold_counts(self) -> ThresholdCounts:
        """Counts of true and false positives at each threshold."""
        if self.sweep is None:
            raise MissingResult(READ_FROM_FILE_MESSAGE)
        return self.sweep

    def precision_recall(self) -> PrecisionRecall:
        """Return the curve of precision against recall, from the highest threshold down.

        Returns
        -------
        PrecisionRecall
            The curve of precision against recall.
        """
        return PrecisionRecall.from_sweep(self._threshold_counts, self.method)

    def at(self, threshold: float) -> OperatingPoint:
        """Return the operating point of the rule "positive if score ≥ threshold".

        Parameters
        ----------
        threshold : float
            The threshold.

        Returns
        -------
        OperatingPoint
            Sensitivity, specificity and precision at the threshold.
        """
        return self._threshold_counts.operating_point_at(threshold)

    def at_cost(
        self,
        false_positive: float = 1.0,
        false_negative: float = 1.0,
        *,
        prevalence: float | None = None,
    ) -> OperatingPoint:
        """Return the operating point with the least mean cost per row.

        Parameters
        ----------
        false_positive : float, default=1.0
            The cost of a false positive.
        false_negative : float, default=1.0
            The cost of a false negative.
        prevalence : float, optional
            The share of positives where the rule will be used. The default is the share among the
            rows.

        Returns
        -------
        OperatingPoint
            The threshold with its rates.

        Examples
        --------
        >>> RocCurve.from_scores([0, 0, 1, 1, 1], [0.1, 0.4, 0.35, 0.8, 0.9]).at_cost(
        ...     1, 5
        ... ).threshold
        0.35
        """
        return self._threshold_counts.at_cost(false_positive, false_negative, prevalence)

    def at_rate(
        self,
        *,
        sensitivity: float | None = None,
        specificity: float | None = None,
        precision: float | None = None,
    ) -> OperatingPoint:
        """Return the operating point that reaches a required rate and is otherwise best.

        Parameters
        ----------
        sensitivity : float, optional
            The required sensitivity.
        specificity : float, optional
            The required specificity.
        precision : float, optional
            The required precision. Exactly one of the three is given.

        Returns
        -------
        OperatingPoint
            The threshold with its rates.

        Examples
        --------
        >>> print(RocCurve.from_scores([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).at_rate(specificity=1))
        threshold 0.8 (specificity ≥ 1): sensitivity 0.5000, specificity 1.0000, precision 1.0000
        """
        required_rates = {
            "sensitivity": sensitivity,
            "specificity": specificity,
            "precision": precision,
        }
        return self._threshold_counts.at_rate(
            {n: rate for n, rate in required_rates.items() if rate is not None}
        )

    def minus(self, other: RocCurve, confidence_level: float = 0.95) -> AreaDifference:
        """Return this AUC minus the AUC of another curve on the same rows, with DeLong's interval.

        Parameters
        ----------
        other : RocCurve
            The other curve.
        confidence_level : float, default=0.95
            The nominal coverage of the interval of the difference.

        Returns
        -------
        AreaDifference
            The difference with its interval.
        """
        return AreaDifference.from_curves(self, other, confidence_level)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the ROC curve, and further curves (needs matplotlib).

        The option `others` maps names to the further curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default new axes are made.
        **options
            Further options of the plot.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.
        """
        return load_from_package("roc")(self, ax=ax, **options)

    def __str__(self) -> str:
        uncertainty = formats.format_uncertainty(self.std_error, self.interval)
        positive = formats.escape_and_truncate(str(self.positive), 40)
        counts_text = f"{self.n_positive} of class {positive} + {self.n_negative} rows"
        return f"AUC {self.auc:.4f}{uncertainty}, {counts_text} ({self.method})"

    @override
    def blocks(self) -> list[tables.Block]:
        interval_text = (
            "none" if self.interval is None else f"{self.interval} ({self.interval.method})"
        )
        rows = [
            ["AUC", formats.format_number(self.auc)],
            ["standard error", formats.format_number(self.std_error)],
            ["interval", interval_text],
            ["positive class", f"{self.positive} ({self.n_positive} rows)"],
            ["negative rows", str(self.n_negative)],
            ["scores", self.method],
        ]
        rows += [["note", note] for note in self.notes]
        return [tables.Block("ROC", ["", ""], rows)]


@frozen(eq=False)
class PrecisionRecall:
    """Precision and recall at thresholds in falling order.

    Thresholds at which no row is called positive are omitted.

    `average_precision` is Σ (recall_k − recall_{k−1}) · precision_k, as in scikit-learn.
    """

    thresholds: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    average_precision: float
    prevalence: float
    method: str

    @classmethod
    def from_sweep(cls, sweep: ThresholdCounts, method: str) -> PrecisionRecall:
        """Compute precision and recall from the counts at each threshold.

        Thresholds at which no row is called positive are omitted.
        """
        n_called_positive = sweep.true_positives + sweep.false_positives
        has_positive_calls = n_called_positive > 0
        precision = sweep.true_positives[has_positive_calls] / n_called_positive[has_positive_calls]
        recall = sweep.true_positives[has_positive_calls] / sweep.n_positive
        return cls(
            thresholds=sweep.thresholds[has_positive_calls],
            precision=precision,
            recall=recall,
            average_precision=float(np.diff(recall, prepend=0.0) @ precision),
            prevalence=sweep.n_positive / (sweep.n_positive + sweep.n_negative),
            method=method,
        )

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw precision against recall (needs matplotlib)."""
        return load_from_package("precision-recall")(self, ax=ax, **options)

    def __str__(self) -> str:
        return (
            f"average precision {self.average_precision:.4f}, "
            f"prevalence {self.prevalence:.4f} ({self.method})"
        )


@frozen
class AreaDifference:
    """AUC of the first curve minus AUC of the second on the same rows, by DeLong et al. (1988)."""

    difference: float
    std_error: float | None
    z: float | None
    p_value: float | None
    interval: Interval | None
    notes: tuple[str, ...] = ()

    @classmethod
    def from_curves(cls, a: RocCurve, b: RocCurve, confidence_level: float) -> AreaDifference:
        """Compute the difference between the areas under two curves.

        Refusal is raised if the curves belong to different rows.
        """
        if a.sweep is None or b.sweep is None:
            raise MissingResult(READ_FROM_FILE_MESSAGE)
        has_same_rows = np.array_equal(a.rows, b.rows) and np.array_equal(
            a.is_positive, b.is_positive
        )
        if not has_same_rows:
            raise Refusal("the two curves are of different rows: their areas are not paired.")
        if a.weights is not None or b.weights is not None:
            raise Refusal(WEIGHTED_ROWS_NOTE)
        components = np.array([placements(curve.scores, curve.is_positive) for curve in (a, b)])
        area_covariance = covariance_of_areas(components, a.is_positive, a.groups)
        difference = a.auc - b.auc
        if area_covariance is None:
            return cls(difference, None, None, None, None, (FEW_ROWS_NOTE,))
        std_error = float(
            np.sqrt(
                max(area_covariance[0, 0] + area_covariance[1, 1] - 2 * area_covariance[0, 1], 0.0)
            )
        )
        if std_error <= 1e-12:
            return cls(difference, None, None, None, None, (SEPARATED_CLASSES_NOTE,))
        from scipy.special import ndtr

        z, possible_range = difference / std_error, (-1.0, 1.0)
        interval = Interval.normal(
            difference, std_error, "delong", confidence_level, possible_range
        )
        return cls(difference, std_error, z, float(2 * ndtr(-abs(z))), interval)

    def __str__(self) -> str:
        uncertainty = formats.format_uncertainty(self.std_error, self.interval)
        p_text = "" if self.p_value is None else f", p {self.p_value:.4g}"
        return f"AUC difference {self.difference:+.4f}{uncertainty}{p_text}"


def _scores_of_model(name: str, model: Any, X: Any, positive: Any) -> np.ndarray:
    """Return a classifier's probabilities of the positive class, or its decision values."""
    classes = np.asarray(getattr(model, "classes_", ())).tolist()
    if positive not in classes:
        raise BadData(
            f"models: {name!r} has no class {positive!r}: give classifiers that are fitted to the "
            "classes of y."
        )
    place = classes.index(positive)
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))[:, place]
    if not hasattr(model, "decision_function"):
        raise BadData(f"models: {name!r} gives neither probabilities nor decision values.")
    values = np.asarray(model.decision_function(X))
    return values[:, place] if values.ndim == 2 else values if place == 1 else -values


def _check_scores(y: Any, scores: Any, positive: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Check `y` and the scores of the rows.

    The result holds the scores, the two sorted classes and a mask of the positive rows.
    """
    labels = np.asarray(y)
    try:
        score_values = as_array(scores, np.float64)
    except ValueError as error:
        raise BadData(f"scores are no numbers: {error}.") from None
    if labels.ndim != 1 or score_values.shape != labels.shape:
        raise BadData(
            f"y has shape {labels.shape} and scores {score_values.shape}: give one label and one "
            "score per row (of the positive class alone)."
        )
    if not np.isfinite(score_values).all():
        row = int(np.flatnonzero(~np.isfinite(score_values))[0])
        raise BadData(
            f"the score of row {row} is {score_values[row]}: non-finite scores have no order."
        )
    classes = np.unique(_check_labels(labels, "y"))
    if len(classes) != 2:
        raise BadData(f"y holds {len(classes)} classes: a ROC curve needs two.")
    if positive is not None and positive not in classes.tolist():
        raise BadData(
            f"{mention('positive', positive)} is no class of y ({classes[0]}, {classes[1]})."
        )
    return score_values, classes, labels == (classes[1] if positive is None else positive)


def _check_labels(values: np.ndarray, name: str = "groups") -> np.ndarray:
    """Return class or group labels unchanged; raise BadData if a row has no label."""
    rows_without_label = [row for row, label in enumerate(values.tolist()) if is_missing(label)]
    if rows_without_label:
        raise BadData(f"{name} has no label in row {rows_without_label[0]}: give one for each row.")
    return values


def _check_length(values: Any, n_scores: int, name: str) -> np.ndarray:
    array = np.asarray(values)
    if array.shape != (n_scores,):
        raise BadData(f"{name} has shape {array.shape} and there are {n_scores} scores.")
    return array


def _to_real_numbers(values: Any, n_scores: int, name: str) -> np.ndarray:
    """Convert row weights to real numbers; raise BadData unless each score has one weight."""
    try:
        return real_array(_check_length(values, n_scores, name))
    except (TypeError, ValueError) as error:
        raise BadData(f"{name} are no numbers: {first_line(error)}.") from None


def _delong_interval(
    auc: float,
    scores: np.ndarray,
    is_positive: np.ndarray,
    weights: np.ndarray | None,
    groups: np.ndarray | None,
    level: float,
) -> tuple[float | None, Interval | None, tuple[str, ...]]:
    """Return DeLong's standard error and interval of the AUC, with notes.

    Without an interval the values are None, and the notes give the reason.
    """
    check_level("confidence_level", level)
    if weights is not None:
        return None, None, (WEIGHTED_ROWS_NOTE,)
    area_covariance = covariance_of_areas(
        placements(scores, is_positive)[None, :], is_positive, groups
    )
    if area_covariance is None:
        return None, None, (FEW_ROWS_NOTE,)
    std_error = float(np.sqrt(max(area_covariance[0, 0], 0.0)))
    if std_error <= 1e-12:
        return None, None, (SEPARATED_CLASSES_NOTE,)
    interval_name = "delong" if groups is None else "delong-grouped"
    return std_error, Interval.normal(auc, std_error, interval_name, level, (0.0, 1.0)), ()
