"""`Claim`: the score that a fitted search reports, and its conversion to a risk."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from math import inf
from typing import Any

import numpy as np

from truerisk.core.arguments import mention, repr_on_one_line
from truerisk.core.errors import (
    BadArgument,
    BadData,
    Refusal,
    UnknownName,
    describe_error,
    is_failure,
)
from truerisk.core.family import Family
from truerisk.core.formats import escape_and_truncate
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_a, is_exactly, standard_score_name
from truerisk.data.data import Data
from truerisk.losses.loss import AUC_IMPORT_PATH, Loss, class_code
from truerisk.losses.loss_words import as_loss, import_scorer_losses
from truerisk.plan.builder import plan_from_splits, plan_leave_one_fold_out, to_row_numbers
from truerisk.plan.leaks import find_split_order
from truerisk.plan.plan import Plan
from truerisk.results.finding import Finding
from truerisk.results.interval import Scale
from truerisk.results.results import RiskCurve

SCORER_LOSS_PATH = "truerisk.losses.scorer_losses:ScorerLoss"
LEAVE_ONE_OUT_PATH = "sklearn.model_selection:LeaveOneOut"
USED_UP_CV_MESSAGE = (
    "cv was an iterator and the search has used it up: its splits are gone. "
    "Give cv a list of splits or a splitter, and fit again."
)


@frozen(eq=False)
class Claim:
    """Best score that a fitted search reports, with its candidates, splits and scorer.

    `score` is the reported score on the search's own scale, on which higher is better. `scores[c,
    k]` is the score of candidate c in split k (NaN if a fit failed); `scores` is None if the search
    stored none. `estimator` with the parameters `candidates[c]` is candidate c, and `cv` draws the
    splits. `is_exact` is False if the search solved along a path, so that a replay differs in the
    last digits. `is_pooled` is True if the score is computed from all held-out rows together, not
    as a mean over splits. `errors` is True if the search reports errors instead of scores. `curve`
    is the risk curve of a search of this package. `skips_failures` is True if the search leaves out
    settings whose fits fail.
    """

    search_name: str
    name: str
    score: float
    best_candidate: int
    candidates: tuple[Mapping[str, Any], ...]
    estimator: Any
    scoring: Any
    cv: Any
    scores: np.ndarray | None = None
    is_exact: bool = True
    is_pooled: bool = False
    errors: bool = False
    curve: RiskCurve | None = None
    skips_failures: bool = False
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def best_params(self) -> Mapping[str, Any]:
        """Hyperparameters of the selected candidate."""
        return self.candidates[self.best_candidate]

    @property
    def has_single_row_test_sets(self) -> bool:
        """True if each test set of the search is a single row.

        The smallest score of a split is then meaningless.
        """
        return self.is_pooled or is_exactly(self.cv, LEAVE_ONE_OUT_PATH)

    @property
    def goes_forward(self) -> bool:
        """True if the search tested its models on later rows than those used for training."""
        if self.curve is not None and self.curve.evaluation is not None:
            return find_split_order(self.curve.evaluation.plan) is not None
        return is_exactly(self.cv, "sklearn.model_selection:TimeSeriesSplit")

    @property
    def means(self) -> np.ndarray | None:
        """Mean score of each candidate over the splits; NaN for a candidate with a failed fit."""
        return None if self.scores is None else np.asarray(self.scores.mean(axis=1))

    def drop_failed_candidates(self) -> Claim:
        """Return a copy of the claim without the candidates whose fits failed.

        These candidates could not be fitted again either.
        """
        if self.scores is None or np.isfinite(self.scores).all():
            return self
        is_best = np.arange(len(self.candidates)) == self.best_candidate
        kept_candidates = np.flatnonzero(np.isfinite(self.scores).all(axis=1) | is_best)
        return replace(
            self,
            candidates=tuple(self.candidates[candidate] for candidate in kept_candidates),
            scores=self.scores[kept_candidates],
            best_candidate=int(np.flatnonzero(kept_candidates == self.best_candidate)[0]),
        )

    def refuse_other_rows(self, data: Data) -> None:
        """Raise BadData if the rows are not those on which a search of this package was fitted.

        The audit may know groups, times or places that `fit` was not given.
        """
        if self.curve is None:
            return
        without_order = replace(data, time=None, block=None)
        if self.curve.common.data_fingerprint not in (
            data.fingerprint,
            without_order.fingerprint,
            replace(without_order, groups=None).fingerprint,
        ):
            raise BadData(
                "X and y are not the rows that this search was fitted on (other fingerprint): "
                "give the same ones."
            )

    def splitter(self, y: Any) -> Any:
        """Return the splitter into which scikit-learn converts the search's `cv`."""
        from sklearn.base import is_classifier
        from sklearn.model_selection import check_cv

        return check_cv(self.cv, y, classifier=is_classifier(self.estimator))

    def plan(self, data: Data) -> Plan:
        """Draw the splits of the search again; raise Refusal if other splits would be drawn."""
        if self.curve is not None:
            assert self.curve.evaluation is not None
            return self.curve.evaluation.plan
        if is_exactly(self.cv, LEAVE_ONE_OUT_PATH):
            return plan_leave_one_fold_out(data.n_rows, [np.arange(data.n_rows)])
        first_splits, second_splits = self.draw_splits(data), self.draw_splits(data)
        if not first_splits:
            raise Refusal(USED_UP_CV_MESSAGE)
        if not _are_equal_splits(first_splits, second_splits):
            raise Refusal(
                f"the splits of {escape_and_truncate(str(self.cv), 80)} are drawn anew each time, "
                "so those of this search cannot be replayed: give it a random_state (an integer) "
                f"and fit again, or use {mention('level', 'pairs')} or "
                f"{mention('level', 'nested')}, which draw splits of their own."
            )
        return plan_from_splits(data.n_rows, first_splits)

    def draw_splits(self, data: Data) -> list[tuple[np.ndarray, np.ndarray]]:
        """Draw the splits of the search once; raise Refusal if the splitter fails on these rows."""
        try:
            # A finding of the audit reports groups that splits divide, so no warning is needed.
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="The groups parameter is ignored")
                train_test_pairs = list(self.splitter(data.y).split(data.X, data.y, data.groups))
        except BaseException as error:  # A user's splitter may raise anything.
            if not is_failure(error):
                raise
            error_text = describe_error(error)
            remedy_text = (
                f". Give {mention('groups')} as you did to fit." if "group" in error_text else ""
            )
            raise Refusal(
                f"the splits of the search cannot be replayed: {error_text}{remedy_text}"
            ) from error
        return [(to_row_numbers(train), to_row_numbers(test)) for train, test in train_test_pairs]


def _are_equal_splits(first_splits: list[Any], second_splits: list[Any]) -> bool:
    return len(first_splits) == len(second_splits) and all(
        np.array_equal(first_rows, second_rows)
        for first_pair, second_pair in zip(first_splits, second_splits, strict=True)
        for first_rows, second_rows in zip(first_pair, second_pair, strict=True)
    )


RowFactors = Callable[[Data, np.ndarray], np.ndarray]

SCORES_WITH_PERFECT_1 = {
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
PREFIXES_WITH_PERFECT_1 = ("f1", "jaccard", "precision", "recall", "roc_auc")


def _unit_factors(data: Data, rows: np.ndarray) -> np.ndarray:
    return np.ones(len(rows))


def _variance_factors(data: Data, rows: np.ndarray) -> np.ndarray:
    """Return factors for squared errors with which 1 − R² of a test set is a mean over its rows.

    Each factor is 1/var(y).

    The variance is that of y in the test set.
    """
    variance = data.y[rows].var()
    return np.full(len(rows), 1 / variance if variance > 0 else np.nan)


def _class_factors(data: Data, rows: np.ndarray) -> np.ndarray:
    """Return factors for errors with which 1 − balanced accuracy of a test set is a mean over rows.

    The factor of a row is n / (K n_class).

    K is the number of classes in the test set of n rows, and n_class is the size of a row's class.
    """
    class_codes = data.codes_of(rows)
    class_sizes = np.bincount(class_codes, minlength=data.n_classes)
    return len(rows) / (np.count_nonzero(class_sizes) * class_sizes[class_codes])


@frozen
class NamedScorer:
    """Scorer of scikit-learn with a given name, for which the positive class is the label 1."""

    name: str

    def __call__(self, estimator: Any, X: Any, y: Any, **options: Any) -> Any:
        """Score the estimator with scikit-learn's scorer of this name."""
        from sklearn.metrics import get_scorer

        return get_scorer(self.name)(estimator, X, y, **options)

    def __str__(self) -> str:
        return self.name


_LOSS_AND_FACTORS_BY_SCORE: dict[str, tuple[str, RowFactors]] = {
    "accuracy": ("zero-one", _unit_factors),
    "neg_mean_squared_error": ("squared", _unit_factors),
    "neg_mean_absolute_error": ("absolute", _unit_factors),
    "neg_log_loss": ("log", _unit_factors),
    "neg_brier_score": ("brier", _unit_factors),
    "r2": ("squared", _variance_factors),
    "balanced_accuracy": ("zero-one", _class_factors),
}


@frozen(eq=False)
class ScoreScale:
    """Conversion of a search's score to a risk. The risk is `perfect` minus the score.

    `loss` is computed by truerisk for single rows. `row_factors` returns multipliers of the rows'
    losses, with which the mean over a test set is the risk there. `test_set_loss` is the loss of a
    whole test set. `is_mean_over_rows` is False for scores that are not means over rows, such as
    AUC. An unknown score keeps its own scale with the sign reversed (`perfect` is then 0).
    `risk_name` is the name of the risk, `name` the name of the score. `errors` is True if the
    search scores by an error, which results then report.
    """

    risk_name: str
    perfect: float
    loss: Any
    is_mean_over_rows: bool
    row_factors: RowFactors = _unit_factors
    test_set_loss: Any = None
    is_known: bool = True
    name: str = ""
    errors: bool = False

    def risk(self, score: Any) -> Any:
        """Convert scores to risks."""
        return self.perfect - score

    def score(self, risk: Any) -> Any:
        """Convert risks to scores."""
        return self.perfect - risk

    def reported_value(self, score: float) -> float:
        """Return the score, or the error if the search scores by an error."""
        return float(self.risk(score) if self.errors else score)

    @property
    def result_scale(self) -> Scale:
        """Scale on which results are printed: the score or error of the audited search."""
        if self.errors:
            return Scale()
        return Scale(self.perfect if self.is_known else inf)

    @property
    def printed_name(self) -> str:
        """Name that is printed with the reported value."""
        return self.risk_name if self.errors else self.name


def make_score_scale(claim: Claim) -> ScoreScale:
    """Return how the score that a fitted search reports is converted to a risk.

    An unknown scorer keeps its own scale, with the sign reversed.
    """
    if isinstance(claim.scoring, Loss):
        loss = claim.scoring
        score_name = loss.name if loss.is_score else f"−{loss.name}"
        score_scale = ScoreScale(loss.name, loss.perfect, loss, loss.per_row, test_set_loss=loss)
    elif (scorer_name := find_sklearn_name(claim)) is None:
        score_name, user_scorer = _name_of_user_scorer(claim), claim.scoring
        score_scale = ScoreScale(
            f"−{score_name}", 0.0, user_scorer, False, test_set_loss=user_scorer, is_known=False
        )
    else:
        score_name, score_scale = scorer_name, _scale_from_name(scorer_name, claim)
    return replace(score_scale, name=score_name, errors=claim.errors or score_name.startswith("−"))


def _scale_from_name(scorer_name: str, claim: Claim) -> ScoreScale:
    """Return how scikit-learn's score of this name is converted to a risk."""
    if scorer_name in _LOSS_AND_FACTORS_BY_SCORE:
        loss_name, row_factors = _LOSS_AND_FACTORS_BY_SCORE[scorer_name]
        risk_name = loss_name if row_factors is _unit_factors else f"1 − {scorer_name}"
        perfect_score = 0.0 if scorer_name.startswith("neg_") else 1.0
        test_set_loss = loss_name if row_factors is _unit_factors else scorer_name
        return ScoreScale(risk_name, perfect_score, loss_name, True, row_factors, test_set_loss)
    if scorer_name == "roc_auc":
        return ScoreScale("auc", 1.0, "auc", False, test_set_loss="auc")
    scorer = NamedScorer(scorer_name)
    if scorer_name.startswith("neg_"):
        return ScoreScale(
            scorer_name.removeprefix("neg_"), 0.0, scorer, False, test_set_loss=scorer
        )
    if find_perfect_score(scorer_name) == 1:
        return ScoreScale(f"1 − {scorer_name}", 1.0, scorer, False, test_set_loss=scorer)
    return ScoreScale(
        f"−{scorer_name}", 0.0, claim.scoring, False, test_set_loss=claim.scoring, is_known=False
    )


def find_perfect_score(scorer_name: str) -> float:
    """Return the largest possible value of a scorer, infinity if it is unknown.

    It is 0 for errors with the sign reversed, such as "neg_log_loss".
    """
    if scorer_name.startswith("neg_"):
        return 0.0
    return (
        1.0
        if scorer_name in SCORES_WITH_PERFECT_1 or scorer_name.startswith(PREFIXES_WITH_PERFECT_1)
        else np.inf
    )


def scale_with_package_loss(score_scale: ScoreScale, claim: Claim, data: Data) -> ScoreScale:
    """Return how a score is converted to a risk, with the loss of this package for that risk.

    If the score exists in this package (F1, balanced accuracy, AUC), perhaps under another name,
    that loss rates the whole test sets. The influence of each row on it is known, so that an
    interval exists. Any other score is evaluated for a perfect rule on these y.
    """
    equal_loss = None if isinstance(claim.scoring, Loss) else _loss_equal_to_score(claim, data)
    if equal_loss is None or (score_scale.is_known and equal_loss.perfect != score_scale.perfect):
        return complete_scorer_scale(score_scale, data)
    if score_scale.is_known:
        return replace(score_scale, test_set_loss=equal_loss)
    return replace(
        score_scale,
        risk_name=f"1 − {equal_loss.name}",
        name=equal_loss.name,
        perfect=equal_loss.perfect,
        loss=equal_loss,
        test_set_loss=equal_loss,
        is_known=True,
        errors=False,
    )


def _loss_equal_to_score(claim: Claim, data: Data) -> Loss | None:
    """Return the loss of this package that equals the score of the search, or None."""
    from sklearn.metrics import get_scorer

    sklearn_name = find_sklearn_name(claim)
    scorer = claim.scoring if sklearn_name is None else get_scorer(sklearn_name)
    if data.task not in ("classification", "regression") or not callable(scorer):
        return None
    try:
        loss: Loss = import_scorer_losses().loss_from_scorer(scorer, data)
        loss.check(data)
    except Refusal:
        return None
    return None if is_a(loss, SCORER_LOSS_PATH) else loss


def refuse_other_class(score_scale: ScoreScale, claim: Claim, data: Data, positive: Any) -> None:
    """Raise BadArgument unless the search's score refers to the class `positive`."""
    if positive is None:
        return
    requested_class, class_of_score = (
        data.label(class_code(positive, data)),
        scored_class(score_scale, claim, data),
    )
    if class_of_score is None:
        raise BadArgument(
            f"{mention('positive', positive)} names a class, and the score of this search "
            f"({score_scale.name}) is not of one class: leave positive out."
        )
    # The AUC is the same for both classes.
    if class_of_score != requested_class and not is_a(score_scale.test_set_loss, AUC_IMPORT_PATH):
        raise BadArgument(
            f"{mention('positive', positive)}: the search scores by {score_scale.name} of class "
            f"{repr_on_one_line(class_of_score)}. Give the search the scorer of the class that you "
            "mean, such as make_scorer(f1_score, pos_label=...), and fit it again."
        )


def scored_class(score_scale: ScoreScale, claim: Claim, data: Data | None) -> Any:
    """Return the class to which the search's score refers; None stands for all classes.

    Without rows the class of the AUC, and of a loss of this package, is unknown.
    """
    if (
        data is not None
        and isinstance(score_scale.test_set_loss, Loss)
        and not is_a(score_scale.test_set_loss, SCORER_LOSS_PATH)
    ):
        return score_scale.test_set_loss.label(data)
    if find_sklearn_name(claim) in ONE_CLASS_SCORES:
        return 1
    return getattr(claim.scoring, "__dict__", {}).get("_kwargs", {}).get("pos_label")


ONE_CLASS_SCORES = ("average_precision", "f1", "jaccard", "precision", "recall")


def make_scorer_for_class(scorer_name: str, positive: Any) -> Any:
    """Return scikit-learn's scorer with this name for the class `positive`, not for the label 1."""
    from sklearn.metrics import get_scorer, make_scorer

    scorer_attributes = vars(get_scorer(scorer_name))
    scorer_options = {**scorer_attributes["_kwargs"], "pos_label": positive}
    return make_scorer(
        scorer_attributes["_score_func"],
        response_method=scorer_attributes["_response_method"],
        **scorer_options,
    )


def complete_scorer_scale(score_scale: ScoreScale, data: Data) -> ScoreScale:
    """Find how an unknown scorer's score is converted to a risk, by scoring perfect predictions.

    A scale that is known already, or cannot be determined, is returned unchanged.
    """
    if score_scale.is_known or not callable(score_scale.loss):
        return score_scale
    try:
        loss = as_loss(score_scale.loss, data)
    except (Refusal, UnknownName):
        return score_scale
    risk_name = f"{loss.perfect:g} {score_scale.risk_name}"
    return replace(
        score_scale,
        risk_name=risk_name,
        perfect=loss.perfect,
        loss=loss,
        test_set_loss=loss,
        is_known=True,
    )


def find_sklearn_name(claim: Claim) -> str | None:
    """Return scikit-learn's name of the score that the search maximised; None if it has no name."""
    scoring = claim.scoring
    if isinstance(scoring, str):
        return scoring
    if scoring is None:
        return standard_score_name(claim.estimator)
    from sklearn.metrics import get_scorer, get_scorer_names

    scorer_names = ("accuracy", "r2", *get_scorer_names())
    return next(
        (
            str(scorer_name)
            for scorer_name in scorer_names
            if _are_same_scorers(scoring, get_scorer(scorer_name))
        ),
        None,
    )


def _are_same_scorers(first_scorer: Any, second_scorer: Any) -> bool:
    """Return True if two scorers, or two attributes of scorers, compute the same.

    They are compared attribute by attribute, and must use the same functions.
    """
    if first_scorer is second_scorer:
        return True
    if type(first_scorer) is not type(second_scorer):
        return False
    if isinstance(first_scorer, str | int | float | tuple | list):
        return repr(first_scorer) == repr(second_scorer)
    if not isinstance(first_scorer, dict):
        return (
            hasattr(first_scorer, "__dict__")
            and bool(vars(first_scorer))
            and _are_same_scorers(vars(first_scorer), vars(second_scorer))
        )
    return first_scorer.keys() == second_scorer.keys() and all(
        _are_same_scorers(first_scorer[attribute_name], second_scorer[attribute_name])
        for attribute_name in first_scorer
    )


def _name_of_user_scorer(claim: Claim) -> str:
    """Return the name of a user-defined scorer, for messages."""
    if claim.scoring is None:
        return f"{Family(claim.estimator).name}.score"
    return str(getattr(claim.scoring, "__name__", claim.scoring))
