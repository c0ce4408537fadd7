"""The claim of a fitted search, on its own scale and as a risk, and the scores it stored."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from math import inf
from typing import Any

import numpy as np

from truerisk.core.arguments import mention, shown
from truerisk.core.errors import (
    BadArgument,
    BadData,
    Refusal,
    UnknownName,
    is_failure,
    message_of,
)
from truerisk.core.family import Family
from truerisk.core.formats import clean
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_a, is_exactly, usual_score
from truerisk.data.data import Data
from truerisk.losses.loss import AUC, Loss, class_named
from truerisk.losses.loss_words import as_loss, scorer_losses
from truerisk.plan.builder import leave_out, row_numbers, split_plan
from truerisk.plan.leaks import order_of
from truerisk.plan.plan import Plan
from truerisk.results.finding import Finding
from truerisk.results.interval import Scale
from truerisk.results.results import RiskCurve

SCORER_LOSS = "truerisk.losses.scorer_losses:ScorerLoss"
LEAVE_ONE_OUT = "sklearn.model_selection:LeaveOneOut"
USED_UP = (
    "cv was an iterator and the search has used it up: its splits are gone. "
    "Give cv a list of splits or a splitter, and fit again."
)


@frozen(eq=False)
class Claim:
    """A fitted search in the form that the audit needs, whatever its class.

    `score` is the claim on the search's own scale, on which higher is better. `scores[c, k]` is the
    score of candidate c in split k (NaN if a fit failed); `scores` is None if the search stored
    none. `estimator` with `candidates[c]` is candidate c, and `cv` draws its splits. `exact` is
    False if the search solved along a path, so that a replay differs in the last digits. `pooled`
    is True if the score is computed from all held-out rows together, not as a mean over splits.
    `errors` is True if the search reports errors instead of scores. `curve` is the risk curve of a
    search of this package. `goes_on` is True if the search leaves out settings whose fits fail.
    """

    search: str
    name: str
    score: float
    best: int
    candidates: tuple[Mapping[str, Any], ...]
    estimator: Any
    scoring: Any
    cv: Any
    scores: np.ndarray | None = None
    exact: bool = True
    pooled: bool = False
    errors: bool = False
    curve: RiskCurve | None = None
    goes_on: bool = False
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def best_params(self) -> Mapping[str, Any]:
        """Hyperparameters of the selected candidate."""
        return self.candidates[self.best]

    @property
    def is_one_by_one(self) -> bool:
        """True if each row is tested alone; the smallest score of a split is then meaningless."""
        return self.pooled or is_exactly(self.cv, LEAVE_ONE_OUT)

    @property
    def goes_forward(self) -> bool:
        """True if its models were tested on rows later than those they were trained on."""
        if self.curve is not None and self.curve.evaluation is not None:
            return order_of(self.curve.evaluation.plan) is not None
        return is_exactly(self.cv, "sklearn.model_selection:TimeSeriesSplit")

    @property
    def means(self) -> np.ndarray | None:
        """Mean score of every candidate; NaN if a fit failed."""
        return None if self.scores is None else np.asarray(self.scores.mean(axis=1))

    def usable(self) -> Claim:
        """Return the claim without the failed settings, which cannot be fitted again either."""
        if self.scores is None or np.isfinite(self.scores).all():
            return self
        chosen = np.arange(len(self.candidates)) == self.best
        rated = np.flatnonzero(np.isfinite(self.scores).all(axis=1) | chosen)
        return replace(
            self,
            candidates=tuple(self.candidates[c] for c in rated),
            scores=self.scores[rated],
            best=int(np.flatnonzero(rated == self.best)[0]),
        )

    def refuse_other_rows(self, data: Data) -> None:
        """Refuse rows other than those that a search of this package was fitted on.

        The audit may know groups, times or places that `fit` was not given.
        """
        if self.curve is None:
            return
        apart = replace(data, time=None, block=None)
        if self.curve.common.data_fingerprint not in (
            data.fingerprint,
            apart.fingerprint,
            replace(apart, groups=None).fingerprint,
        ):
            raise BadData(
                "X and y are not the rows that this search was fitted on (other fingerprint): "
                "give the same ones."
            )

    def splitter(self, y: Any) -> Any:
        """Return the object that draws the splits, as scikit-learn interprets `cv`."""
        from sklearn.base import is_classifier
        from sklearn.model_selection import check_cv

        return check_cv(self.cv, y, classifier=is_classifier(self.estimator))

    def plan(self, data: Data) -> Plan:
        """Draw the search's splits again; refuse if they cannot be the same."""
        if self.curve is not None:
            assert self.curve.evaluation is not None
            return self.curve.evaluation.plan
        if is_exactly(self.cv, LEAVE_ONE_OUT):
            return leave_out(data.n_rows, [np.arange(data.n_rows)])
        first, second = self.draw_splits(data), self.draw_splits(data)
        if not first:
            raise Refusal(USED_UP)
        if not _alike(first, second):
            raise Refusal(
                f"the splits of {clean(str(self.cv), 80)} are drawn anew each time, so those of "
                "this search cannot be replayed: give it a random_state (an integer) and fit "
                f"again, or use {mention('level', 'pairs')} or {mention('level', 'nested')}, which "
                "draw splits of their own."
            )
        return split_plan(data.n_rows, first)

    def draw_splits(self, data: Data) -> list[tuple[np.ndarray, np.ndarray]]:
        """Draw the splits once; refuse a splitter that fails on these rows."""
        try:
            # Groups that are split are reported as a finding of their own.
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="The groups parameter is ignored")
                pairs = list(self.splitter(data.y).split(data.X, data.y, data.groups))
        except BaseException as error:  # A user's splitter may raise anything.
            if not is_failure(error):
                raise
            why = message_of(error)
            hint = f". Give {mention('groups')} as you did to fit." if "group" in why else ""
            raise Refusal(f"the splits of the search cannot be replayed: {why}{hint}") from error
        return [(row_numbers(train), row_numbers(test)) for train, test in pairs]


