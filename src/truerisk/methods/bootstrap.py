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
from truerisk.intervals.form import dependence, if_independent
from truerisk.intervals.refitted import SampleEvidence
from truerisk.losses.loss import Loss, RowLoss
from truerisk.losses.row_losses import infinite_findings
from truerisk.methods.parts.averages import failure_notes
from truerisk.methods.parts.bootstrap_answers import Replicated, jackknife_error, no_information
from truerisk.plan.answers import Answers
from truerisk.plan.partitions import plan_of_samples
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Target, Tested
from truerisk.results.interval import Basis, Scale, tied
from truerisk.splitting.samples import draw_samples, given_samples

Kind = Literal["bootstrap", "oob", ".632", ".632+", "optimism"]
OUT = 0.632  # approximately 1 − 1/e, as it is printed
UNSURE = "no formula is known for the standard error of this estimate."


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

    kind: Kind = ".632+"
    replicates: int = 200
    samples: Any = field(default=None, repr=False)
    stratify: bool = False
    convention: Literal["clipped", "ipred"] = "clipped"

    target: ClassVar[Target] = "Err"

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise UnknownName(f"kind={self.kind!r} is unknown; use {', '.join(get_args(Kind))}.")
        if self.convention not in ("clipped", "ipred"):
            raise UnknownName(f"convention={self.convention!r} is unknown; use clipped or ipred.")
        check_count("replicates", self.replicates)
        check_flag("stratify", self.stratify)

    @property
    @override
    def name(self) -> str:
        options = ["bootstrap"] if self.kind == "oob" else []
        if self.samples is not None:
            options.append("given samples")
        elif self.replicates != 200:
            options.append(f"B={self.replicates}")
        options += ["stratified"] if self.stratify and self.samples is None else []
        options += ["ipred"] if self.convention == "ipred" and self.kind == ".632+" else []
        return f"{self.kind} ({', '.join(options)})" if options else self.kind

    @property
    @override
    def bias(self) -> str:
        return BIAS[self.kind]

    @property
    def splits(self) -> bool:  # type: ignore[override]
        """True if the samples are tested only on the rows that they missed."""
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
    def _has_apparent(self) -> bool:
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
            times = given_samples(self.samples, data)
        else:
            rng = streams.get("bootstrap")
            times = draw_samples(data, self.replicates, rng, stratify=self.stratify)
        if self.splits and (times > 0).all():
            raise BadData(
                f"none of the {len(times)} samples misses a row: draw more of them, or give "
                "samples that leave rows out."
            )
        return plan_of_samples(times, missed=self.splits, apparent=self._has_apparent)

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        replicated = Replicated(answers, data, loss, self._has_apparent)
        if loss.per_row and not len(replicated.tested):
            raise BadData("no sample misses a row: draw more of them.")
        parts = {
            "bootstrap": self._naive,
            "oob": self._naive,
            ".632": self._point,
            ".632+": self._plus,
            "optimism": self._optimism,
        }[self.kind](replicated)
        risks = [self._tested(replicated, c, part, terms) for c, part in enumerate(parts)]
        if not terms.with_errors:
            return risks
        found = infinite_findings(answers, data, loss)
        return [replace(risk, findings=found[c]) for c, risk in enumerate(risks)]

    # -- the kinds: value, table, notes and weights of row losses for each candidate -----------

    def _naive(self, found: Replicated) -> Iterator[_Part]:
        for value in found.test:
            yield _Part(float(value), own=0.0, out=1.0)

    def _point(self, found: Replicated) -> Iterator[_Part]:
        for err, out in zip(found.apparent.tolist(), found.test.tolist(), strict=True):
            value = (1 - OUT) * err + OUT * out
            table = {"apparent": err, "oob": out, "corrected": value, "n": found.n_samples}
            yield _Part(value, table, own=1 - OUT, out=OUT)

    def _plus(self, found: Replicated) -> Iterator[_Part]:
        own = slice(int(found.answers.plan.test_offsets[-2]), None)
        rows = found.answers.plan.positions[0][own]
        fine = found.all_answered
        gammas = np.full(len(fine), np.nan)
        targets = found.data.y[rows]
        if isinstance(found.loss, RowLoss) and (targets == targets[:1]).all():
            # Exchanging equal targets changes nothing, so that this is the apparent risk.
            gammas = found.apparent
        elif fine.any():
            requested = found.answers.values[fine][:, own]
            gammas[fine] = no_information(found.loss, found.data, rows, requested)
        for err, out, gamma in zip(found.apparent, found.test, gammas, strict=True):
            scale = found.loss.scale
            yield self._plus_of(float(err), float(out), float(gamma), found.n_samples, scale)

    def _plus_of(self, err: float, out: float, gamma: float, n: int, scale: Scale) -> _Part:
        clips = self.convention == "clipped"
        used, ratio, weight = weight_632_plus(err, out, gamma, clips=clips)
        value = (1 - weight) * err + weight * used
        if not clips:
            value += OUT * (out - used)
        table = {
            "apparent": err,
            "oob": out,
            "no_information": gamma,
            "overfitting": ratio,
            "weight": weight,
            "corrected": value,
            "n": n,
        }
        notes, noun, is_score = [], scale.noun, scale.perfect is not None
        risks = {"apparent": err, "oob": out, "no_information": gamma}
        risk_texts = {name: f"{scale.value(risk):.4f}" for name, risk in risks.items()}
        if out > gamma:
            what = "is cut to it" if clips else "is not cut to it in R (as ipred has it)"
            verb = "falls below" if is_score else "exceeds"
            out_of_bag = "out-of-bag score" if is_score else "Err₁"
            notes.append(
                f"{out_of_bag} {risk_texts['oob']} {verb} the no-information {noun} "
                f"{risk_texts['no_information']} and {what}."
            )
        if tied(gamma, err):
            verb = "does not fall below" if is_score else "does not exceed"
            notes.append(
                f"the no-information {noun} {risk_texts['no_information']} {verb} the apparent "
                f"{noun} {risk_texts['apparent']}: the relative overfitting rate R is taken as 0."
            )
        share = used / out if out > 0 else 1.0
        extra = 0.0 if clips else OUT * (1 - share)
        return _Part(value, table, tuple(notes), own=1 - weight, out=weight * share + extra)

    def _optimism(self, found: Replicated) -> Iterator[_Part]:
        pairs = zip(found.apparent, found.training, found.test, strict=True)
        for err, training, test in pairs:
            gap = float(test - training)
            value = float(err) + gap
            table = {
                "apparent": float(err),
                "training": float(training),
                "test": float(test),
                "optimism": gap,
                "corrected": value,
                "n": found.n_samples,
            }
            yield _Part(value, table, own=None)

    # -- the estimate ---------------------------------------------------------------------------

    def _tested(self, found: Replicated, c: int, part: _Part, terms: Terms) -> Tested:
        answers = found.answers
        by_question = found.by_question[c] if terms.with_errors else None
        if not found.all_answered[c]:
            return Tested(np.nan, split_risks=by_question, notes=failure_notes(answers, c))
        if not terms.with_errors:
            return Tested(part.value)
        losses, rows = self._losses(found, c, part), found.tested
        error, why = self._error(found, c, requested=terms.interval is not None)
        interval = None
        if terms.interval is not None:
            evidence = SampleEvidence(
                values=np.array([part.value]),
                loss=found.loss,
                terms=terms,
                std_errors=[error],
                risks=[float(found.test[c])],
            )
            error, interval, _ = if_independent(as_form(terms.interval), evidence, found.data)[0]
        notes = (*part.notes, *self._left_notes(found), *failure_notes(answers, c), *why)
        return Tested(
            part.value,
            error,
            interval,
            losses=losses,
            loss_rows=None if losses is None else rows,
            split_risks=by_question,
            notes=notes,
            table=part.table,
        )

    def _losses(self, found: Replicated, c: int, part: _Part) -> np.ndarray | None:
        """Return row losses whose mean is the risk, or None if the risk is not such a mean."""
        if not found.loss.per_row or part.own is None or (part.own and found.n_never_out):
            return None
        losses: np.ndarray = part.out * found.per_row[c]
        return losses if part.own == 0 else losses + part.own * found.apparent_rows[c]

    def _error(
        self, found: Replicated, c: int, *, requested: bool
    ) -> tuple[float | None, tuple[str, ...]]:
        """Return the infinitesimal-jackknife error of Err₁, or None and the reason."""
        if self.kind != "oob" and not requested:
            return None, (UNSURE,)
        n = len(found.tested)
        why = self._no_jackknife(found, c)
        if why is not None:
            return None, (why,)
        drawn = self.replicates if self.samples is None else len(np.asarray(self.samples))
        of_samples = found.sums_of_samples(c) / n
        times = found.times[:, found.tested]
        error = jackknife_error(times, found.per_row[c], of_samples, drawn)
        if error is None:
            few = (
                f"{drawn} samples are too few for the infinitesimal jackknife: their noise is "
                f"larger than what they say of a standard error; use replicates={5 * n} or more."
            )
            return None, (few,)
        return error, ("standard error: infinitesimal jackknife of Efron and Tibshirani (1997).",)

    def _no_jackknife(self, found: Replicated, c: int) -> str | None:
        """Return why the infinitesimal jackknife does not apply, or None."""
        data, n = found.data, len(found.tested)
        if not found.loss.per_row:
            return f"loss '{found.loss.name}' has no per-row losses: no standard error is known."
        if (why := dependence(data)) is not None:
            return why
        if data.groups is not None or data.sample_weight is not None or self.stratify:
            return "no formula is known for the standard error with groups, weights or strata."
        if n < 3 or found.n_never_out or (found.times.sum(axis=1) != n).any():
            return "the standard error needs samples of n rows, and each row missed by some."
        if not found.per_row[c].std() > 0:
            return "every row has the same loss: their spread says nothing of the error."
        return None

    def _left_notes(self, found: Replicated) -> Iterator[str]:
        if found.loss.per_row and found.n_never_out:
            yield (
                f"{found.n_never_out} rows are in every sample and were never left out: they do "
                "not count; draw more samples."
            )
        if not found.loss.per_row:
            yield f"loss '{found.loss.name}' has no rows: it is averaged over the samples."
        if found.n_without:
            yield (
                f"loss '{found.loss.name}' does not exist on what {found.n_without} of "
                f"{found.n_samples} samples left out: these do not count."
            )


