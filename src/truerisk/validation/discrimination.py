"""Discrimination of rows with and without the event, and the net benefit of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

import numpy as np

from truerisk.core import formats, tables
from truerisk.core.frozen import frozen
from truerisk.results.interval import quantile_of_t
from truerisk.results.records import Points, Record, Share
from truerisk.results.roc import RocCurve
from truerisk.validation.calibration_fits import sums_by_member
from truerisk.validation.gain import gain_interval
from truerisk.validation.measures import Measured, MeasuredPart
from truerisk.validation.outcomes import HeldOut, Outcomes

POOLED = "scores of different models are pooled: their scales may differ from fold to fold."
NO_INTERVAL = (
    "this area of pooled answers has no interval: it would treat the rows as tests of one model, "
    "and every fold had its own. scoring='auc' gives the AUC with an interval that counts that."
)
AMONG_MEASURES = "the area is the AUC, whose interval stands among the measures."


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
        held: HeldOut,
        outcomes: Outcomes,
        event: str,
        measures: Mapping[str, Measured],
        *,
        one_rule: bool = False,
    ) -> Discrimination:
        """Collect the parts for two outcomes; there is no curve if one of them never occurred."""
        if outcomes.of_one_class:
            return cls(event, measures)
        roc = RocCurve.from_scores(
            held.truth == 1,
            held.answers if held.answers.ndim == 1 else held.answers[:, 1],
            weights=held.weights,
            groups=held.rows if held.groups is None else held.groups,
            rows=held.rows,
            method="held-out answers",
        )
        if one_rule:
            bare = replace(roc, std_error=None, interval=None, notes=(AMONG_MEASURES,))
            return cls(event, measures, bare)
        return cls(event, measures, without_interval(roc, pooled=held.response == "score"))


def without_interval(curve: RocCurve, *, pooled: bool) -> RocCurve:
    """Return the curve without DeLong's interval, which ignores folds; the notes say so.

    `pooled` says that the scores are those of several models.
    """
    notes = (POOLED, NO_INTERVAL) if pooled else (NO_INTERVAL,)
    return replace(curve, std_error=None, interval=None, notes=notes)


SHOWN = (0.05, 0.1, 0.2, 0.3, 0.5)  # Thresholds that are printed if they are among the chosen ones.
MOST_SHOWN = 10  # Up to this number of thresholds, all are shown.
MOST_RUNS = 4  # largest number of runs of neighbouring thresholds that a sentence lists


@frozen(eq=False)
class NetBenefit(Record):
    r"""Net benefit `NB(t) = TP/n − FP/n · t/(1 − t)` of treating all rows with p ≥ t.

    See Vickers and Elkin (2006). A false positive costs t/(1 − t) of the benefit of a true
    positive: this is implied by treating from probability t on. `treat_all` is the net benefit of
    treating everybody; that of treating nobody is 0. The net benefit is a mean over rows, so that
    `low` and `high` are Wald's pointwise limits, with the rows of a group summed first. With groups
    the quantile is that of t with one degree of freedom fewer than groups. `apparent` is computed
    on the rows of the fit (None for a finished model), and `corrected` is that minus its optimism.
    `gain_low` and `gain_high` are simultaneous intervals, over all thresholds, of the paired
    difference between the model and the better one of treating everybody and nobody. If some folds
    chose other settings than the final model, all intervals are around `of_final_model`.
    """

    event: str
    thresholds: Points = field(repr=False)
    honest: Points = field(repr=False)
    low: Points | None = field(repr=False)
    high: Points | None = field(repr=False)
    treat_all: Points = field(repr=False)
    treat_all_low: Points | None = field(repr=False)
    treat_all_high: Points | None = field(repr=False)
    apparent: Points | None = field(repr=False)
    corrected: Points | None = field(repr=False)
    confidence_level: Share = 0.95
    notes: tuple[str, ...] = ()
    gain_low: Points | None = field(default=None, repr=False)
    gain_high: Points | None = field(default=None, repr=False)

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
        """Compute net benefits on held-out rows, and those of the fit on all rows.

        There are no intervals unless `is_certain`. They are computed from `of_setting` if it is
        given: predictions for the same held-out rows by models with the setting of the final model.
        """
        z = quantile_of_t(confidence_level, outcomes.degrees)
        honest, _ = net_benefits(outcomes, thresholds)
        certain = outcomes if of_setting is None else of_setting
        middle, error = net_benefits(certain, thresholds)
        everybody, spread = net_benefits(outcomes, thresholds, everybody=True)
        gain_low, gain_high = None, None
        if is_certain:
            gain_low, gain_high = gain_interval(certain, thresholds, confidence_level)
        return cls(
            event=event,
            thresholds=thresholds,
            honest=honest,
            low=middle - z * error if is_certain else None,
            high=middle + z * error if is_certain else None,
            treat_all=everybody,
            treat_all_low=everybody - z * spread if is_certain else None,
            treat_all_high=everybody + z * spread if is_certain else None,
            apparent=apparent,
            corrected=corrected,
            confidence_level=confidence_level,
            notes=notes,
            gain_low=gain_low,
            gain_high=gain_high,
        )

    @property
    def of_final_model(self) -> np.ndarray | None:
        """Estimate of the final model's net benefit; None unless the intervals are around it.

        It is the middle of the intervals, which differs from the held-out value if some folds chose
        other settings than the final model.
        """
        if self.low is None or self.high is None:
            return None
        middle = (self.low + self.high) / 2
        return None if np.allclose(middle, self.honest, rtol=0, atol=1e-9) else middle

    def __str__(self) -> str:
        columns = {
            "apparent": self.apparent, "honest": self.honest, "final model": self.of_final_model,
            "low": self.low, "high": self.high, "corrected": self.corrected,
            "treat all": self.treat_all,
        }  # fmt: skip
        if self.apparent is None:
            del columns["apparent"], columns["corrected"]
        if self.of_final_model is None:
            del columns["final model"]
        few = len(self.thresholds) <= MOST_SHOWN
        near = np.abs(np.subtract.outer(self.thresholds, SHOWN)).min(axis=1) < 1e-9
        rows = [
            [
                f"{self.thresholds[at]:g}",
                *(
                    formats.number(None if one is None else float(one[at]))
                    for one in columns.values()
                ),
            ]
            for at in (range(len(self.thresholds)) if few else np.flatnonzero(near))
        ]
        return f"{tables.text_table(['threshold', *columns], rows)}\n{self.sentence}"

    @property
    def sentence(self) -> str:
        """The thresholds at which the model is shown to be better than treating all or none."""
        if len(self.thresholds) == 1:
            return self._sentence_of_one
        level = formats.percent(self.confidence_level)
        if self.gain_low is None:
            above = self.honest > np.maximum(self.treat_all, 0)
            if not above.any():
                return "At no threshold does the model gain more than treating everybody or nobody."
            return (
                "On the held-out rows the model gains more than treating everybody or nobody "
                f"{self._places(above)}. There is no interval, so this may be chance."
            )
        shown = self.gain_low > 0
        if not shown.any():
            return (
                "At no threshold is it shown that the model gains more than treating everybody or "
                f"nobody: no {level} interval of the difference, simultaneous over thresholds, "
                "lies above 0."
            )
        return (
            f"The model gains more than treating everybody or nobody {self._places(shown)}: there "
            f"the {level} interval of the difference, simultaneous over thresholds, lies above 0."
        )

    @property
    def _sentence_of_one(self) -> str:
        honest, everybody = map(formats.number, (self.honest[0], self.treat_all[0]))
        gain_text = (
            f"Deciding by the model, from a probability of {self.thresholds[0]:.15g} on, gains "
            f"{honest} true positives per row, false ones weighed off; treating everybody gains "
            f"{everybody}, nobody 0."
        )
        if self.gain_low is None or self.gain_high is None:
            return gain_text
        final = self.of_final_model
        gain = (self.honest if final is None else final)[0] - max(self.treat_all[0], 0.0)
        value, low, high = map(formats.number, (gain, self.gain_low[0], self.gain_high[0]))
        level = formats.percent(self.confidence_level)
        whose = "The gain" if final is None else "The gain of the final model"
        return f"{gain_text} {whose} over the better of these is {value} ({level} {low} to {high})."

    def _places(self, chosen: np.ndarray) -> str:
        """Return the number of chosen thresholds, and the runs that they form."""
        t, n_chosen = self.thresholds, int(chosen.sum())
        how = f"at {n_chosen} of {len(t)} thresholds" if n_chosen < len(t) else "at every threshold"
        ends = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(int)))
        first, last = t[ends[::2]], t[ends[1::2] - 1]
        runs = [f"{a:g} to {b:g}" if a < b else f"{a:g}" for a, b in zip(first, last, strict=True)]
        if len(runs) > MOST_RUNS:
            runs = [f"{t[chosen].min():g} to {t[chosen].max():g}, with gaps"]
        return f"{how} ({formats.listed(runs)})"


def net_benefits(
    outcomes: Outcomes, thresholds: np.ndarray, *, everybody: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return the net benefit at each threshold and its standard error.

    >>> rows = Outcomes.from_predictions(np.array([1, 0, 1, 0]), np.array([0.9, 0.6, 0.4, 0.1]))
    >>> net_benefits(rows, np.array([0.2, 0.5]))[0].tolist()
    [0.4375, 0.0]
    """
    observed, n = outcomes.observed, outcomes.n
    value, error = np.empty(len(thresholds)), np.empty(len(thresholds))
    for place, t in enumerate(thresholds):
        gain = observed - (1 - observed) * t / (1 - t)
        gains = gain if everybody else np.where(outcomes.predictions >= t, gain, 0.0)
        value[place] = outcomes.mean(gains)
        shares = sums_by_member(outcomes.weights * (gains - value[place]) / n, outcomes.members)
        error[place] = np.sqrt(shares @ shares * len(shares) / max(len(shares) - 1, 1))
    return value, error
