"""Frozen results: a risk or score, its uncertainty, what it estimates, and its provenance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from math import inf
from numbers import Integral
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np

from truerisk.core import formats, tables
from truerisk.core.arguments import mention, repr_on_one_line
from truerisk.core.errors import BadArgument, MissingResult, Refusal, UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import suggestion_for
from truerisk.core.tables import frame_from_columns, frame_from_rows
from truerisk.results import sentences
from truerisk.results.door import load_from_package, load_from_results
from truerisk.results.evaluation import (
    CandidateLossSource,
    Evaluation,
    Influences,
    RowPredictions,
    Target,
    Tested,
    risk_values,
)
from truerisk.results.finding import FINDING_CODES, Finding
from truerisk.results.interval import (
    LOSS_SCALE,
    Breakdown,
    Interval,
    ResultOnScale,
    ResultWithBounds,
    Scale,
)
from truerisk.results.records import (
    UNWRITTEN,
    UNWRITTEN_IF_EMPTY,
    Column,
    Count,
    FiniteFloat,
    NonNegative,
    PerfectScore,
    Record,
)

if TYPE_CHECKING:
    from truerisk.results.bounds import HonestNumber
    from truerisk.results.comparison import Comparison

UNTESTED_CHOICE_MESSAGE = (
    "the risk of the best of {} settings leaves the choice out, so that it keeps no bound: take "
    "the risk_ of HonestSearchCV, or the curve of a method that tests the choice, such as 'nested'."
)


@frozen(eq=False)
class RiskEstimate(ResultOnScale, ResultWithBounds, Record):
    """Result of `estimate_risk`: how good a model is on new rows, with uncertainty and origin.

    `value`, `interval` and `table` are on the requested scale: an AUC is an AUC, and "neg_log_loss"
    is negative; "zero-one" and "log" are losses. `greater_is_better` tells which direction is
    better, and `as_loss` returns the same estimate as a loss. `losses` and `split_risks` are always
    losses.

    Parameters
    ----------
    value : float or None
        The risk or score; None if a fit failed and the other results were returned.
    std_error : float or None
        The standard error; None if no formula justifies one. `notes` then give the reason.
    interval : Interval or None
        The interval; None if no formula justifies one. `notes` then give the reason.
    method : str
        Name of the method.
    target : {"Err", "Err_XY", "CER", "training"}
        What is estimated: "Err", the mean risk of the procedure over training sets; "Err_XY", the
        risk of this fitted rule; "CER", its conditional risk (fresh labels at the x's of the
        training rows); or "training", the apparent risk.
    bias : str
        The direction of the bias of the method, and its reason.
    scoring : str
        Name of the loss or score.
    params : mapping of str to object
        The setting of the candidate.
    n_rows : int
        The number of rows.
    n_fits : int
        The number of fits.
    seconds : float
        Duration of the computation.
    engine : str
        Name of the engine that computed the predictions.
    seed : int
        The seed.
    data_fingerprint : str
        Checksum of the data.
    plan_fingerprint : str
        Checksum of the plan.
    losses : array, optional
        The losses of single rows.
    loss_rows : array of int, optional
        The row of each loss.
    split_risks : array, optional
        The risk in each fold or split.
    notes : tuple of str, optional
        Notes for the reader.
    refusals : mapping of str to str, optional
        The engines that refused, with their reasons.
    versions : mapping of str to str, optional
        Versions of the packages.
    table : Breakdown, optional
        The numbers from which the value was computed, if there are several (apparent, optimism,
        corrected, ...).
    splits : array of int, optional
        Row j holds the repetition and the numbers of training and test rows of split j.
    n_groups : int, optional
        The number of groups, if rows have groups.
    weighted : bool, default=False
        True if rows had unequal weights.
    ordered : bool, default=False
        True if rows were tested in the order of time.
    placed : bool, default=False
        True if rows had coordinates.
    perfect : float, optional
        The score of a perfect model, infinite if it is unknown; None for a loss.
    scores : mapping of str to RiskEstimate, optional
        Further losses of the same fits, by name.
    answered : AnsweredRows, optional
        The predictions for single rows. They are not written to JSON.
    influences : Influences, optional
        The influence of each row on the value. It is not written to JSON.
    positive : label, optional
        The class to which a score of one class refers; None for all other scores.
    findings : tuple of Finding, optional
        Findings of the checks on rows and predictions; `notes` contain them as sentences.
    pooled : bool, default=False
        True for a score, such as F1, that is usually a mean over folds and is here computed from
        all predictions together.
    best_of : int, optional
        The number of candidates of which this is the best, if neither value nor interval accounts
        for that choice.

    See Also
    --------
    estimate_risk : Compute an estimate.
    compare : Compare two estimates.
    risk_over_time : Look at the losses of an estimate over time.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> est = tr.estimate_risk(GaussianNB(), X, y)
    >>> print(est)
    risk 0.1000 (zero-one, 5-fold), 95 % interval [0.0307, 0.2359] (beta-cv)
    >>> est.target, est.n_fits, tr.RiskEstimate.from_json(est.to_json()).value == est.value
    ('Err', 5, True)
    """

    schema: ClassVar[str] = "truerisk.risk-estimate/2"
    derived: ClassVar[tuple[str, ...]] = ("greater_is_better",)

    value: FiniteFloat | None
    std_error: NonNegative | None
    interval: Interval | None
    method: str
    target: Target
    bias: str
    scoring: str
    params: Mapping[str, Any]
    n_rows: Count
    n_fits: Count
    seconds: NonNegative
    engine: str
    seed: int
    data_fingerprint: str
    plan_fingerprint: str
    losses: np.ndarray | None = field(default=None, repr=False)
    loss_rows: Annotated[np.ndarray, Column(kind="i8")] | None = field(default=None, repr=False)
    split_risks: np.ndarray | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    refusals: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict, repr=False)
    table: Breakdown | None = field(default=None, repr=False)
    splits: Annotated[np.ndarray, Column(kind="i8", n_axes=2)] | None = field(
        default=None, repr=False
    )
    n_groups: Count | None = None
    weighted: bool = False
    ordered: bool = False
    placed: bool = False
    perfect: PerfectScore | None = None
    scores: Mapping[str, RiskEstimate] = field(default_factory=dict, repr=False)
    answered: RowPredictions | None = field(default=None, repr=False, metadata=UNWRITTEN)
    influences: Influences | None = field(
        default=None, repr=False, compare=False, metadata=UNWRITTEN
    )
    positive: Any = None
    findings: tuple[Finding, ...] = field(default=(), metadata=UNWRITTEN_IF_EMPTY)
    pooled: bool = field(default=False, repr=False, metadata=UNWRITTEN_IF_EMPTY)
    best_of: int | None = field(default=None, repr=False, compare=False, metadata=UNWRITTEN)

    @property
    def named_scoring(self) -> str:
        """The name of the loss, with the class to which it refers: "f1 of 'bad'"."""
        return formats.score_of_class(self.scoring, self.positive)

    def on_scale(self, scale: Scale, **names: Any) -> Self:
        """Convert the estimate to another scale, and replace further fields.

        Parameters
        ----------
        scale : Scale
            The new scale: a loss or a score.
        **names
            Fields to replace, such as `scoring`.

        Returns
        -------
        RiskEstimate
            The estimate on the new scale.
        """
        table = None if self.table is None else self.table.on_scale(self.scale).on_scale(scale)
        return super().on_scale(scale, table=table, **names)

    def as_loss(self) -> RiskEstimate:
        """Return the same estimate, converted to a loss if it is a score.

        A loss is returned unchanged. For AUC it is 1 − AUC, for "neg_log_loss" the log loss, and
        for a score without a known best value minus the score. Further scores are converted in the
        same way.

        Returns
        -------
        RiskEstimate
            The estimate as a loss.

        Examples
        --------
        >>> import truerisk as tr
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> auc = tr.estimate_risk(GaussianNB(), X, y, scoring="roc_auc")
        >>> loss = auc.as_loss()
        >>> loss.scoring, loss.greater_is_better, round(auc.value + loss.value, 9)
        ('1 - roc_auc', False, 1.0)
        """
        scores = {
            _loss_name(name, estimate_of_score): estimate_of_score.as_loss()
            for name, estimate_of_score in self.scores.items()
        }
        are_all_losses = all(
            scores.get(name) is estimate_of_score for name, estimate_of_score in self.scores.items()
        )
        estimate = self if are_all_losses else replace(self, scores=scores)
        if self.perfect is None:
            return estimate
        return estimate.on_scale(LOSS_SCALE, scoring=loss_name_of_score(self.scoring, self.perfect))

    def __sub__(self, other: RiskEstimate) -> Comparison:
        """Return this risk minus the risk of `other` on the same splits, as a comparison.

        The comparison has an interval and probabilities.

        It is on the scale of the two estimates: a negative difference of losses favours this
        estimate, and so does a positive difference of scores. Estimates of different data, splits
        or losses are refused.
        """
        if not isinstance(other, RiskEstimate):
            return NotImplemented
        comparison: Comparison = load_from_package("difference")(self, other)
        return comparison

    def answers_by_row(self) -> Any:
        """Return a frame of the predictions for rows by models that were not trained on them.

        There is a row for each test: `row`, `fold`, `truth`, and, if the losses requested them,
        `label`, a `probability_` of each class, `score` or `value`. `scoring=["zero-one", "log"]`
        requests labels and probabilities. For an outcome in time, `probability_by_5` is the
        predicted probability of the event by time 5.

        Returns
        -------
        DataFrame
            A frame of pandas, or of polars if only that is installed.

        Raises
        ------
        MissingResult
            If the estimate holds no predictions of single rows.
        """
        if self.answered is None:
            raise MissingResult(
                "this estimate holds no answers of single rows: it was read from a file, a scorer "
                "rated whole test sets, or its numbers are of several models or learners."
            )
        return frame_from_columns(load_from_results("answered-rows")(self.answered))

    def to_frame(self) -> Any:
        """Return a frame with one row that describes the estimate.

        Its columns are the setting, the value, the standard error, the interval, the method and the
        numbers of `table`.

        Returns
        -------
        DataFrame
            A frame of pandas, or of polars if only that is installed.
        """
        return frame_from_rows([{**self.params, **self._row_values(), **(self.table or {})}])

    def _row_values(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "std_error": self.std_error,
            "low": self.interval and self.interval.low,
            "high": self.interval and self.interval.high,
            "method": self.method,
            "scoring": self.named_scoring,
        }

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the value with its interval (needs matplotlib).

        `label` names it, `others` are estimates by name that are drawn in rows of their own, and
        `beside` are values by name, such as a known true value, that are drawn as vertical lines.

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
        return load_from_package("estimate")(self, ax=ax, **options)

    def __str__(self) -> str:
        printed_lines = map(RiskEstimate._printed_line, (self, *sentences.further_scores(self)))
        leaks = [f"warning: {note}" for note in self.notes if " is too good" in note]
        findings: Iterable[Any] = self.findings
        if self.best_of is not None:  # A search warns of them in full.
            findings = (f"{f.severity}: {FINDING_CODES[f.code][1]} [{f.code}]" for f in findings)
        return "\n".join([*printed_lines, *sentences.finding_lines([*leaks, *findings])])

    def _printed_line(self) -> str:
        """Return the line that is printed for the estimate.

        A score is printed under its own name, and a loss as "risk".
        """
        name = f"{self.named_scoring}{', pooled' if self.pooled else ''}"
        value_text = "no value" if self.value is None else formats.format_risk(self.value)
        uncertainty = formats.format_uncertainty(self.std_error, self.interval)
        method_text = self.method
        if self.best_of is not None:
            method_text += f", best of {self.best_of}: choosing is not counted"
        if self.perfect is None:
            return f"risk {value_text} ({name}, {method_text}){uncertainty}"
        return f"{name} {value_text} (larger is better, {method_text}){uncertainty}"

    @override
    def blocks(self) -> list[tables.Block]:
        return [tables.Block("Risk estimate", ["", ""], sentences.estimate_rows(self))]

    @property
    def _honest_numbers(self) -> Mapping[str, HonestNumber]:
        if self.best_of is not None:
            raise Refusal(UNTESTED_CHOICE_MESSAGE.format(self.best_of))
        honest_numbers: Mapping[str, HonestNumber] = load_from_results("honest-numbers")(self)
        return honest_numbers

    def _metrics(self) -> Mapping[str, Any]:
        metrics = self.named(self.scoring)
        for name, score in self.scores.items():
            metrics |= score.named(name)
        return {**metrics, "n_fits": self.n_fits, "seconds": self.seconds}


@frozen(eq=False)
class LazyEstimates(Sequence[RiskEstimate]):
    """Sequence of the estimates of all candidates, each assembled when it is read.

    `shared_fields` is the provenance that they share; `scores` are further losses of the same fits,
    by name.
    """

    candidates: Sequence[Mapping[str, Any]]
    candidate_risks: Sequence[Tested]
    shared_fields: RiskEstimate
    scores: Mapping[str, RiskCurve]

    def __len__(self) -> int:
        return len(self.candidates)

    def __getitem__(self, candidate: Any) -> Any:
        if isinstance(candidate, slice):
            return tuple(self[c] for c in range(len(self))[candidate])
        common_fields, row_predictions = self.shared_fields, self.shared_fields.answered
        # Splits may have chosen different candidates.
        # Their predictions then do not belong to a single candidate.
        if row_predictions is not None:
            has_all_candidates = row_predictions.answers[0].n_candidates == len(self.candidates)
            row_predictions = (
                replace(row_predictions, candidate=candidate) if has_all_candidates else None
            )
            common_fields = replace(common_fields, answered=row_predictions)
        if self.scores:
            scores = {name: curve[candidate] for name, curve in self.scores.items()}
            common_fields = replace(common_fields, scores=scores)
        return to_estimate(
            self.candidate_risks[candidate], common_fields, self.candidates[candidate]
        )


@frozen(eq=False)
class RiskCurve(ResultWithBounds, Record):
    """Result of `risk_curve`: the risks or scores of all candidates, and the chosen candidate.

    `values[c]` is on the requested scale, as in `RiskEstimate`. It is NaN only if a fit of
    candidate c failed, or if the candidate left a race before it was rated on all folds
    (`curve[c].notes` tells which).

    Of more than 20 settings, ten are printed: the best ones, and the chosen one among them.

    Parameters
    ----------
    rule : str
        Name of the rule that chose `best`.
    ties : str
        How ties are broken.
    best : int
        The number of the chosen candidate.
    estimates : sequence of RiskEstimate
        The estimate of each candidate.
    procedure : RiskEstimate, optional
        The honest risk of "tune, then fit", if the method estimates it (nested, three-way).
    evaluation : Evaluation, optional
        The result of the method. It is not written to JSON, like the two parameters below.
    scores : mapping of str to RiskCurve, optional
        The curves of further losses of the same fits, by name. Their `best` is the candidate chosen
        here.
    comparable : Comparable, optional
        The losses of all candidates on the same rows.

    See Also
    --------
    risk_curve : Compute a risk curve.
    SelectionBias : Measure by how much the smallest risk is too small.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> curve = tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": [1, 5, 25]}, X, y)
    >>> curve.best_params, curve.values.round(3).tolist()
    ({'n_neighbors': 25}, [0.233, 0.167, 0.133])
    """

    schema: ClassVar[str] = "truerisk.risk-curve/2"
    stored: ClassVar[Mapping[str, str]] = {"best_set": "rivals"}

    rule: str
    ties: str
    best: Count
    estimates: Annotated[Sequence[RiskEstimate], Column(least=1, most=100_000)] = field(repr=False)
    procedure: RiskEstimate | None = None
    evaluation: Evaluation | None = field(default=None, repr=False, metadata=UNWRITTEN)
    scores: Mapping[str, RiskCurve] = field(default_factory=dict, repr=False, metadata=UNWRITTEN)
    comparable: CandidateLossSource | None = field(default=None, repr=False, metadata=UNWRITTEN)

    @property
    def flaw(self) -> tuple[str, str] | None:
        """Name and requirement of an invalid field, or None if all fields are valid.

        A field of a record that was read from a file may be invalid.
        """
        return None if self.best < len(self) else ("best", "the number of a setting")

    @cached_property
    def candidates(self) -> tuple[Mapping[str, Any], ...]:
        """The hyperparameter settings of the candidates."""
        if isinstance(self.estimates, LazyEstimates):
            return tuple(self.estimates.candidates)
        return tuple(risk.params for risk in self.estimates)

    @cached_property
    def values(self) -> np.ndarray:
        """The value of every candidate, on the requested scale."""
        if isinstance(self.estimates, LazyEstimates):
            return self.common.scale.values(risk_values(self.estimates.candidate_risks).copy())
        return np.array([risk.value for risk in self.estimates], dtype=float)

    @property
    def greater_is_better(self) -> bool:
        """True for a score, False for a loss."""
        return self.common.greater_is_better

    def as_loss(self) -> RiskCurve:
        """Return the same curve, with scores converted to losses; see `RiskEstimate.as_loss`.

        Returns
        -------
        RiskCurve
            The curve as losses.
        """
        scores = {
            _loss_name(name, curve.common): curve.as_loss() for name, curve in self.scores.items()
        }
        procedure = None if self.procedure is None else self.procedure.as_loss()
        estimates = tuple(estimate.as_loss() for estimate in self)
        return replace(self, estimates=estimates, procedure=procedure, scores=scores)

    @cached_property
    def std_errors(self) -> np.ndarray:
        """The standard error of every candidate; NaN if it has none."""
        return np.array([risk.std_error for risk in self.estimates], dtype=float)

    @property
    def common(self) -> RiskEstimate:
        """The provenance that the estimates of all candidates share: method, loss, data."""
        estimates = self.estimates
        return estimates.shared_fields if isinstance(estimates, LazyEstimates) else estimates[0]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of the checks on the rows, and on the predictions of the chosen candidate."""
        estimates = self.estimates
        # Do not assemble the estimates here, because their standard errors may take long.
        if isinstance(estimates, LazyEstimates):
            return estimates.shared_fields.findings + estimates.candidate_risks[self.best].findings
        return self[self.best].findings

    @property
    def best_params(self) -> dict[str, Any]:
        """Setting of the chosen candidate."""
        return dict(self.candidates[self.best])

    def best_set(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Return a confidence set that contains the best setting with probability `level`.

        It is computed from the losses of the held-out rows, without further fits
        (`results/best_set.py`).

        Parameters
        ----------
        level : float, default=0.95
            The confidence level.

        Returns
        -------
        list of dict
            The settings, in the order of the grid.
        """
        return [dict(self.candidates[c]) for c in np.flatnonzero(self._best_set_mask(level))]

    def _best_set_mask(self, level: float) -> np.ndarray:
        if self.comparable is None:
            raise Refusal(
                f"'{self.common.method}' does not keep the losses of every setting on the same "
                "rows: take the curve of a method that splits once, such as '10-fold'."
            )
        is_possibly_best: np.ndarray = load_from_results("best-set")(
            self.comparable.losses(), level
        )
        return is_possibly_best

    def __len__(self) -> int:
        return len(self.estimates)

    def __iter__(self) -> Iterator[RiskEstimate]:
        return (self[c] for c in range(len(self)))

    def __getitem__(self, candidate: int) -> RiskEstimate:
        n = len(self.estimates)
        if not isinstance(candidate, Integral):
            raise BadArgument(
                f"curve[{repr_on_one_line(candidate)}]: give the number of one setting, from 0 to "
                f"{n - 1}; the settings are curve.candidates."
            )
        if not -n <= candidate < n:
            raise IndexError(f"curve[{candidate}]: the curve has {n} settings, from 0 on.")
        return self.estimates[int(candidate) % n]

    @property
    def _honest_numbers(self) -> Mapping[str, HonestNumber]:
        if self.procedure is None and len(self) > 1:
            raise Refusal(UNTESTED_CHOICE_MESSAGE.format(len(self)))
        honest_estimate = self[self.best] if self.procedure is None else self.procedure
        return honest_estimate._honest_numbers

    def to_frame(self, others: Iterable[RiskCurve] = ()) -> Any:
        """Return a frame with a row for each candidate.

        Its columns are the parameters, the value, the standard error, the interval and the choice.

        The rows of `others`, curves by other methods, follow; `method` and `scoring` distinguish
        them. Risks in different losses, such as an AIC and a squared error, are not comparable.

        Parameters
        ----------
        others : iterable of RiskCurve, optional
            Curves of the same or other candidates by other methods.

        Returns
        -------
        DataFrame
            A frame of pandas, or of polars if only that is installed.
        """
        curves = [self, *others]
        empty_params = {
            name: None for curve in curves for params in curve.candidates for name in params
        }
        return frame_from_rows(
            [
                {
                    **empty_params,
                    **params,
                    **estimate._row_values(),
                    "chosen": candidate == curve.best,
                }
                for curve in curves
                for candidate, (params, estimate) in enumerate(
                    zip(curve.candidates, curve, strict=True)
                )
            ]
        )

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the curve with error bars and the chosen candidate (needs matplotlib).

        `others`, curves of the same candidates by other methods, are drawn as well.

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
        return load_from_package("risk-curve")(self, ax=ax, **options)

    def __str__(self) -> str:
        text: str = load_from_results("curve-text")(self)
        return text

    @override
    def blocks(self) -> list[tables.Block]:
        blocks: list[tables.Block] = load_from_results("curve-blocks")(self)
        return blocks

    @cached_property
    def rivals(self) -> Sequence[int] | None:
        """The numbers of the settings in `best_set(0.95)`, or None if there is no such set."""
        try:
            return [int(c) for c in np.flatnonzero(self._best_set_mask(0.95))]
        except Refusal:
            return None


def loss_name_of_score(scoring: str, perfect_score: float) -> str:
    """Return the name of the loss that belongs to a score: "log_loss" for "neg_log_loss".

    >>> loss_name_of_score("neg_log_loss", 0.0), loss_name_of_score("roc_auc", 1.0)
    ('log_loss', '1 - roc_auc')
    """
    if perfect_score == 0 and scoring.startswith("neg_"):
        return scoring.removeprefix("neg_")
    return (
        f"{perfect_score:g} - {scoring}"
        if perfect_score != 0 and perfect_score < inf
        else f"-{scoring}"
    )


def _loss_name(name: str, estimate: RiskEstimate) -> str:
    """Return the name of a further score after its estimate is converted to a loss."""
    return name if estimate.perfect is None else loss_name_of_score(name, estimate.perfect)


def to_estimate(
    candidate_risk: Tested, provenance: RiskEstimate, params: Mapping[str, Any]
) -> RiskEstimate:
    """Build a RiskEstimate from a tested risk and the provenance of its computation.

    A rule that chooses a candidate may need the standard error of a clipped value, but the result
    has none if the loss of a row is infinite. The risk is a loss; the estimate is on the scale of
    `provenance`.
    """
    notes, is_infinite = list(candidate_risk.notes), False
    for finding in candidate_risk.findings:
        notes.append(finding.note)
        is_infinite = is_infinite or finding.code == "infinite-loss"
    estimate = replace(
        provenance,
        value=None if np.isnan(candidate_risk.value) else float(candidate_risk.value),
        std_error=None if is_infinite else candidate_risk.read_std_error(),
        interval=None if is_infinite else candidate_risk.read_interval(),
        perfect=None,
        params=dict(params),
        losses=None
        if candidate_risk.losses is None
        else candidate_risk.losses.astype(np.float64, copy=False),
        loss_rows=candidate_risk.loss_rows,
        split_risks=candidate_risk.split_risks,
        influences=candidate_risk.influences,
        table=None if candidate_risk.table is None else Breakdown(dict(candidate_risk.table)),
        notes=provenance.notes + tuple(map(formats.strip_folders, notes)),
        findings=provenance.findings + candidate_risk.findings,
    )
    return estimate if provenance.perfect is None else estimate.on_scale(provenance.scale)


def select_score(estimate: RiskEstimate, score: Any) -> RiskEstimate:
    """Return the estimate of a score by name.

    It is the estimate itself if `score` is None or its own score, otherwise one of its further
    scores.
    """
    if score is None or (isinstance(score, str) and score == estimate.scoring):
        return estimate
    check_known_score(score, [estimate.scoring, *estimate.scores])
    return estimate.scores[score]


def check_known_score(score: Any, names: Sequence[str]) -> None:
    """Raise UnknownName if a score was not computed; the message suggests a similar name."""
    if not isinstance(score, str) or score not in names:
        raise UnknownName(
            f"{mention('score', score)} was not asked of these "
            f"fits{suggestion_for(score, names) or '.'} "
            f"Known: {', '.join(names)}. Ask for it by {mention('scoring')}."
        )


def add_findings(estimate: RiskEstimate, findings: Sequence[Finding]) -> RiskEstimate:
    """Return the estimate with additional findings and their notes."""
    new_findings = tuple(finding for finding in findings if finding not in estimate.findings)
    notes = (*(finding.note for finding in new_findings), *estimate.notes)
    return replace(estimate, findings=new_findings + estimate.findings, notes=notes)


def all_findings(estimate: RiskEstimate | RiskCurve) -> list[Finding]:
    """Return the findings of an estimate and of its further scores, without duplicates."""
    findings: dict[Finding, None] = {}
    for estimate_of_score in (estimate, *estimate.scores.values()):
        findings |= dict.fromkeys(estimate_of_score.findings)
    return list(findings)