def _alike(first: list[Any], second: list[Any]) -> bool:
    return len(first) == len(second) and all(
        np.array_equal(a, b)
        for pair, other in zip(first, second, strict=True)
        for a, b in zip(pair, other, strict=True)
    )


Factor = Callable[[Data, np.ndarray], np.ndarray]

PERFECT_IS_1 = {
    "average_precision",
    "d2_absolute_error_score",
    "d2_brier_score",
    "d2_log_loss_score",
    "explained_variance",
    "matthews_corrcoef",
    "rand_score",
    "adjusted_rand_score",
    "top_k_accuracy",
    "accuracy",
    "balanced_accuracy",
    "r2",
}
FAMILIES_OF_1 = ("f1", "jaccard", "precision", "recall", "roc_auc")


def _none(data: Data, rows: np.ndarray) -> np.ndarray:
    return np.ones(len(rows))


def _by_variance(data: Data, rows: np.ndarray) -> np.ndarray:
    """Return factors whose use makes 1 − R² of a set a mean over rows: 1/var of y in that set."""
    variance = data.y[rows].var()
    return np.full(len(rows), 1 / variance if variance > 0 else np.nan)


def _by_class(data: Data, rows: np.ndarray) -> np.ndarray:
    """Return factors whose use makes 1 − balanced accuracy of a set a mean: n / (K n_class)."""
    codes = data.codes_of(rows)
    sizes = np.bincount(codes, minlength=data.n_classes)
    return len(rows) / (np.count_nonzero(sizes) * sizes[codes])


@frozen
class NamedScore:
    """scikit-learn's scorer of a name as a search uses it: the positive class is the label 1."""

    name: str

    def __call__(self, estimator: Any, X: Any, y: Any, **options: Any) -> Any:
        """Score the estimator with scikit-learn's scorer of this name."""
        from sklearn.metrics import get_scorer

        return get_scorer(self.name)(estimator, X, y, **options)

    def __str__(self) -> str:
        return self.name


_BY_ROWS: dict[str, tuple[str, Factor]] = {
    "accuracy": ("zero-one", _none),
    "neg_mean_squared_error": ("squared", _none),
    "neg_mean_absolute_error": ("absolute", _none),
    "neg_log_loss": ("log", _none),
    "neg_brier_score": ("brier", _none),
    "r2": ("squared", _by_variance),
    "balanced_accuracy": ("zero-one", _by_class),
}