@frozen
class _Part:
    """One candidate's value, its table, and the weights of its row losses."""

    value: float
    table: Mapping[str, float] | None = None
    notes: tuple[str, ...] = ()
    own: float | None = 0.0
    out: float = 1.0


def weight_632_plus(
    err: float, out: float, gamma: float, *, clips: bool = True
) -> tuple[float, float, float]:
    """Return Err₁ after the limit at γ, the relative overfitting rate R, and the weight of Err₁.

    >>> used, ratio, weight = weight_632_plus(0.1, 0.2, 0.5)
    >>> round((1 - weight) * 0.1 + weight * used, 5)
    0.1696
    """
    used = min(out, gamma)
    ratio = 0.0
    if out > err and not tied(gamma, err):
        ratio = ((used if clips else out) - err) / (gamma - err)
    return used, ratio, OUT / (1 - (1 - OUT) * ratio)


BIAS = {
    "bootstrap": "optimistic: most of the rows that are tested were used for the fit",
    "oob": "pessimistic: each model sees 63 % of the rows, some of them several times",
    ".632": "optimistic for models that overfit: the apparent risk has a fixed weight",
    ".632+": "little; pessimistic or optimistic as the learning curve is steep or flat",
    "optimism": "optimistic for models that overfit: each model saw most of the rows it is tested "
    "on",
}


def naive() -> Bootstrap:
    """Return the method named `bootstrap`."""
    return Bootstrap("bootstrap")


def point_632() -> Bootstrap:
    """Return the method named `.632`."""
    return Bootstrap(".632")


def optimism() -> Bootstrap:
    """Return the method named `optimism`."""
    return Bootstrap("optimism")
