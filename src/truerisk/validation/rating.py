"""All numbers of a validation: held out, apparent, from samples, and without each fold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.contracts import Request
from truerisk.core.errors import Refusal
from truerisk.core.family import Family, tunes_inside
from truerisk.core.registry import check_present
from truerisk.engines.running.answering import answers_of
from truerisk.plan.answers import Answers
from truerisk.plan.builder import one_fit
from truerisk.plan.leaks import ORDERED
from truerisk.validation.calibration import (
    CalibrationCurve,
    SmoothCalibration,
    grid_of,
    line_and_curve,
)
from truerisk.validation.calibration_fits import IDENTITY
from truerisk.validation.discrimination import Discrimination, NetBenefit
from truerisk.validation.final_setting import (
    ModelLine,
    disagreement,
    uneven_spread,
    with_final_setting,
)
from truerisk.validation.honest import (
    HonestRun,
    has_rank_scores,
    pair_answers,
    score_of,
    with_pairs,
)
from truerisk.validation.measures import (
    MEASURES,
    OF_EVENTS,
    OF_NUMBERS,
    OF_RANKS,
    OVERLAP,
    Measured,
)
from truerisk.validation.outcomes import Event, HeldOut, Outcomes, clipped
from truerisk.validation.profile import FoldJackknife, Optimism, Profile
from truerisk.validation.updating import Updating
from truerisk.validation.wishes import ValidationOptions

if TYPE_CHECKING:  # samples are a branch
    from truerisk.validation.resampled import Resampled

SCORED = ("auc", "average-precision", "brier", "squared")
OF_THE_LINE = ("r2", "d", "intercept", "slope", "in-the-large", "u", "q", "explained")
OF_THE_CURVE = ("ici", "e50", "e90", "emax")
NEITHER = "decision values have neither a calibration line nor a curve."
LACKS = "it cannot be computed without one of the folds, so its interval is not known"


OF_ALL_ROWS = (
    "the intervals of slope and intercepts are of the model of all rows: they count the noise of "
    "few held-out rows, and how models of pairs of folds differ; the band counts the noise alone."
)
OF_SETTING = (
    "some folds chose other settings than the final model. Intervals of {} are of the final model "
    "and rest on fits of its setting in every fold."
)
NO_BENEFIT = "net benefit has no interval, for the reason that the calibration slope has none."
NO_PROBABILITIES = (
    "{} gives no probabilities: put sklearn.calibration.CalibratedClassifierCV around it, or take "
    "a learner with predict_proba."
)
NO_EVENT = "it is of an event, and y holds numbers: their R² stands with the calibration."


class Rating:
    """The numbers of one validation, each computed once, for an `event` or for numeric y."""

    def __init__(
        self, run: HonestRun, held: HeldOut, options: ValidationOptions, event: Event | None = None
    ) -> None:
        self.run, self.options, self.of_event = run, options, event
        self.held_out = held if event is None else event.held_out(held)
        self.data = run.problem.data if event is None else event.data
        self.ranks_only = held.response == "score"
        self.honest = Outcomes.held_out(self.held_out, options.clip)
        self.level = run.problem.confidence_level
        own = None if run.finished else _answers_of_all(run)
        self.apparent_answers, apparent = own, None if own is None else self._all_rows(own)
        bare = self.ranks_only
        self.profile = Profile(
            np.empty(0) if bare else grid_of(self.honest if apparent is None else apparent),
            np.empty(0) if bare or event is None else options.thresholds,
            OF_NUMBERS if event is None else OF_RANKS if bare else OF_EVENTS,
        )
        self.notes: list[str] = []
        self.missing: dict[str, str] = {}
        # Formulas for independent tests hold unless rows depend on each other, which a note
        # reports.
        data = self.run.problem.data
        if self.run.risk.ordered:
            self.notes.append(ORDERED if data.time is None else IN_TIME)
        elif data.dependent:
            self.notes.append(DEPENDENT)
        self.independent = not self.notes
        n_groups = None if data.groups is None else len(np.unique(data.groups))
        if run.finished and n_groups is not None and n_groups < FEW_GROUPS:
            self.notes.append(FEW.format(n_groups))
        self.samples: Resampled | None = None
        self.optimism = self._optimism(apparent)
        self.line, self.curve = (NEITHER, NEITHER) if bare else line_and_curve(self.honest)
        self.values = self.profile.compute(self.honest, (self.line, self.curve))
        self.jackknife: FoldJackknife | None = None
        # This is set if the line is that of the final model's setting.
        self.model: ModelLine | None = None
        # The reason why slope and intercept of the model have no interval.
        self.disagrees: str | None = None
        if self.independent and not bare:
            self.jackknife, self.lacking = self._without_each_fold()
            self._compare_with_final_model(apparent)
        if bare and self.independent and not run.finished and not has_rank_scores(run, event):
            self.run = with_pairs(self.run, held.response)

    # -- outcomes ---------------------------------------------------------------------------------

    def _outcomes(
        self, answers: np.ndarray, rows: np.ndarray, members: np.ndarray | None = None
    ) -> Outcomes:
        """Return the outcomes for predictions of these rows."""
        weights = self.data.weights(rows)
        if self.of_event is None:
            return Outcomes.from_predictions(self.data.y[rows], answers, weights, members, IDENTITY)
        predictions = self.of_event.read(answers, self.held_out.response)
        if not self.ranks_only:
            predictions = clipped(predictions[:, 1], self.options.clip)
        return Outcomes.from_predictions(
            self.data.class_codes[rows] == 1, predictions, weights, members
        )

    def _all_rows(self, answers: np.ndarray, times: np.ndarray | None = None) -> Outcomes:
        """Return the outcomes for predictions of all rows, each repeated as `times` says."""
        rows = np.arange(len(answers))
        rows = rows if times is None else np.repeat(rows, times)
        return self._outcomes(answers[rows], rows)

    # -- numbers ----------------------------------------------------------------------------------

    def _optimism(self, own: Outcomes | None) -> Optimism:
        """Compute the optimism of the model on its own rows; a finished model has none here."""
        training, test, options = [], [], self.options
        apparent = self.profile.nothing if own is None else self.profile.compute(own)
        if options.replicates or options.samples is not None:
            check_present("truerisk.methods.bootstrap")
            from truerisk.validation.resampled import resampled

            try:
                request = Request(self.held_out.response)
                drawn = resampled(
                    self.run, request, options.replicates, options.samples, options.seed
                )
            except Refusal as refusal:
                self.notes.append(f"no optimism is known: {refusal}")
                return Optimism.from_profiles(apparent, [], [])
            self.samples = drawn
            for times, answers in drawn:
                training.append(self.profile.compute(self._all_rows(answers, times)))
                test.append(self.profile.compute(self._all_rows(answers)))
            if drawn.n_left_out:
                self.notes.append(
                    f"{drawn.n_left_out} bootstrap samples do not count: they lack a class, or "
                    "their model failed."
                )
        return Optimism.from_profiles(apparent, training, test)

    def _without_each_fold(self) -> tuple[FoldJackknife | None, str]:
        """Compute the numbers without every fold, and say why a fold is needed for the line.

        There is no jackknife if there are no models of pairs of folds.
        """
        try:
            answers = pair_answers(self.run, self.held_out.response)
        except Refusal:
            return None, "."
        self.run = self.run.with_pair_answers(answers)
        return self._jackknife(answers, self.values)

    def _jackknife(self, answers: Answers, values: np.ndarray) -> tuple[FoldJackknife | None, str]:
        """Compare `values` with those of the pairs' `answers` when each fold is left out."""
        plan, lacking = answers.plan, "."
        other = np.repeat(plan.unit, plan.test_sizes)
        rows, groups, numbers = plan.positions[0], self.data.groups, []
        for fold in np.unique(other):
            tests = np.flatnonzero(other == fold)
            if len(np.unique(rows[tests])) < len(tests):
                # Rows are tested more than once, by several repetitions of the folds.
                return None, "."
            members = None if groups is None else groups[rows[tests]]
            outcomes = self._outcomes(answers.values[0][tests], rows[tests], members)
            fits = line_and_curve(outcomes)
            if isinstance(fits[0], str):
                lacking = f": {fits[0]}"
            numbers.append(self.profile.compute(outcomes, fits))
        return FoldJackknife.from_values(values, numbers), lacking

    def _compare_with_final_model(self, apparent: Outcomes | None) -> None:
        """Compute the line of the final model's setting, and compare the held-out slope with it."""
        if self.run.finished or isinstance(self.line, str):
            return
        if tunes_inside(self.run.problem.family):
            self.disagrees = uneven_spread(self.honest, self.held_out, apparent)
            return
        try:
            self.model = self._line_of_setting()
        except Refusal as refusal:
            self.disagrees = str(refusal)
            return
        if self.model is None:
            return
        interval = self.model.interval("slope", self.level)
        if interval is not None:
            measures = self.profile.measures
            self.disagrees = disagreement(
                pooled=measures(self.values)["slope"],
                of_setting=measures(self.model.values)["slope"],
                interval=interval,
                apparent=_or_none(measures(self.optimism.apparent)["slope"]),
                link=self.honest.link,
            )

    def _line_of_setting(self) -> ModelLine | None:
        """Fit the final model's setting in every fold, where some folds chose another one."""
        request = self.run.problem.richest
        assert request is not None  # Otherwise there would be no line.
        run = with_final_setting(self.run, request)
        if run is None:
            return None
        held = HeldOut.from_answers(
            run.answered, self.data if self.of_event is None else self.of_event.of
        )
        held = held if self.of_event is None else self.of_event.held_out(held)
        outcomes = Outcomes.held_out(held, self.options.clip)
        fits = line_and_curve(outcomes)
        values = self.profile.compute(outcomes, fits)
        jackknife, lacking = None, "."
        if self.jackknife is not None:
            try:
                jackknife, lacking = self._jackknife(pair_answers(run, held.response), values)
            except Refusal as refusal:
                lacking = f": {refusal}"
        return ModelLine(
            outcomes=outcomes,
            words=self.profile.words,
            values=values,
            errors={} if isinstance(fits[0], str) else fits[0].std_errors(outcomes.members),
            jackknife=jackknife,
            needs_jackknife=self.jackknife is not None,
            lacking=f": {fits[0]}" if isinstance(fits[0], str) else lacking,
        )

    def measured(self) -> Mapping[str, Measured]:
        """Return every measure, in its honest and other versions."""
        measures, profiles = self.profile.measures, self.optimism
        ladder = {
            name: measures(getattr(profiles, name)) for name in ("apparent", "training", "test")
        }
        n = dict(zip(self.profile.words, profiles.n.tolist(), strict=False))
        found = self._honest()
        for label, one in found.items():
            beside: dict[str, Any] = {name: _or_none(of[label]) for name, of in ladder.items()}
            found[label] = replace(one, n=n[label], **beside)
        return found

    def _honest(self) -> dict[str, Measured]:
        """Return value, error, interval and reason of every measure on held-out rows."""
        values = self.profile.measures(self.values)
        found = {name: Measured(name, _or_none(value)) for name, value in values.items()}
        found |= {w: score_of(self.run, w, self.of_event) for w in SCORED if w in found}
        if self.ranks_only:
            return found
        if isinstance(self.line, str):
            for name in found.keys() & set(OF_THE_LINE):
                found[name] = replace(found[name], reason=self.line)
        elif self.independent:
            for name, error in self.line.std_errors(self.honest.members).items():
                found[name] = replace(found[name], **self._sureness(name, error))
        if isinstance(self.curve, str):
            for name in OF_THE_CURVE:
                found[name] = replace(found[name], reason=self.curve)
        return found

    def _sureness(self, name: str, error: float) -> dict[str, Any]:
        """Return the standard error on held-out rows, and the interval for the final model."""
        if self.disagrees is not None and name in ("slope", "intercept"):
            return {"std_error": error, "reason": self.disagrees}
        line = self.model
        if line is None:
            line = ModelLine(
                outcomes=self.honest,
                words=self.profile.words,
                values=self.values,
                errors={name: error},
                jackknife=self.jackknife,
                needs_jackknife=self.jackknife is not None,
                lacking=self.lacking,
            )
        interval = line.interval(name, self.level, of_setting=self.model is not None)
        if interval is None:
            return {"std_error": error, "reason": LACKS + line.lacking}
        return {"std_error": error, "interval": interval}

    # -- parts ------------------------------------------------------------------------------------

    def parts(self) -> dict[str, Any]:
        """Return discrimination, calibration and net benefit; store why others are `missing`."""
        measures, event, run = self.measured(), self.of_event, self.run
        parts: dict[str, Any] = {}
        if event is None:
            self.missing = {"discrimination": NO_EVENT, "net_benefit": NO_EVENT}
        if self.ranks_only:
            family = Family(run.model) if run.finished else run.problem.family
            why = NO_PROBABILITIES.format(family.name)
            self.missing = {"calibration": why, "net_benefit": why}
        if run.finished:
            try:
                parts["updating"] = self.updating()
            except Refusal as refusal:
                self.missing["updating"] = str(refusal)

        def of(part: str) -> dict[str, Measured]:
            return {name: m for name, m in measures.items() if MEASURES[name].part == part}

        if event is not None:
            parts["discrimination"] = Discrimination.from_held_out(
                self.held_out,
                self.honest,
                event.label,
                of("discrimination"),
                one_rule=self.run.finished,
            )
        if self.ranks_only:
            return parts
        notes: tuple[str, ...] = ()
        overlap = () if self.run.finished else (OVERLAP,)
        if self.independent:
            notes = overlap if self.jackknife is None else (OF_ALL_ROWS,)
            if self.model is not None:
                measures_of_setting = "slope and intercepts"
                if self.disagrees is not None:
                    measures_of_setting = "calibration in the large"
                notes += (OF_SETTING.format(measures_of_setting),)
        label = None if event is None else event.label
        parts["calibration"] = SmoothCalibration.from_outcomes(
            self.honest, label, of("calibration"), self._curve(), notes
        )
        if event is not None:
            whose = () if self.disagrees is None else (NO_BENEFIT,)
            if self.model is not None:
                whose = (OF_SETTING.format("net benefit"),)
            apparent, corrected = (
                self.profile.net_benefit(each)
                for each in (self.optimism.apparent, self.optimism.corrected)
            )
            parts["net_benefit"] = NetBenefit.from_outcomes(
                self.honest,
                self.options.thresholds,
                event=event.label,
                apparent=None if self.run.finished else apparent,
                corrected=corrected if np.isfinite(corrected).all() else None,
                confidence_level=self.level,
                is_certain=self.independent and (self.disagrees is None or self.model is not None),
                notes=overlap + whose,
                of_setting=None if self.model is None else self.model.outcomes,
            )
        return parts

    def updating(self) -> Updating:
        """Return the gain from an update of a finished model."""
        if not self.independent:
            raise Refusal("folds of rows that depend on each other would show no honest gain.")
        if isinstance(self.line, str):
            raise Refusal(self.line)
        grouped, seed = self.data.groups is not None, self.run.problem.seed
        return Updating.from_outcomes(
            self.honest, self.line, level=self.level, seed=seed, grouped=grouped
        )

    def _curve(self) -> CalibrationCurve | str:
        """Return the curves of held-out rows and others, or why there are none."""
        if isinstance(self.curve, str):
            return self.curve
        return CalibrationCurve.from_fit(
            self.curve,
            self.honest,
            self.profile.grid,
            apparent=self.profile.curve(self.optimism.apparent),
            corrected=self.profile.curve(self.optimism.corrected),
            confidence_level=self.level,
            is_certain=self.independent and self.disagrees is None,
        )


