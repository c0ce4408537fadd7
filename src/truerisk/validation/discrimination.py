"""Discrimination between rows with and without the event, and net benefit of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Literal

import numpy as np

from truerisk.core import formats, tables
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.results.interval import t_quantile
from truerisk.results.records import PointArray, Record, Share
from truerisk.results.roc import RocCurve
from truerisk.validation.calibration_fits import sum_by_cluster
from truerisk.validation.gain import gain_interval
from truerisk.validation.measures import Measured, MeasuredPart
from truerisk.validation.outcomes import HeldOut, Outcomes

POOLED_SCORES_NOTE = (
    "scores of different models are pooled: their scales may differ from fold to fold."
)
NO_AUC_INTERVAL_NOTE = (
    "this AUC of the pooled predictions has no interval: it would treat the rows as tests of one "
    "model, but every fold had its own. scoring='auc' gives an AUC whose interval accounts for it."
)
AUC_AMONG_MEASURES_NOTE = "the area is the AUC, whose interval stands among the measures."


@frozen(eq=False)
class Discrimination(MeasuredPart):
    """AUC, average precision, R² and D (`measures`), and the ROC curve of held-out predictions.

    AUC and average precision are averaged like the scores of a search, with their intervals. The
    curve pools the predictions of all folds, so that its area may differ a little. The predictions
    of a finished model form one test set.
    """

    event: str
    measures: Mapping[str, Measured]
    roc: RocCurve | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    @classmethod
    def from_held_out(
        cls,
        held_out: HeldOut,
        outcomes: Outcomes,
        event: str,
        measures: Mapping[str, Measured],
        *,
        is_one_model: bool = False,
    ) -> Discrimination:
        """Create the record; it has no ROC curve if all rows have the event, or none has it."""
        if outcomes.has_one_class:
            return cls(event, measures)
        roc = RocCurve.from_scores(
            held_out.truth == 1,
            held_out.answers if held_out.answers.ndim == 1 else held_out.answers[:, 1],
            weights=held_out.weights,
            groups=held_out.rows if held_out.groups is None else held_out.groups,
            rows=held_out.rows,
            method="held-out answers",
        )
        if is_one_model:
            roc_without_interval = replace(
                roc, std_error=None, interval=None, notes=(AUC_AMONG_MEASURES_NOTE,)
            )
            return cls(event, measures, roc_without_interval)
        return cls(event, measures, drop_roc_interval(roc, is_pooled=held_out.response == "score"))


def drop_roc_interval(curve: RocCurve, *, is_pooled: bool) -> RocCurve:
    """Return the ROC curve without DeLong's interval, which ignores folds, with notes that say so.

    `is_pooled` says that the scores are those of several models.
    """
    notes = (POOLED_SCORES_NOTE, NO_AUC_INTERVAL_NOTE) if is_pooled else (NO_AUC_INTERVAL_NOTE,)
    return replace(curve, std_error=None, interval=None, notes=notes)


PRINTED_THRESHOLDS = (
    0.05,
    0.1,
    0.2,
    0.3,
    0.5,
)  # If more than `MAX_PRINTED_THRESHOLDS` are given, the thresholds nearest to these are printed.
MAX_PRINTED_THRESHOLDS = (
    10  # If at most this number of thresholds was requested, all of them are printed.
)
MAX_LISTED_RANGES = 4  # largest number of ranges of neighbouring thresholds that a sentence lists


@frozen(eq=False)
class NetBenefit(Record):
    """Net benefit `NB(t) = TP/n − FP/n · t/(1 − t)` of treating all rows with p ≥ t.

    See Vickers and Elkin (2006). A false positive costs t/(1 − t) of the benefit of a true
    positive: this is implied by treating from probability t on. `treat_all` is the net benefit of
    treating everybody; that of treating nobody is 0. The net benefit is a mean over rows, so that
    `low` and `high` are Wald's pointwise limits, with the rows of a group summed first. With groups
    the quantile is that of t with one degree of freedom fewer than groups. `apparent` is computed
    on the training rows of the final model (None for a finished model), and `corrected` is
    `apparent` minus its optimism. `gain_low` and `gain_high` are simultaneous intervals, over all
    thresholds, of the paired difference between the model and the better one of treating everybody
    and nobody. `gain_over_treat_all` is the net benefit of the model minus that of treating
    everybody, on the same rows, with Wald's pointwise limits; the difference from treating nobody
    is the net benefit itself. If some folds chose other settings than the final model, all
    intervals are around `of_final_model`.
    """

    event: str
    thresholds: PointArray = field(repr=False)
    honest: PointArray = field(repr=False)
    low: PointArray | None = field(repr=False)
    high: PointArray | None = field(repr=False)
    treat_all: PointArray = field(repr=False)
    treat_all_low: PointArray | None = field(repr=False)
    treat_all_high: PointArray | None = field(repr=False)
    apparent: PointArray | None = field(repr=False)
    corrected: PointArray | None = field(repr=False)
    confidence_level: Share = 0.95
    notes: tuple[str, ...] = ()
    gain_low: PointArray | None = field(default=None, repr=False)
    gain_high: PointArray | None = field(default=None, repr=False)
    gain_over_treat_all: PointArray | None = field(default=None, repr=False)
    gain_over_treat_all_low: PointArray | None = field(default=None, repr=False)
    gain_over_treat_all_high: PointArray | None = field(default=None, repr=False)

    @classmethod
    def from_outcomes(
        cls,
        outcomes: Outcomes,
        thresholds: np.ndarray,
        *,
        event: str,
        apparent: np.ndarray | None,
        corrected: np.ndarray | None,
        confidence_level: float = 0.95,
        is_certain: bool = True,
        notes: tuple[str, ...] = (),
        of_setting: Outcomes | None = None,
    ) -> NetBenefit:
        """Compute the net benefit of held-out predictions at each threshold, with its intervals.

        `apparent` and `corrected` are values of the model that was fitted on all rows. There are no
        intervals unless `is_certain`. They are computed from `of_setting` if it is given:
        predictions for the same held-out rows by models with the setting of the final model.
        """
        quantile = t_quantile(confidence_level, outcomes.degrees_of_freedom)
        honest_benefit, _ = net_benefits(outcomes, thresholds)
        interval_outcomes = outcomes if of_setting is None else of_setting
        interval_center, std_error = net_benefits(interval_outcomes, thresholds)
        treat_all, treat_all_error = net_benefits(outcomes, thresholds, "treat all")
        gain, gain_error = net_benefits(interval_outcomes, thresholds, "model minus treat all")
        gain_low, gain_high = None, None
        if is_certain:
            gain_low, gain_high = gain_interval(interval_outcomes, thresholds, confidence_level)
        return cls(
            event=event,
            thresholds=thresholds,
            honest=honest_benefit,
            low=interval_center - quantile * std_error if is_certain else None,
            high=interval_center + quantile * std_error if is_certain else None,
            treat_all=treat_all,
            treat_all_low=treat_all - quantile * treat_all_error if is_certain else None,
            treat_all_high=treat_all + quantile * treat_all_error if is_certain else None,
            apparent=apparent,
            corrected=corrected,
            confidence_level=confidence_level,
            notes=notes,
            gain_low=gain_low,
            gain_high=gain_high,
            gain_over_treat_all=gain,
            gain_over_treat_all_low=gain - quantile * gain_error if is_certain else None,
            gain_over_treat_all_high=gain + quantile * gain_error if is_certain else None,
        )

    @property
    def of_final_model(self) -> np.ndarray | None:
        """Estimate of the final model's net benefit; None unless the intervals are around it.

        It is the middle of the intervals, which differs from the held-out value if some folds chose
        other settings than the final model.
        """
        if self.low is None or self.high is None:
            return None
        center = (self.low + self.high) / 2
        return None if np.allclose(center, self.honest, rtol=0, atol=1e-9) else center

    def __str__(self) -> str:
        (table,) = self.blocks()
        return f"{table.text}\n{self.sentence}"

    @override
    def blocks(self) -> list[tables.Block]:
        columns = {
            "apparent": self.apparent, "value" if self.apparent is None else "honest": self.honest,
            "final model": self.of_final_model,
            "low": self.low, "high": self.high, "corrected": self.corrected,
            "treat all": self.treat_all, "− treat all": self.gain_over_treat_all,
            "diff. low": self.gain_over_treat_all_low, "diff. high": self.gain_over_treat_all_high,
        }  # fmt: skip
        printed = np.arange(len(self.thresholds))
        if len(printed) > MAX_PRINTED_THRESHOLDS:
            distances = np.abs(np.subtract.outer(PRINTED_THRESHOLDS, self.thresholds))
            printed = np.unique(distances.argmin(axis=1))
        rows = [
            [
                f"{self.thresholds[index]:g}",
                *(
                    formats.format_number(None if values is None else float(values[index]))
                    for values in columns.values()
                ),
            ]
            for index in printed
        ]
        header, rows = tables.drop_empty_columns(["threshold", *columns], rows)
        return [tables.Block(self.sentence, header, rows)]

    @property
    def sentence(self) -> str:
        """Sentence on the thresholds at which the model is better than treating all or none."""
        if len(self.thresholds) == 1:
            return self._single_threshold_sentence
        level_text = formats.format_percent(self.confidence_level)
        if self.gain_low is None:
            is_better = self.honest > np.maximum(self.treat_all, 0)
            if not is_better.any():
                return "At no threshold does the model gain more than treating everybody or nobody."
            return (
                "On the held-out rows the model gains more than treating everybody or nobody "
                f"{self._describe_thresholds(is_better)}. There is no interval, so this may be "
                "chance."
            )
        is_positive = self.gain_low > 0
        if not is_positive.any():
            return (
                "At no threshold is it shown that the model gains more than treating everybody or "
                f"nobody: no {level_text} interval of the difference, simultaneous over "
                "thresholds, lies above 0."
            )
        return (
            "The model gains more than treating everybody or nobody "
            f"{self._describe_thresholds(is_positive)}: there the {level_text} interval of the "
            "difference, simultaneous over thresholds, lies above 0."
        )

    @property
    def _single_threshold_sentence(self) -> str:
        model_gain, treat_all_text = map(formats.format_number, (self.honest[0], self.treat_all[0]))
        gain_text = (
            f"Deciding by the model, from a probability of {self.thresholds[0]:.15g} on, gains "
            f"{model_gain} true positives per row, false ones weighed off; treating everybody "
            f"gains {treat_all_text}, nobody 0."
        )
        if self.gain_low is None or self.gain_high is None:
            return gain_text
        final_value = self.of_final_model
        gain_value = (self.honest if final_value is None else final_value)[0] - max(
            self.treat_all[0], 0.0
        )
        gain_value_text, low, high = map(
            formats.format_number, (gain_value, self.gain_low[0], self.gain_high[0])
        )
        level_text = formats.format_percent(self.confidence_level)
        subject = "The gain" if final_value is None else "The gain of the final model"
        return (
            f"{gain_text} {subject} over the better of these is {gain_value_text} "
            f"({level_text} {low} to {high})."
        )

    def _describe_thresholds(self, is_chosen: np.ndarray) -> str:
        """Describe the thresholds marked by `is_chosen`: their number, and the ranges they form."""
        thresholds, n_chosen = self.thresholds, int(is_chosen.sum())
        count_text = (
            f"at {n_chosen} of {len(thresholds)} thresholds"
            if n_chosen < len(thresholds)
            else "at every threshold"
        )
        run_boundaries = np.flatnonzero(
            np.diff(np.concatenate([[False], is_chosen, [False]]).astype(int))
        )
        first_thresholds, last_thresholds = (
            thresholds[run_boundaries[::2]],
            thresholds[run_boundaries[1::2] - 1],
        )
        threshold_ranges = [
            f"{first_threshold:g} to {last_threshold:g}"
            if first_threshold < last_threshold
            else f"{first_threshold:g}"
            for first_threshold, last_threshold in zip(
                first_thresholds, last_thresholds, strict=True
            )
        ]
        if len(threshold_ranges) > MAX_LISTED_RANGES:
            threshold_ranges = [
                f"{thresholds[is_chosen].min():g} to {thresholds[is_chosen].max():g}, with gaps"
            ]
        return f"{count_text} ({formats.join_words(threshold_ranges)})"


def net_benefits(
    outcomes: Outcomes,
    thresholds: np.ndarray,
    rule: Literal["model", "treat all", "model minus treat all"] = "model",
) -> tuple[np.ndarray, np.ndarray]:
    """Return the net benefit of a rule at each threshold and its standard error.

    The rule "model minus treat all" stands for the net benefit of the model minus that of treating
    everybody.

    >>> rows = Outcomes.from_predictions(np.array([1, 0, 1, 0]), np.array([0.9, 0.6, 0.4, 0.1]))
    >>> net_benefits(rows, np.array([0.2, 0.5]))[0].tolist()
    [0.4375, 0.0]
    """
    observed, n = outcomes.observed, outcomes.n
    benefits, std_errors = np.empty(len(thresholds)), np.empty(len(thresholds))
    for index, threshold in enumerate(thresholds):
        gain_if_treated = observed - (1 - observed) * threshold / (1 - threshold)
        is_treated = outcomes.predictions >= threshold
        gains = {
            "model": np.where(is_treated, gain_if_treated, 0.0),
            "treat all": gain_if_treated,
            "model minus treat all": np.where(is_treated, 0.0, -gain_if_treated),
        }[rule]
        benefits[index] = outcomes.mean(gains)
        cluster_sums = sum_by_cluster(
            outcomes.weights * (gains - benefits[index]) / n, outcomes.clusters
        )
        std_errors[index] = np.sqrt(
            cluster_sums @ cluster_sums * len(cluster_sums) / max(len(cluster_sums) - 1, 1)
        )
    return benefits, std_errors