@frozen(eq=False)
class ScoreScale:
    """The conversion of a search's score to a risk, for computations: risk = perfect − score.

    `loss` is computed by truerisk for single rows. `factor` returns multipliers with which the mean
    over a test set is the risk there. `whole` is the loss of a whole test set. `by_rows` is False
    for scores that are not means over rows, such as AUC. An unknown score keeps its own scale with
    the sign reversed (`perfect` is then 0). `word` is the name of the risk, `name` the name of the
    score. `errors` is True if the search scores by an error, which results then report.
    """

    word: str
    perfect: float
    loss: Any
    by_rows: bool
    factor: Factor = _none
    whole: Any = None
    is_known: bool = True
    name: str = ""
    errors: bool = False

    def risk(self, score: Any) -> Any:
        """Convert scores to risks."""
        return self.perfect - score

    def score(self, risk: Any) -> Any:
        """Convert risks to scores."""
        return self.perfect - risk

    def reported(self, score: float) -> float:
        """Return the score, or the error if the search scores by an error."""
        return float(self.risk(score) if self.errors else score)

    @property
    def shown(self) -> Scale:
        """The scale of results, which is that of the audited search."""
        if self.errors:
            return Scale()
        return Scale(self.perfect if self.is_known else inf)

    @property
    def called(self) -> str:
        """The name printed with the reported value."""
        return self.word if self.errors else self.name


def scale_of(claim: Claim) -> ScoreScale:
    """Return the scale of a claim; an unknown scorer keeps its scale, with the sign reversed."""
    if isinstance(claim.scoring, Loss):
        loss = claim.scoring
        name = loss.name if loss.is_score else f"−{loss.name}"
        scale = ScoreScale(loss.name, loss.perfect, loss, loss.per_row, whole=loss)
    elif (label := known_name(claim)) is None:
        name, own = _name_of(claim), claim.scoring
        scale = ScoreScale(f"−{name}", 0.0, own, False, whole=own, is_known=False)
    else:
        name, scale = label, _from_name(label, claim)
    return replace(scale, name=name, errors=claim.errors or name.startswith("−"))


def _from_name(name: str, claim: Claim) -> ScoreScale:
    """Return the scale of a score of scikit-learn."""
    if name in _BY_ROWS:
        loss_name, factor = _BY_ROWS[name]
        named = loss_name if factor is _none else f"1 − {name}"
        perfect = 0.0 if name.startswith("neg_") else 1.0
        whole = loss_name if factor is _none else name
        return ScoreScale(named, perfect, loss_name, True, factor, whole)
    if name == "roc_auc":
        return ScoreScale("auc", 1.0, "auc", False, whole="auc")
    scorer = NamedScore(name)
    if name.startswith("neg_"):
        return ScoreScale(name.removeprefix("neg_"), 0.0, scorer, False, whole=scorer)
    if perfect_of(name) == 1:
        return ScoreScale(f"1 − {name}", 1.0, scorer, False, whole=scorer)
    return ScoreScale(f"−{name}", 0.0, claim.scoring, False, whole=claim.scoring, is_known=False)


def perfect_of(name: str) -> float:
    """Return the largest score, infinite if it is unknown; 0 for errors with the sign reversed."""
    if name.startswith("neg_"):
        return 0.0
    return 1.0 if name in PERFECT_IS_1 or name.startswith(FAMILIES_OF_1) else np.inf


def scale_on_rows(scale: ScoreScale, claim: Claim, data: Data) -> ScoreScale:
    """Return the scale with the loss that HonestSearchCV uses for the same score.

    If the score exists in this package under another name (F1, balanced accuracy, AUC), that loss
    rates the whole test sets; the influence of each row on it is known, so that an interval exists.
    Any other score is evaluated for a perfect rule on these y.
    """
    same = None if isinstance(claim.scoring, Loss) else _same_loss(claim, data)
    if same is None or (scale.is_known and same.perfect != scale.perfect):
        return known_by(scale, data)
    if scale.is_known:
        return replace(scale, whole=same)
    return replace(
        scale,
        word=f"1 − {same.name}",
        name=same.name,
        perfect=same.perfect,
        loss=same,
        whole=same,
        is_known=True,
        errors=False,
    )


