"""The bootstrap methods: naive, leave-one-out (oob), .632, .632+, and the optimism correction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from truerisk.contracts import Method, Streams, Terms
from truerisk.core.arguments import check_count, check_flag, mention
from truerisk.core.errors import BadData, Refusal, UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.intervals import as_form
from truerisk.intervals.form import compute_if_independent, dependence_reason
from truerisk.intervals.refitted import SampleEvidence
from truerisk.losses.loss import Loss, RowLoss
from truerisk.losses.row_losses import find_infinite_losses
from truerisk.methods.parts.averages import failure_notes
from truerisk.methods.parts.bootstrap_answers import (
    BootstrapPredictions,
    jackknife_error,
    no_information,
)
from truerisk.plan.answers import Answers
from truerisk.plan.partitions import plan_sample_fits
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Target, Tested
from truerisk.results.interval import Basis, Scale, are_tied
from truerisk.splitting.samples import count_given_samples, draw_samples

BootstrapKind = Literal["bootstrap", "oob", ".632", ".632+", "optimism"]
OOB_WEIGHT = 0.632  # weight of the out-of-bag risk: 1 − 1/e, rounded as in the publications
NO_STD_ERROR_REASON = "no formula is known for the standard error of this estimate."


@frozen
class Bootstrap(Method):
    r"""Estimates from models fitted on B = `replicates` samples of n rows, drawn with replacement.

    ``bootstrap``
        Mean risk of the B models on all rows, most of which they saw: optimistic.
    ``oob``
        Err₁: each row's mean loss over the models that missed it, then the mean over rows.
    ``.632``
        .368 apparent + .632 Err₁.
    ``.632+``
        (1 − w) apparent + w Err₁, the weight by how much the model overfits.
    ``optimism``
        Apparent + mean over models of (risk on all rows − risk on its own sample).

    .. math:: w = \frac{.632}{1 - .368 R}, \quad
              R = \frac{\mathrm{Err}_1 - \overline{\mathrm{err}}}{\gamma - \overline{\mathrm{err}}}

    Here Err₁ is at most the no-information risk γ
    (:mod:`~truerisk.methods.parts.bootstrap_answers`), and R = 0 unless both Err₁ and γ exceed the
    apparent risk. ``convention="ipred"`` does not limit Err₁ in R and in the .632 part, as in the R
    package ipred.

    `samples` gives the row numbers instead of drawing them: ``(B, n)``. `stratify` draws within the
    classes. Groups given with the data are drawn as a whole. The row losses add up to the risk. The
    risk of "oob" has the infinitesimal-jackknife standard error of Efron and Tibshirani.

    Parameters
    ----------
    kind : {".632+", ".632", "oob", "bootstrap", "optimism"}, default=".632+"
        The estimate; see the list.
    replicates : int, default=200
        The number B of samples.
    samples : array, shape (B, n_rows), optional
        The row numbers of given samples, instead of drawn ones.
    stratify : bool, default=False
        If True, rows are drawn within the classes.
    convention : {"clipped", "ipred"}, default="clipped"
        Whether Err₁ is limited by γ, or not, as in the R package ipred.

    See Also
    --------
    truerisk.methods.KFold : K-fold cross-validation.
    truerisk.methods.ExactOutOfBag : Leave-one-out bootstrap without random error.
    truerisk.methods.OutOfBag : Out-of-bag error of an ensemble.

    References
    ----------
    Efron (1983), Estimating the error rate of a prediction rule. Efron and Tibshirani (1997),
    Improvements on cross-validation: the .632+ bootstrap method. Harrell, Lee and Mark (1996).

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, cv=tr.methods.Bootstrap(replicates=50)))
    risk 0.1212 (zero-one, .632+ (B=50))
    """

    kind: BootstrapKind = ".632+"
    replicates: int = 200
    samples: Any = field(default=None, repr=False)
    stratify: bool = False
    convention: Literal["clipped", "ipred"] = "clipped"

    target: ClassVar[Target] = "Err"

    def __post_init__(self) -> None:
        if self.kind not in get_args(BootstrapKind):
            raise UnknownName(
                f"kind={self.kind!r} is unknown; use {', '.join(get_args(BootstrapKind))}."
            )
        if self.convention not in ("clipped", "ipred"):
            raise UnknownName(f"convention={self.convention!r} is unknown; use clipped or ipred.")
        check_count("replicates", self.replicates)
        check_flag("stratify", self.stratify)

    @property
    @override
    def name(self) -> str:
        name_parts = ["bootstrap"] if self.kind == "oob" else []
        if self.samples is not None:
            name_parts.append("given samples")
        elif self.replicates != 200:
            name_parts.append(f"B={self.replicates}")
        name_parts += ["stratified"] if self.stratify and self.samples is None else []
        name_parts += ["ipred"] if self.convention == "ipred" and self.kind == ".632+" else []
        return f"{self.kind} ({', '.join(name_parts)})" if name_parts else self.kind

    @property
    @override
    def bias(self) -> str:
        return BIAS_BY_KIND[self.kind]

    @property
    def splits(self) -> bool:  # type: ignore[override]
        """True if every model is tested only on rows outside its own bootstrap sample."""
        return self.kind not in ("bootstrap", "optimism")

    @property
    @override
    def resamples(self) -> bool:
        return True

    @property
    @override
    def gives(self) -> frozenset[Basis]:  # type: ignore[override]
        return frozenset({Basis.SAMPLES}) if self.splits else frozenset()

    @property
    def _has_apparent_fit(self) -> bool:
        return self.kind in (".632", ".632+", "optimism")

    @override
    def check(self, data: Data, loss: Loss) -> None:
        if data.n_rows < 2:
            raise BadData("the bootstrap of one row leaves none out.")
        if loss.is_pooled:
            raise Refusal(
                f"'{loss.name}' is of all answers as one set, and method '{self.kind}' takes the "
                "mean over its samples: leave out 'pooled', or use a K-fold word such as '10-fold'."
            )
        if loss.response == "scored" and self.kind in (".632+", "optimism"):
            raise Refusal(
                f"method '{self.kind}' cannot use the scorer {loss.name}, which asks the model "
                f"itself: use a loss of truerisk, or {mention('cv', 'oob')} or '.632'."
            )

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        if self.samples is not None:
            draw_counts = count_given_samples(self.samples, data)
        else:
            rng = streams.get("bootstrap")
            draw_counts = draw_samples(data, self.replicates, rng, stratify=self.stratify)
        if self.splits and (draw_counts > 0).all():
            raise BadData(
                f"none of the {len(draw_counts)} samples misses a row: draw more of them, or give "
                "samples that leave rows out."
            )
        return plan_sample_fits(
            draw_counts, tests_missed_rows=self.splits, adds_apparent_fit=self._has_apparent_fit
        )

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        bootstrap_predictions = BootstrapPredictions(answers, data, loss, self._has_apparent_fit)
        if loss.per_row and not len(bootstrap_predictions.tested_rows):
            raise BadData("no sample misses a row: draw more of them.")
        estimates = {
            "bootstrap": self._naive_estimates,
            "oob": self._naive_estimates,
            ".632": self._estimates_632,
            ".632+": self._estimates_632_plus,
            "optimism": self._optimism_estimates,
        }[self.kind](bootstrap_predictions)
        candidate_estimates = [
            self._make_estimate(bootstrap_predictions, candidate, estimate, terms)
            for candidate, estimate in enumerate(estimates)
        ]
        if not terms.with_errors:
            return candidate_estimates
        findings = find_infinite_losses(answers, data, loss)
        return [
            replace(estimate_with_error, findings=findings[candidate])
            for candidate, estimate_with_error in enumerate(candidate_estimates)
        ]

    # The next methods compute the estimate of each kind, with its components and notes.

    def _naive_estimates(
        self, bootstrap_predictions: BootstrapPredictions
    ) -> Iterator[_BootstrapEstimate]:
        for risk in bootstrap_predictions.oob_risks:
            yield _BootstrapEstimate(float(risk), apparent_weight=0.0, oob_weight=1.0)

    def _estimates_632(
        self, bootstrap_predictions: BootstrapPredictions
    ) -> Iterator[_BootstrapEstimate]:
        for apparent_risk, oob_risk in zip(
            bootstrap_predictions.apparent_risks.tolist(),
            bootstrap_predictions.oob_risks.tolist(),
            strict=True,
        ):
            risk = (1 - OOB_WEIGHT) * apparent_risk + OOB_WEIGHT * oob_risk
            components = {
                "apparent": apparent_risk,
                "oob": oob_risk,
                "corrected": risk,
                "n": bootstrap_predictions.n_samples,
            }
            yield _BootstrapEstimate(
                risk, components, apparent_weight=1 - OOB_WEIGHT, oob_weight=OOB_WEIGHT
            )

    def _estimates_632_plus(
        self, bootstrap_predictions: BootstrapPredictions
    ) -> Iterator[_BootstrapEstimate]:
        apparent_positions = slice(int(bootstrap_predictions.answers.plan.test_offsets[-2]), None)
        rows = bootstrap_predictions.answers.plan.positions[0][apparent_positions]
        has_all_fits = bootstrap_predictions.has_all_predictions
        no_information_risks = np.full(len(has_all_fits), np.nan)
        targets = bootstrap_predictions.data.y[rows]
        if isinstance(bootstrap_predictions.loss, RowLoss) and (targets == targets[:1]).all():
            # If all targets are equal, the no-information risk is the apparent risk.
            no_information_risks = bootstrap_predictions.apparent_risks
        elif has_all_fits.any():
            predictions = bootstrap_predictions.answers.values[has_all_fits][:, apparent_positions]
            no_information_risks[has_all_fits] = no_information(
                bootstrap_predictions.loss, bootstrap_predictions.data, rows, predictions
            )
        for apparent_risk, oob_risk, no_information_risk in zip(
            bootstrap_predictions.apparent_risks,
            bootstrap_predictions.oob_risks,
            no_information_risks,
            strict=True,
        ):
            scale = bootstrap_predictions.loss.scale
            yield self._estimate_632_plus(
                float(apparent_risk),
                float(oob_risk),
                float(no_information_risk),
                bootstrap_predictions.n_samples,
                scale,
            )

    def _estimate_632_plus(
        self, apparent_risk: float, oob_risk: float, gamma: float, n: int, scale: Scale
    ) -> _BootstrapEstimate:
        is_clipped = self.convention == "clipped"
        limited_oob_risk, overfitting_rate, weight = weight_632_plus(
            apparent_risk, oob_risk, gamma, clips=is_clipped
        )
        value = (1 - weight) * apparent_risk + weight * limited_oob_risk
        if not is_clipped:
            value += OOB_WEIGHT * (oob_risk - limited_oob_risk)
        components = {
            "apparent": apparent_risk,
            "oob": oob_risk,
            "no_information": gamma,
            "overfitting": overfitting_rate,
            "weight": weight,
            "corrected": value,
            "n": n,
        }
        notes, quantity_name, is_score = [], scale.noun, scale.perfect is not None
        risks_by_name = {"apparent": apparent_risk, "oob": oob_risk, "no_information": gamma}
        risk_texts = {name: f"{scale.value(risk):.4f}" for name, risk in risks_by_name.items()}
        if oob_risk > gamma:
            limit_text = "is cut to it" if is_clipped else "is not cut to it in R (as ipred has it)"
            comparison_verb = "falls below" if is_score else "exceeds"
            oob_name = "out-of-bag score" if is_score else "Err₁"
            notes.append(
                f"{oob_name} {risk_texts['oob']} {comparison_verb} the no-information "
                f"{quantity_name} {risk_texts['no_information']} and {limit_text}."
            )
        if are_tied(gamma, apparent_risk):
            comparison_verb = "does not fall below" if is_score else "does not exceed"
            notes.append(
                f"the no-information {quantity_name} {risk_texts['no_information']} "
                f"{comparison_verb} the apparent "
                f"{quantity_name} {risk_texts['apparent']}: the relative overfitting rate R is "
                "taken as 0."
            )
        oob_limit_factor = limited_oob_risk / oob_risk if oob_risk > 0 else 1.0
        excess_oob_weight = 0.0 if is_clipped else OOB_WEIGHT * (1 - oob_limit_factor)
        return _BootstrapEstimate(
            value,
            components,
            tuple(notes),
            apparent_weight=1 - weight,
            oob_weight=weight * oob_limit_factor + excess_oob_weight,
        )

    def _optimism_estimates(
        self, bootstrap_predictions: BootstrapPredictions
    ) -> Iterator[_BootstrapEstimate]:
        risk_triples = zip(
            bootstrap_predictions.apparent_risks,
            bootstrap_predictions.training_risks,
            bootstrap_predictions.oob_risks,
            strict=True,
        )
        for apparent_risk, training_risk, test_risk in risk_triples:
            optimism_gap = float(test_risk - training_risk)
            risk = float(apparent_risk) + optimism_gap
            components = {
                "apparent": float(apparent_risk),
                "training": float(training_risk),
                "test": float(test_risk),
                "optimism": optimism_gap,
                "corrected": risk,
                "n": bootstrap_predictions.n_samples,
            }
            yield _BootstrapEstimate(risk, components, apparent_weight=None)

    # The next methods add the standard error, the interval and further notes to an estimate.

    def _make_estimate(
        self,
        bootstrap_predictions: BootstrapPredictions,
        candidate: int,
        estimate: _BootstrapEstimate,
        terms: Terms,
    ) -> Tested:
        predictions = bootstrap_predictions.answers
        risks_by_test_set = (
            bootstrap_predictions.risks_by_test_set[candidate] if terms.with_errors else None
        )
        if not bootstrap_predictions.has_all_predictions[candidate]:
            return Tested(
                np.nan, split_risks=risks_by_test_set, notes=failure_notes(predictions, candidate)
            )
        if not terms.with_errors:
            return Tested(estimate.value)
        losses, rows = (
            self._losses(bootstrap_predictions, candidate, estimate),
            bootstrap_predictions.tested_rows,
        )
        std_error, error_notes = self._std_error(
            bootstrap_predictions, candidate, is_requested=terms.interval is not None
        )
        interval = None
        if terms.interval is not None:
            evidence = SampleEvidence(
                values=np.array([estimate.value]),
                loss=bootstrap_predictions.loss,
                terms=terms,
                std_errors=[std_error],
                out_of_bag_risks=[float(bootstrap_predictions.oob_risks[candidate])],
            )
            std_error, interval, _ = compute_if_independent(
                as_form(terms.interval), evidence, bootstrap_predictions.data
            )[0]
        notes = (
            *estimate.notes,
            *self._notes_on_left_out_rows(bootstrap_predictions),
            *failure_notes(predictions, candidate),
            *error_notes,
        )
        return Tested(
            estimate.value,
            std_error,
            interval,
            losses=losses,
            loss_rows=None if losses is None else rows,
            split_risks=risks_by_test_set,
            notes=notes,
            table=estimate.components,
        )

    def _losses(
        self,
        bootstrap_predictions: BootstrapPredictions,
        candidate: int,
        estimate: _BootstrapEstimate,
    ) -> np.ndarray | None:
        """Return row losses whose mean is the estimated risk, or None if there are none."""
        if (
            not bootstrap_predictions.loss.per_row
            or estimate.apparent_weight is None
            or (estimate.apparent_weight and bootstrap_predictions.n_rows_in_every_sample)
        ):
            return None
        losses: np.ndarray = estimate.oob_weight * bootstrap_predictions.mean_row_losses[candidate]
        return (
            losses
            if estimate.apparent_weight == 0
            else losses
            + estimate.apparent_weight * bootstrap_predictions.apparent_losses[candidate]
        )

    def _std_error(
        self, bootstrap_predictions: BootstrapPredictions, candidate: int, *, is_requested: bool
    ) -> tuple[float | None, tuple[str, ...]]:
        """Return the infinitesimal-jackknife standard error of Err₁ with a note.

        If there is no standard error, return None and the reason.
        """
        if self.kind != "oob" and not is_requested:
            return None, (NO_STD_ERROR_REASON,)
        n = len(bootstrap_predictions.tested_rows)
        reason = self._no_jackknife_reason(bootstrap_predictions, candidate)
        if reason is not None:
            return None, (reason,)
        n_samples = self.replicates if self.samples is None else len(np.asarray(self.samples))
        sample_sums = bootstrap_predictions.sample_loss_sums(candidate) / n
        draw_counts = bootstrap_predictions.draw_counts[:, bootstrap_predictions.tested_rows]
        std_error = jackknife_error(
            draw_counts, bootstrap_predictions.mean_row_losses[candidate], sample_sums, n_samples
        )
        if std_error is None:
            too_few_note = (
                f"{n_samples} samples are too few for the infinitesimal jackknife: their noise is "
                f"larger than what they say of a standard error; use replicates={5 * n} or more."
            )
            return None, (too_few_note,)
        return std_error, (
            "standard error: infinitesimal jackknife of Efron and Tibshirani (1997).",
        )

    def _no_jackknife_reason(
        self, bootstrap_predictions: BootstrapPredictions, candidate: int
    ) -> str | None:
        """Return why the infinitesimal jackknife gives no standard error, or None if it does."""
        data, n = bootstrap_predictions.data, len(bootstrap_predictions.tested_rows)
        if not bootstrap_predictions.loss.per_row:
            return (
                f"loss '{bootstrap_predictions.loss.name}' has no per-row losses: no standard "
                "error is known."
            )
        if (reason := dependence_reason(data)) is not None:
            return reason
        if data.groups is not None or data.sample_weight is not None or self.stratify:
            return "no formula is known for the standard error with groups, weights or strata."
        if (
            n < 3
            or bootstrap_predictions.n_rows_in_every_sample
            or (bootstrap_predictions.draw_counts.sum(axis=1) != n).any()
        ):
            return "the standard error needs samples of n rows, and each row missed by some."
        if not bootstrap_predictions.mean_row_losses[candidate].std() > 0:
            return "every row has the same loss: their spread says nothing of the error."
        return None

    def _notes_on_left_out_rows(self, bootstrap_predictions: BootstrapPredictions) -> Iterator[str]:
        if bootstrap_predictions.loss.per_row and bootstrap_predictions.n_rows_in_every_sample:
            yield (
                f"{bootstrap_predictions.n_rows_in_every_sample} rows are in every sample and were "
                "never left "
                "out: they do not count; draw more samples."
            )
        if not bootstrap_predictions.loss.per_row:
            yield (
                f"loss '{bootstrap_predictions.loss.name}' has no rows: it is averaged over the "
                "samples."
            )
        if bootstrap_predictions.n_samples_without_loss:
            yield (
                f"loss '{bootstrap_predictions.loss.name}' does not exist on what "
                f"{bootstrap_predictions.n_samples_without_loss} of "
                f"{bootstrap_predictions.n_samples} samples left out: these do not count."
            )


@frozen
class _BootstrapEstimate:
    """One candidate's bootstrap estimate, its table of components, and weights of row losses.

    `apparent_weight` is the weight of the apparent losses (None if the estimate is not a mean of
    row losses), and `oob_weight` the weight of the out-of-bag losses.
    """

    value: float
    components: Mapping[str, float] | None = None
    notes: tuple[str, ...] = ()
    apparent_weight: float | None = 0.0
    oob_weight: float = 1.0


def weight_632_plus(
    apparent_risk: float, oob_risk: float, gamma: float, *, clips: bool = True
) -> tuple[float, float, float]:
    """Return three numbers: Err₁ (at most γ), the relative overfitting rate R, the weight of Err₁.

    The weight is that of the .632+ estimate.

    >>> used, ratio, weight = weight_632_plus(0.1, 0.2, 0.5)
    >>> round((1 - weight) * 0.1 + weight * used, 5)
    0.1696
    """
    limited_oob_risk = min(oob_risk, gamma)
    overfitting_rate = 0.0
    if oob_risk > apparent_risk and not are_tied(gamma, apparent_risk):
        overfitting_rate = ((limited_oob_risk if clips else oob_risk) - apparent_risk) / (
            gamma - apparent_risk
        )
    return (
        limited_oob_risk,
        overfitting_rate,
        OOB_WEIGHT / (1 - (1 - OOB_WEIGHT) * overfitting_rate),
    )


BIAS_BY_KIND = {
    "bootstrap": "optimistic: most of the rows that are tested were used for the fit",
    "oob": "pessimistic: each model sees 63 % of the rows, some of them several times",
    ".632": "optimistic for models that overfit: the apparent risk has a fixed weight",
    ".632+": "little; pessimistic or optimistic as the learning curve is steep or flat",
    "optimism": "optimistic for models that overfit: each model saw most of the rows it is tested "
    "on",
}


def naive() -> Bootstrap:
    """Return the naive bootstrap, whose models are tested on all rows."""
    return Bootstrap("bootstrap")


def point_632() -> Bootstrap:
    """Return the .632 bootstrap estimate as a method."""
    return Bootstrap(".632")


def optimism() -> Bootstrap:
    """Return the bootstrap optimism correction as a method."""
    return Bootstrap("optimism")
