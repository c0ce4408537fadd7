"""All numbers of a validation in one array, so that optimism is a single subtraction.

`FoldJackknife` leaves out folds to estimate how these numbers vary with the rows for tuning,
fitting and testing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.results.operating_points import ThresholdCounts, area_under_roc_curve
from truerisk.results.roc import PrecisionRecall
from truerisk.validation.calibration import CalibrationFit, CalibrationLine, fit_line_and_curve
from truerisk.validation.discrimination import net_benefits
from truerisk.validation.measures import EVENT_MEASURES, RANK_MEASURES
from truerisk.validation.outcomes import Outcomes


@frozen(eq=False)
class ProfileLayout:
    """Layout of the array of a validation's numbers: measures, calibration curve, net benefits.

    `measure_names` are the names of the measures; decision values have only rank scores. The
    calibration curve is evaluated at `grid`, and net benefits at `thresholds`.
    """

    grid: np.ndarray
    thresholds: np.ndarray
    measure_names: tuple[str, ...] = EVENT_MEASURES

    def compute_profile(
        self,
        outcomes: Outcomes,
        fits: tuple[CalibrationLine | str, CalibrationFit | str] | None = None,
    ) -> np.ndarray:
        """Compute the array of numbers from outcomes; undefined numbers are NaN.

        `fits` are the calibration line and curve if they were fitted before.
        """
        if self.measure_names == RANK_MEASURES:
            rank_measures = _rank_measures(outcomes)
            return np.array([rank_measures.get(name, np.nan) for name in self.measure_names])
        calibration_line, calibration_curve = fits or fit_line_and_curve(outcomes)
        squared_error = outcomes.mean((outcomes.predictions - outcomes.observed) ** 2)
        values_by_measure = {"brier": squared_error, "squared": squared_error}
        if "auc" in self.measure_names:
            values_by_measure |= {
                **_rank_measures(outcomes),
                **_scaled_brier(outcomes, squared_error),
            }
        values_by_measure |= (
            {} if isinstance(calibration_line, str) else calibration_line.measures()
        )
        values_by_measure |= (
            {} if isinstance(calibration_curve, str) else calibration_curve.errors(outcomes)
        )
        measures = [values_by_measure.get(name, np.nan) for name in self.measure_names]
        missing_curve = np.full(len(self.grid), np.nan)
        curve_values = (
            missing_curve
            if isinstance(calibration_curve, str)
            else calibration_curve.event_share_at(self.grid)
        )
        return np.concatenate([measures, curve_values, net_benefits(outcomes, self.thresholds)[0]])

    @property
    def missing_profile(self) -> np.ndarray:
        """Array of NaN, for a validation without any number."""
        return np.full(len(self.measure_names) + len(self.grid) + len(self.thresholds), np.nan)

    def extract_measures(self, profile_numbers: np.ndarray) -> dict[str, float]:
        """Extract the measures, by name, from one or several arrays of numbers."""
        return dict(
            zip(
                self.measure_names,
                profile_numbers[..., : len(self.measure_names)].T.tolist(),
                strict=True,
            )
        )

    def extract_curve(self, profile_numbers: np.ndarray) -> np.ndarray:
        """Extract the calibration curve at the grid from arrays of numbers."""
        curve_start = len(self.measure_names)
        return profile_numbers[..., curve_start : curve_start + len(self.grid)]

    def extract_net_benefit(self, profile_numbers: np.ndarray) -> np.ndarray:
        """Extract the net benefits at the thresholds from arrays of numbers."""
        return profile_numbers[..., len(self.measure_names) + len(self.grid) :]


def _scaled_brier(outcomes: Outcomes, brier: float) -> dict[str, float]:
    """Return 1 − Brier score / Brier score of the share of events, if both classes occur."""
    event_share = outcomes.mean(outcomes.observed)
    if outcomes.has_one_class:
        return {}
    return {"scaled-brier": 1 - brier / (event_share * (1 - event_share))}


def _rank_measures(outcomes: Outcomes) -> dict[str, float]:
    """Return AUC and average precision of probabilities or scores, if both classes occur."""
    if outcomes.has_one_class:
        return {}
    has_event = outcomes.observed == 1
    threshold_counts = ThresholdCounts.from_scores(
        outcomes.predictions, has_event, outcomes.weights
    )
    return {
        "auc": area_under_roc_curve(outcomes.predictions, has_event, outcomes.weights),
        "average-precision": PrecisionRecall.from_sweep(threshold_counts, "").average_precision,
    }


@frozen(eq=False)
class Optimism:
    """The amount by which a model looks better on its own training rows than on other rows.

    A model fitted on bootstrap sample b is tested on the sample (training) and on all rows (test).
    `optimism = mean_b (training − test)`, and `corrected = apparent − optimism` (Efron, 1983;
    Harrell, 2015). Samples in which a number does not exist, such as those with a single class, are
    ignored for it, so that `n` samples remain.
    """

    apparent: np.ndarray
    training: np.ndarray
    test: np.ndarray
    n: np.ndarray

    @classmethod
    def from_profiles(
        cls,
        apparent_profile: np.ndarray,
        training_profiles: Sequence[np.ndarray],
        test_profiles: Sequence[np.ndarray],
    ) -> Optimism:
        """Average each number over the bootstrap samples in which it exists."""
        empty_profiles = np.empty((0, len(apparent_profile)))
        sample_profiles, all_rows_profiles = (
            np.array(profiles) if len(profiles) else empty_profiles
            for profiles in (training_profiles, test_profiles)
        )
        is_defined = np.isfinite(sample_profiles) & np.isfinite(all_rows_profiles)
        n = is_defined.sum(axis=0)

        def mean(profiles: np.ndarray) -> np.ndarray:
            sum_of_profiles = np.where(is_defined, profiles, 0).sum(axis=0)
            return np.divide(sum_of_profiles, n, out=np.full(len(n), np.nan), where=n > 0)

        return cls(apparent_profile, mean(sample_profiles), mean(all_rows_profiles), n)

    @property
    def corrected(self) -> np.ndarray:
        """Optimism-corrected numbers, apparent − (training − test)."""
        return self.apparent - (self.training - self.test)


@frozen(eq=False)
class FoldJackknife:
    r"""Numbers θ from all K folds, their estimates for a model of all rows, and jackknife variance.

    θ₋ⱼ is θ computed without fold j, as training and as test rows. Every pair of folds has its
    model: without fold j, row i is predicted by the model that lacks both its own fold and j. The
    delete-a-fold jackknife (Quenouille, 1956; Shao and Tu, 1995) has

    .. math:: V = \frac{K-1}{K} \sum_j (\theta_{-j} - \bar\theta_-)^2 .

    `extrapolated_values` is θ plus θ − θ̄₋: the models of the folds lack a fold that the model of
    all rows has, and the effect of removing one more fold is added once.

    >>> found = FoldJackknife.from_values(np.array([1.0]), [np.array([v]) for v in (0.8, 1.0, 0.9)])
    >>> found.extrapolated_values.round(3).tolist(), found.variance.round(4).tolist()
    ([1.1], [0.0133])
    """

    values: np.ndarray
    extrapolated_values: np.ndarray
    variance: np.ndarray

    @classmethod
    def from_values(
        cls, values: np.ndarray, values_without_fold: Sequence[np.ndarray]
    ) -> FoldJackknife:
        """Compute the jackknife; it is NaN if a number does not exist without one of the folds."""
        values_by_fold = np.array(values_without_fold)
        mean = values_by_fold.mean(axis=0)
        variance = (
            (len(values_by_fold) - 1)
            / len(values_by_fold)
            * ((values_by_fold - mean) ** 2).sum(axis=0)
        )
        return cls(values, 2 * values - mean, variance)