def _same_loss(claim: Claim, data: Data) -> Loss | None:
    """Return the loss of this package that equals the score of the search, or None."""
    from sklearn.metrics import get_scorer

    name = known_name(claim)
    scorer = claim.scoring if name is None else get_scorer(name)
    if data.task not in ("classification", "regression") or not callable(scorer):
        return None
    try:
        loss: Loss = scorer_losses().loss_of_scorer(scorer, data)
        loss.check(data)
    except Refusal:
        return None
    return None if is_a(loss, SCORER_LOSS) else loss


def refuse_other_class(scale: ScoreScale, claim: Claim, data: Data, positive: Any) -> None:
    """Refuse `positive` unless the score of the search refers to that class."""
    if positive is None:
        return
    named, rated = data.label(class_named(positive, data)), _rated_class(scale, claim, data)
    if rated is None:
        raise BadArgument(
            f"{mention('positive', positive)} names a class, and the score of this search "
            f"({scale.name}) is not of one class: leave positive out."
        )
    if rated != named and not is_a(scale.whole, AUC):  # the AUC is the same for both classes
        raise BadArgument(
            f"{mention('positive', positive)}: the search scores by {scale.name} of class "
            f"{shown(rated)}. Give the search the scorer of the class that you mean, such as "
            "make_scorer(f1_score, pos_label=...), and fit it again."
        )


def _rated_class(scale: ScoreScale, claim: Claim, data: Data) -> Any:
    """Return the class to which the score of the search refers, or None for all classes."""
    if isinstance(scale.whole, Loss) and not is_a(scale.whole, SCORER_LOSS):
        return scale.whole.label(data)
    if known_name(claim) in OF_ONE_CLASS:
        return 1
    return getattr(claim.scoring, "__dict__", {}).get("_kwargs", {}).get("pos_label")


OF_ONE_CLASS = ("average_precision", "f1", "jaccard", "precision", "recall")


def scorer_of_class(name: str, positive: Any) -> Any:
    """Return scikit-learn's scorer of a name, for the class `positive` in place of the label 1."""
    from sklearn.metrics import get_scorer, make_scorer

    made = vars(get_scorer(name))
    options = {**made["_kwargs"], "pos_label": positive}
    return make_scorer(made["_score_func"], response_method=made["_response_method"], **options)


def known_by(scale: ScoreScale, data: Data) -> ScoreScale:
    """Return the scale of an unknown scorer after scoring a perfect rule on these y."""
    if scale.is_known or not callable(scale.loss):
        return scale
    try:
        loss = as_loss(scale.loss, data)
    except (Refusal, UnknownName):
        return scale
    named = f"{loss.perfect:g} {scale.word}"
    return replace(scale, word=named, perfect=loss.perfect, loss=loss, whole=loss, is_known=True)


def known_name(claim: Claim) -> str | None:
    """Return scikit-learn's name for the score that the search maximised, or None."""
    scoring = claim.scoring
    if isinstance(scoring, str):
        return scoring
    if scoring is None:
        return usual_score(claim.estimator)
    from sklearn.metrics import get_scorer, get_scorer_names

    names = ("accuracy", "r2", *get_scorer_names())
    return next((str(name) for name in names if _is_same(scoring, get_scorer(name))), None)


def _is_same(this: Any, other: Any) -> bool:
    """Return True if two scorers, or their parts, are equal down to identical functions."""
    if this is other:
        return True
    if type(this) is not type(other):
        return False
    if isinstance(this, str | int | float | tuple | list):
        return repr(this) == repr(other)
    if not isinstance(this, dict):
        return hasattr(this, "__dict__") and bool(vars(this)) and _is_same(vars(this), vars(other))
    return this.keys() == other.keys() and all(_is_same(this[name], other[name]) for name in this)


def _name_of(claim: Claim) -> str:
    """Return the name of a user-defined scorer."""
    if claim.scoring is None:
        return f"{Family(claim.estimator).name}.score"
    return str(getattr(claim.scoring, "__name__", claim.scoring))
