"""Compute all measures of a validation: held out, apparent, on bootstrap samples, without folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.contracts import Request
from truerisk.core.errors import Refusal
from truerisk.core.family import Family, tunes_inside
from truerisk.core.registry import check_present
from truerisk.engines.running.answering import predict_all_rows
from truerisk.plan.answers import Answers
from truerisk.plan.builder import plan_one_fit
from truerisk.plan.leaks import ORDERED_SPLITS_REASON
from truerisk.validation.calibration import (
    CalibrationCurve,
    SmoothCalibration,
    curve_grid,
    fit_line_and_curve,
)
from truerisk.validation.calibration_fits import IDENTITY
from truerisk.validation.discrimination import Discrimination, NetBenefit
from truerisk.validation.final_setting import (
    SettingMeasures,
    slope_disagreement_reason,
    uneven_spread_reason,
    with_final_setting,
)
from truerisk.validation.honest import (
    HonestRun,
    get_pair_predictions,
    has_rank_scores,
    held_out_score,
    try_add_pair_predictions,
)
from truerisk.validation.measures import (
    EVENT_MEASURES,
    MEASURES,
    NUMERIC_MEASURES,
    OVERLAP_NOTE,
    RANK_MEASURES,
    Measured,
)
from truerisk.validation.observed_expected import observed_to_expected
from truerisk.validation.outcomes import Event, HeldOut, Outcomes, clip_probabilities
from truerisk.validation.profile import FoldJackknife, Optimism, ProfileLayout
from truerisk.validation.updating import ModelUpdates
from truerisk.validation.wishes import ValidationOptions

if TYPE_CHECKING:  # Bootstrap samples are an optional module, loaded only when needed.
    from truerisk.validation.resampled import BootstrapPredictions

SCORE_MEASURES = ("auc", "average-precision", "brier", "squared")
LINE_MEASURES = ("r2", "d", "intercept", "slope", "in-the-large", "u", "q", "explained")
CURVE_MEASURES = ("ici", "e50", "e90", "emax")
NO_LINE_OR_CURVE_REASON = "decision values have neither a calibration line nor a curve."
LACKS_FOLD_REASON = "it cannot be computed without one of the folds, so its interval is not known"


INTERVAL_OF_FULL_MODEL_NOTE = (
    "the intervals of the slope and the intercepts are for the model of all rows: they account for "
    "the noise of the held-out rows and for the differences between models that lack two folds; "
    "the band accounts for the noise only."
)
INTERVAL_OF_SETTING_NOTE = (
    "some folds chose other settings than the final model. Intervals of {} are of the final model "
    "and rest on fits of its setting in every fold."
)
NO_BENEFIT_INTERVAL_NOTE = (
    "net benefit has no interval, for the reason that the calibration slope has none."
)
NO_PROBABILITIES_REASON = (
    "{} gives no probabilities: put sklearn.calibration.CalibratedClassifierCV around it, or take "
    "a learner with predict_proba."
)
NO_EVENT_REASON = "it is of an event, and y holds numbers: their R² stands with the calibration."


class HeldOutMeasures:
    """All measures of one validation, each computed once, for an `event` or for numeric y."""

    def __init__(
        self, run: HonestRun, held: HeldOut, options: ValidationOptions, event: Event | None = None
    ) -> None:
        self.run, self.options, self.of_event = run, options, event
        self.held_out = held if event is None else event.convert_held_out(held)
        self.data = run.problem.data if event is None else event.data
        self.has_only_ranks = held.response == "score"
        self.honest = Outcomes.from_held_out(self.held_out, options.clip)
        self.level = run.problem.confidence_level
        final_predictions = None if run.has_finished_model else _final_model_predictions(run)
        self.apparent_predictions, apparent_outcomes = (
            final_predictions,
            None if final_predictions is None else self._make_all_rows_outcomes(final_predictions),
        )
        has_only_ranks = self.has_only_ranks
        self.profile = ProfileLayout(
            np.empty(0)
            if has_only_ranks
            else curve_grid(self.honest if apparent_outcomes is None else apparent_outcomes),
            np.empty(0) if has_only_ranks or event is None else options.thresholds,
            NUMERIC_MEASURES
            if event is None
            else RANK_MEASURES
            if has_only_ranks
            else EVENT_MEASURES,
        )
        self.notes: list[str] = []
        self.missing: dict[str, str] = {}
        # Formulas for independent tests hold unless rows depend on each other, which is noted.
        data = self.run.problem.data
        if self.run.risk.ordered:
            self.notes.append(ORDERED_SPLITS_REASON if data.time is None else TIME_ORDER_NOTE)
        elif data.dependent:
            self.notes.append(DEPENDENT_ROWS_NOTE)
        self.independent = not self.notes
        n_groups = None if data.groups is None else len(np.unique(data.groups))
        if run.has_finished_model and n_groups is not None and n_groups < FEW_GROUPS:
            self.notes.append(FEW_GROUPS_NOTE.format(n_groups))
        self.samples: BootstrapPredictions | None = None
        self.optimism = self._compute_optimism(apparent_outcomes)
        self.line, self.curve = (
            (NO_LINE_OR_CURVE_REASON, NO_LINE_OR_CURVE_REASON)
            if has_only_ranks
            else fit_line_and_curve(self.honest)
        )
        self.values = self.profile.compute_profile(self.honest, (self.line, self.curve))
        self.jackknife: FoldJackknife | None = None
        # `model` is set if some folds chose another setting than the final model has.
        self.model: SettingMeasures | None = None
        # This is the reason why slope and intercept of the final model have no interval.
        self.disagreement: str | None = None
        if self.independent and not has_only_ranks:
            self.jackknife, self.jackknife_reason = self._measure_without_folds()
            self._compare_with_final_model(apparent_outcomes)
        if (
            has_only_ranks
            and self.independent
            and not run.has_finished_model
            and not has_rank_scores(run, event)
        ):
            self.run = try_add_pair_predictions(self.run, held.response)

    # -- outcomes of predictions ------------------------------------------------------------------

    def _make_outcomes(
        self, predicted_values: np.ndarray, rows: np.ndarray, clusters: np.ndarray | None = None
    ) -> Outcomes:
        """Pair predictions of these rows with their outcomes and weights."""
        weights = self.data.weights(rows)
        if self.of_event is None:
            return Outcomes.from_predictions(
                self.data.y[rows], predicted_values, weights, clusters, IDENTITY
            )
        predictions = self.of_event.convert_values(predicted_values, self.held_out.response)
        if not self.has_only_ranks:
            predictions = clip_probabilities(predictions[:, 1], self.options.clip)
        return Outcomes.from_predictions(
            self.data.class_codes[rows] == 1, predictions, weights, clusters
        )

    def _make_all_rows_outcomes(
        self, predicted_values: np.ndarray, n_copies: np.ndarray | None = None
    ) -> Outcomes:
        """Pair predictions of all rows with their outcomes, row i repeated `n_copies[i]` times."""
        rows = np.arange(len(predicted_values))
        rows = rows if n_copies is None else np.repeat(rows, n_copies)
        return self._make_outcomes(predicted_values[rows], rows)

    # -- measures of performance ------------------------------------------------------------------

    def _compute_optimism(self, apparent_outcomes: Outcomes | None) -> Optimism:
        """Compute the optimism of the model on its own rows, from bootstrap samples.

        A finished model has no optimism, since its training rows are unknown.
        """
        training_profiles, test_profiles, validation_options = [], [], self.options
        apparent_profile = (
            self.profile.missing_profile
            if apparent_outcomes is None
            else self.profile.compute_profile(apparent_outcomes)
        )
        if validation_options.replicates or validation_options.samples is not None:
            check_present("truerisk.methods.bootstrap")
            from truerisk.validation.resampled import bootstrap_predictions

            try:
                request = Request(self.held_out.response)
                bootstrap_samples = bootstrap_predictions(
                    self.run,
                    request,
                    validation_options.replicates,
                    validation_options.samples,
                    validation_options.seed,
                )
            except Refusal as refusal:
                self.notes.append(f"no optimism is known: {refusal}")
                return Optimism.from_profiles(apparent_profile, [], [])
            self.samples = bootstrap_samples
            for n_copies, sample_predictions in bootstrap_samples:
                training_profiles.append(
                    self.profile.compute_profile(
                        self._make_all_rows_outcomes(sample_predictions, n_copies)
                    )
                )
                test_profiles.append(
                    self.profile.compute_profile(self._make_all_rows_outcomes(sample_predictions))
                )
            if bootstrap_samples.n_omitted_samples:
                self.notes.append(
                    f"{bootstrap_samples.n_omitted_samples} bootstrap samples do not count: they "
                    "lack a class, or "
                    "their model failed."
                )
        return Optimism.from_profiles(apparent_profile, training_profiles, test_profiles)

    def _measure_without_folds(self) -> tuple[FoldJackknife | None, str]:
        """Compute all measures without each fold, and why the calibration line has no jackknife.

        There is no jackknife if there are no models of pairs of folds.
        """
        try:
            pair_predictions = get_pair_predictions(self.run, self.held_out.response)
        except Refusal:
            return None, "."
        self.run = self.run.add_pair_predictions(pair_predictions)
        return self._compute_jackknife(pair_predictions, self.values)

    def _compute_jackknife(
        self, pair_predictions: Answers, values: np.ndarray
    ) -> tuple[FoldJackknife | None, str]:
        """Compute the jackknife over folds from predictions of models that lack two folds.

        Also return why the calibration line cannot be computed without some fold ("." if it can).
        """
        plan, reason = pair_predictions.plan, "."
        omitted_fold = np.repeat(plan.unit, plan.test_sizes)
        rows, groups, values_without_fold = plan.positions[0], self.data.groups, []
        for fold in np.unique(omitted_fold):
            omitted_indices = np.flatnonzero(omitted_fold == fold)
            if len(np.unique(rows[omitted_indices])) < len(omitted_indices):
                # Repetitions of the folds test rows more than once, so there is no jackknife.
                return None, "."
            clusters = None if groups is None else groups[rows[omitted_indices]]
            outcomes = self._make_outcomes(
                pair_predictions.values[0][omitted_indices], rows[omitted_indices], clusters
            )
            fits = fit_line_and_curve(outcomes)
            if isinstance(fits[0], str):
                reason = f": {fits[0]}"
            values_without_fold.append(self.profile.compute_profile(outcomes, fits))
        return FoldJackknife.from_values(values, values_without_fold), reason

    def _compare_with_final_model(self, apparent_outcomes: Outcomes | None) -> None:
        """Compare the held-out slope with that of models that have the final model's setting."""
        if self.run.has_finished_model or isinstance(self.line, str):
            return
        if tunes_inside(self.run.problem.family):
            self.disagreement = uneven_spread_reason(self.honest, self.held_out, apparent_outcomes)
            return
        try:
            self.model = self._measure_final_setting()
        except Refusal as refusal:
            self.disagreement = str(refusal)
            return
        if self.model is None:
            return
        interval = self.model.interval("slope", self.level)
        if interval is not None:
            extract_measures = self.profile.extract_measures
            self.disagreement = slope_disagreement_reason(
                pooled_slope=extract_measures(self.values)["slope"],
                setting_slope=extract_measures(self.model.values)["slope"],
                interval=interval,
                apparent_slope=_finite_or_none(extract_measures(self.optimism.apparent)["slope"]),
                link=self.honest.link,
            )

    def _measure_final_setting(self) -> SettingMeasures | None:
        """Fit the final model's setting in every fold; return None if all folds chose it."""
        request = self.run.problem.most_informative_request
        assert request is not None  # A calibration line exists, so predictions were requested.
        run = with_final_setting(self.run, request)
        if run is None:
            return None
        held_out = HeldOut.from_answers(
            run.answered_rows, self.data if self.of_event is None else self.of_event.full_data
        )
        held_out = held_out if self.of_event is None else self.of_event.convert_held_out(held_out)
        outcomes = Outcomes.from_held_out(held_out, self.options.clip)
        fits = fit_line_and_curve(outcomes)
        values = self.profile.compute_profile(outcomes, fits)
        jackknife, reason = None, "."
        if self.jackknife is not None:
            try:
                jackknife, reason = self._compute_jackknife(
                    get_pair_predictions(run, held_out.response), values
                )
            except Refusal as refusal:
                reason = f": {refusal}"
        return SettingMeasures(
            outcomes=outcomes,
            measure_names=self.profile.measure_names,
            values=values,
            std_errors={} if isinstance(fits[0], str) else fits[0].std_errors(outcomes.clusters),
            jackknife=jackknife,
            needs_jackknife=self.jackknife is not None,
            missing_jackknife_reason=f": {fits[0]}" if isinstance(fits[0], str) else reason,
        )

    def compute_measures(self) -> Mapping[str, Measured]:
        """Return every measure on held-out rows, with apparent and bootstrap values."""
        extract_measures, optimism = self.profile.extract_measures, self.optimism
        values_by_version = {
            name: extract_measures(getattr(optimism, name))
            for name in ("apparent", "training", "test")
        }
        n_samples_by_measure = dict(
            zip(self.profile.measure_names, optimism.n.tolist(), strict=False)
        )
        measured_by_name = self._honest_measures()
        for label, measure in measured_by_name.items():
            if label not in n_samples_by_measure:  # O/E is computed for held-out rows only.
                continue
            other_values: dict[str, Any] = {
                name: _finite_or_none(version_values[label])
                for name, version_values in values_by_version.items()
            }
            measured_by_name[label] = replace(
                measure, n=n_samples_by_measure[label], **other_values
            )
        return measured_by_name

    def _honest_measures(self) -> dict[str, Measured]:
        """Return value, error, interval and reason of every measure on held-out rows."""
        values_by_name = self.profile.extract_measures(self.values)
        measured_by_name = {
            name: Measured(name, _finite_or_none(measure_value))
            for name, measure_value in values_by_name.items()
        }
        measured_by_name |= {
            score_name: held_out_score(self.run, score_name, self.of_event)
            for score_name in SCORE_MEASURES
            if score_name in measured_by_name
        }
        if self.has_only_ranks:
            return measured_by_name
        if self.of_event is not None:
            is_certain = self.run.has_finished_model and self.independent
            ratio = observed_to_expected(
                self.held_out,
                self.honest,
                self.run.problem.data,
                self.of_event.horizon,
                clip=self.options.clip,
                confidence_level=self.level if is_certain else None,
            )
            measured_by_name = {"oe": ratio, **measured_by_name}
        if isinstance(self.line, str):
            for name in measured_by_name.keys() & set(LINE_MEASURES):
                measured_by_name[name] = replace(measured_by_name[name], reason=self.line)
        elif self.independent:
            for name, std_error in self.line.std_errors(self.honest.clusters).items():
                measured_by_name[name] = replace(
                    measured_by_name[name], **self._error_and_interval(name, std_error)
                )
        if isinstance(self.curve, str):
            for name in CURVE_MEASURES:
                measured_by_name[name] = replace(measured_by_name[name], reason=self.curve)
        return measured_by_name

    def _error_and_interval(self, measure_name: str, std_error: float) -> dict[str, Any]:
        """Return the standard error on held-out rows, and the interval for the final model."""
        if self.disagreement is not None and measure_name in ("slope", "intercept"):
            return {"std_error": std_error, "reason": self.disagreement}
        setting_measures = self.model
        if setting_measures is None:
            setting_measures = SettingMeasures(
                outcomes=self.honest,
                measure_names=self.profile.measure_names,
                values=self.values,
                std_errors={measure_name: std_error},
                jackknife=self.jackknife,
                needs_jackknife=self.jackknife is not None,
                missing_jackknife_reason=self.jackknife_reason,
            )
        interval = setting_measures.interval(
            measure_name, self.level, of_setting=self.model is not None
        )
        if interval is None:
            return {
                "std_error": std_error,
                "reason": LACKS_FOLD_REASON + setting_measures.missing_jackknife_reason,
            }
        return {"std_error": std_error, "interval": interval}

    # -- parts of the validation ------------------------------------------------------------------

    def compute_parts(self) -> dict[str, Any]:
        """Return discrimination, calibration and net benefit; `missing` says why one is absent."""
        measures, event, run = self.compute_measures(), self.of_event, self.run
        parts_by_name: dict[str, Any] = {}
        if event is None:
            self.missing = {"discrimination": NO_EVENT_REASON, "net_benefit": NO_EVENT_REASON}
        if self.has_only_ranks:
            family = Family(run.model) if run.has_finished_model else run.problem.family
            reason = NO_PROBABILITIES_REASON.format(family.name)
            self.missing = {"calibration": reason, "net_benefit": reason}
        if run.has_finished_model:
            try:
                parts_by_name["updating"] = self.compute_updates()
            except Refusal as refusal:
                self.missing["updating"] = str(refusal)

        def measures_of_part(part_name: str) -> dict[str, Measured]:
            return {
                name: measure
                for name, measure in measures.items()
                if MEASURES[name].part == part_name
            }

        if event is not None:
            parts_by_name["discrimination"] = Discrimination.from_held_out(
                self.held_out,
                self.honest,
                event.label,
                measures_of_part("discrimination"),
                is_one_model=self.run.has_finished_model,
            )
        if self.has_only_ranks:
            return parts_by_name
        notes: tuple[str, ...] = ()
        overlap_notes = () if self.run.has_finished_model else (OVERLAP_NOTE,)
        if self.independent:
            notes = overlap_notes if self.jackknife is None else (INTERVAL_OF_FULL_MODEL_NOTE,)
            if self.model is not None:
                measures_text = "slope and intercepts"
                if self.disagreement is not None:
                    measures_text = "calibration in the large"
                notes += (INTERVAL_OF_SETTING_NOTE.format(measures_text),)
        event_label = None if event is None else event.label
        parts_by_name["calibration"] = SmoothCalibration.from_outcomes(
            self.honest,
            event_label,
            measures_of_part("calibration"),
            self._make_calibration_curve(),
            notes,
        )
        if event is not None:
            setting_notes = () if self.disagreement is None else (NO_BENEFIT_INTERVAL_NOTE,)
            if self.model is not None:
                setting_notes = (INTERVAL_OF_SETTING_NOTE.format("net benefit"),)
            apparent_benefit, corrected_benefit = (
                self.profile.extract_net_benefit(profile_numbers)
                for profile_numbers in (self.optimism.apparent, self.optimism.corrected)
            )
            parts_by_name["net_benefit"] = NetBenefit.from_outcomes(
                self.honest,
                self.options.thresholds,
                event=event.label,
                apparent=None if self.run.has_finished_model else apparent_benefit,
                corrected=corrected_benefit if np.isfinite(corrected_benefit).all() else None,
                confidence_level=self.level,
                is_certain=self.independent
                and (self.disagreement is None or self.model is not None),
                notes=overlap_notes + setting_notes,
                of_setting=None if self.model is None else self.model.outcomes,
            )
        return parts_by_name

    def compute_updates(self) -> ModelUpdates:
        """Estimate the gain from an update of a finished model."""
        if not self.independent:
            raise Refusal("folds of rows that depend on each other would show no honest gain.")
        if isinstance(self.line, str):
            raise Refusal(self.line)
        is_grouped, seed = self.data.groups is not None, self.run.problem.seed
        return ModelUpdates.from_outcomes(
            self.honest, self.line, level=self.level, seed=seed, grouped=is_grouped
        )

    def _make_calibration_curve(self) -> CalibrationCurve | str:
        """Return the calibration curves (held out, apparent, corrected), or why there are none."""
        if isinstance(self.curve, str):
            return self.curve
        return CalibrationCurve.from_fit(
            self.curve,
            self.honest,
            self.profile.grid,
            apparent_curve=self.profile.extract_curve(self.optimism.apparent),
            corrected_curve=self.profile.extract_curve(self.optimism.corrected),
            confidence_level=self.level,
            is_certain=self.independent and self.disagreement is None,
        )