FEW_GROUPS = 10  # The number is from `python -m benchmarks.calibration.finished`.
FEW = (
    "{} groups: the variance between groups is estimated from as many sums, so that intervals are "
    "wide, and they hold as often as they state only if groups are of like size and effect."
)
DEPENDENT = (
    "rows that were taken near each other may depend on each other: losses of rows and the AUC "
    "have intervals that count it, and nothing else has an interval or a band."
)
IN_TIME = (
    "the rows were tested in the order of time, and a row may depend on those before it: losses of "
    "rows have intervals that count it, and nothing else has an interval or a band."
)


def _answers_of_all(run: HonestRun) -> np.ndarray:
    """Return the predictions of the model of all rows, from the search or one more fit."""
    problem, request = run.problem, run.problem.richest
    assert request is not None  # Otherwise there would be nothing to rate.
    if run.model is not None:
        return np.asarray(answers_of(run.model, problem.data, request))
    n = problem.data.n_rows
    best = np.array([run.best])
    return problem.asking().answers(one_fit(n, np.arange(n)), request, best).values[0]


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def why_unrated(run: HonestRun, held: HeldOut, event: Event | None) -> str | None:
    """Return why these parts do not exist, or None."""
    data = run.problem.data
    if data.task == "regression":
        if held.answers.ndim == 1:
            return None
        return f"it is of one target, and y has {held.answers.shape[1]}: validate one at a time."
    if event is None:
        return (
            f"it is defined for two outcomes, and y has {data.n_classes} classes: name the one "
            f"that is the event, such as positive={data.label(1)!r}; the others are the rest."
        )
    if run.problem.richest is None and run.problem.data.task == "survival":
        return "the model tells no curves of survival (predict_survival_function)."
    if run.problem.richest is None:
        return "the model gives neither probabilities nor decision values."
    return None