FEW_GROUPS = 10  # This number of groups was found by `benchmarks.calibration.finished`.
FEW_GROUPS_NOTE = (
    "{} groups are few: intervals are wide, and they keep their confidence level only if the "
    "groups are alike in size and in effect."
)
DEPENDENT_ROWS_NOTE = (
    "rows that were taken near each other may depend on each other: losses of rows and the AUC "
    "have intervals that count it, and nothing else has an interval or a band."
)
TIME_ORDER_NOTE = (
    "the rows were tested in the order of time, and a row may depend on those before it: losses of "
    "rows have intervals that count it, and nothing else has an interval or a band."
)


def _final_model_predictions(run: HonestRun) -> np.ndarray:
    """Return the predictions of the model fitted on all rows, from the search or one more fit."""
    problem, request = run.problem, run.problem.most_informative_request
    assert request is not None  # `missing_measures_reason` refused models without such predictions.
    if run.model is not None:
        return np.asarray(predict_all_rows(run.model, problem.data, request))
    n = problem.data.n_rows
    best_candidate = np.array([run.best_candidate])
    return (
        problem.create_asking()
        .answers(plan_one_fit(n, np.arange(n)), request, best_candidate)
        .values[0]
    )


def _finite_or_none(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None


def missing_measures_reason(run: HonestRun, held_out: HeldOut, event: Event | None) -> str | None:
    """Return why no discrimination, calibration or net benefit can be computed, or None."""
    data = run.problem.data
    if data.task == "regression":
        if held_out.answers.ndim == 1:
            return None
        return (
            f"it is of one target, and y has {held_out.answers.shape[1]}: validate one at a time."
        )
    if event is None:
        return (
            f"it is defined for two outcomes, and y has {data.n_classes} classes: name the one "
            f"that is the event, such as positive={data.label(1)!r}; the others are the rest."
        )
    if run.problem.most_informative_request is None and run.problem.data.task == "survival":
        return "the model tells no curves of survival (predict_survival_function)."
    if run.problem.most_informative_request is None:
        return "the model gives neither probabilities nor decision values."
    return None
