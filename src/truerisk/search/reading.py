"""Reading of the best score that a fitted search reports: grids, linear models, Optuna studies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from truerisk.core.arguments import repr_on_one_line
from truerisk.core.errors import Refusal
from truerisk.core.family import check_has_tags
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_a, is_honest_search
from truerisk.results.finding import Finding
from truerisk.search.claim import Claim
from truerisk.search.several_scores import scorer_of_function


def read_claim(search: Any) -> Claim:
    """Return the best score that a fitted search reports.

    The kind of search is recognised by its attributes, not by its class.
    """
    search = unwrap_search(search)
    _refuse_non_search(search)
    if hasattr(search, "study_"):
        return read_study(search)
    if hasattr(search, "mse_path_"):
        return read_lasso(search)
    if hasattr(search, "scores_") and hasattr(search, "Cs_"):
        return read_logistic(search)
    if hasattr(search, "alpha_") and hasattr(search, "alphas") and hasattr(search, "best_score_"):
        return read_ridge(search)
    if isinstance(getattr(search, "cv_results_", None), dict) and hasattr(search, "estimator"):
        return read_grid_search(search)
    raise Refusal(
        f"{type(search).__name__} holds nothing to audit (no cv_results_, study_, scores_ or "
        "mse_path_). Audited are GridSearchCV, RandomizedSearchCV, the halving searches, "
        "LogisticRegressionCV, RidgeCV, LassoCV, ElasticNetCV, OptunaSearchCV and HonestSearchCV; "
        "for anything else use tr.estimate_risk(search, X, y), which repeats it in every split."
    )


def unwrap_search(search: Any) -> Any:
    """Return the search that a HonestSearchCV contains; return any other search unchanged."""
    wraps_search = is_honest_search(search) and "search_" in vars(search)
    return unwrap_search(search.search_) if wraps_search else search


def _refuse_non_search(search: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if is_a(search, "optuna.study:Study"):
        raise Refusal(
            "a Study of Optuna keeps no predictions: store the held-out losses of each trial by "
            "trial.set_user_attr('losses', losses.tolist()), and write tr.audit_table({t.number: "
            "t.user_attrs['losses'] for t in study.trials if 'losses' in t.user_attrs}, "
            "order=True)."
        )
    if isinstance(search, type) or not hasattr(search, "fit"):
        raise Refusal(
            f"{repr_on_one_line(search)} is no search; give a fitted one, such as a GridSearchCV."
        )
    if hasattr(search, "study_"):
        return  # An OptunaSearchCV is fitted if it has a study.
    check_has_tags(search)
    try:
        check_is_fitted(search)
    except NotFittedError:
        if not hasattr(search, "cv"):
            # A model without `cv` is no search and reports no best score, even after its fit.
            return
        raise Refusal(
            f"this {type(search).__name__} is not fitted: there is no claim yet. "
            "Call fit(X, y) first."
        ) from None


def read_grid_search(search: Any) -> Claim:
    """Read a fitted GridSearchCV or a similar search: candidates, scores and splits."""
    if hasattr(search, "curve_"):
        return _read_honest_search(search)
    results = search.cv_results_
    refit_metric = _refit_metric(search)
    if not hasattr(search, "best_index_"):
        raise Refusal(
            "the search kept several metrics and refit=False, so it claims none of them: "
            "fit it with refit='the metric' to say by which a setting is chosen."
        )
    candidate_numbers = np.arange(len(results["params"]))
    cv: Any = search.cv
    notes: tuple[str, ...] = ()
    if "n_resources" in results:
        candidate_numbers, cv, notes = _read_last_round(search)
    scores = _test_scores(results, refit_metric)[candidate_numbers]
    best_number = int(np.flatnonzero(candidate_numbers == search.best_index_)[0])
    scoring = search.scoring
    if getattr(search, "multimetric_", False):
        scorer = search.scorer_
        scoring = (
            scorer_of_function(scorer, refit_metric) if callable(scorer) else scorer[refit_metric]
        )
    return Claim(
        search_name=type(search).__name__,
        name="best_score_" if hasattr(search, "best_score_") else "the mean score of best_index_",
        score=float(getattr(search, "best_score_", scores[best_number].mean())),
        best_candidate=best_number,
        candidates=tuple(dict(results["params"][row]) for row in candidate_numbers),
        estimator=search.estimator,
        scoring=scoring,
        cv=cv,
        scores=scores,
        skips_failures=getattr(search, "error_score", "raise") != "raise",
        findings=_metric_findings(search, refit_metric),
        notes=notes,
    )


def _read_honest_search(search: Any) -> Claim:
    curve = search.curve_
    return Claim(
        search_name=type(search).__name__,
        name="best_score_",
        score=float(search.best_score_),
        best_candidate=int(search.best_index_),
        candidates=curve.candidates,
        estimator=search.estimator,
        scoring=search.loss_,
        cv=None,
        scores=_test_scores(search.cv_results_, "score"),
        curve=curve,
    )


def _refit_metric(search: Any) -> str:
    if not getattr(search, "multimetric_", False):
        return "score"
    if isinstance(search.refit, str):
        return str(search.refit)
    raise Refusal(
        "the search kept several metrics and chose by a function of its own (refit): no single "
        "score is claimed. Use tr.estimate_risk(search, X, y), or refit='the metric'."
    )


def _metric_findings(search: Any, metric: str) -> tuple[Finding, ...]:
    if not getattr(search, "multimetric_", False):
        return ()
    mean_score_keys = [
        mean_score_key
        for mean_score_key in search.cv_results_
        if mean_score_key.startswith("mean_test_")
    ]
    other_metrics = sorted(
        {mean_score_key.removeprefix("mean_test_") for mean_score_key in mean_score_keys} - {metric}
    )
    return (
        Finding(
            "several-metrics",
            f"The setting was chosen by '{metric}'; {', '.join(other_metrics)} of the same setting "
            "are not audited here.",
            "Report the metric that chose, or audit a search that chooses by the other one.",
        ),
    )


def _test_scores(results: Mapping[str, Any], metric: str) -> np.ndarray:
    """Return the test scores in `cv_results_`: candidates in rows, splits in columns."""
    key_ending = f"_test_{metric}"
    split_keys = [
        split_key
        for split_key in results
        if split_key.startswith("split") and split_key.endswith(key_ending)
    ]
    split_keys.sort(
        key=lambda split_key: int(split_key.removeprefix("split").removesuffix(key_ending))
    )
    if not split_keys:
        raise Refusal("cv_results_ holds no scores of single splits (split0_test_score, …).")
    return np.column_stack(
        [np.asarray(results[split_key], dtype=np.float64) for split_key in split_keys]
    )


def _read_last_round(search: Any) -> tuple[np.ndarray, Any, tuple[str, ...]]:
    """Return the candidates of a halving search's last round, the round's splitter, and notes."""
    results = search.cv_results_
    round_of_candidate = np.asarray(results["iter"])
    is_last_round = round_of_candidate == round_of_candidate.max()
    n_dropped = len(round_of_candidate[round_of_candidate == 0]) - int(is_last_round.sum())
    n_remaining = int(is_last_round.sum())
    halving_note = (
        f"halving: of {n_dropped + n_remaining} settings the {n_remaining} of the last round are "
        "audited; "
    )
    halving_notes = (
        f"{halving_note}what the earlier rounds add to the optimism, level='nested' counts",
    )
    cv = search.cv
    if search.resource == "n_samples":
        n_rows_used = int(np.asarray(results["n_resources"])[is_last_round][0])
        cv = SubsampledSplitter(search.cv, n_rows_used, search.random_state, search.estimator)
    return np.flatnonzero(is_last_round), cv, halving_notes


@frozen
class SubsampledSplitter:
    """Splitter of a round of a halving search, which uses only a part of the rows.

    The training rows and the test rows of each split are subsampled to the size of the round.
    """

    cv: Any
    n_used: int
    random_state: Any
    estimator: Any

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return sum(1 for _ in self.split(X, y, groups))

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """Yield the splits as HalvingGridSearchCV draws them."""
        from sklearn.base import is_classifier
        from sklearn.model_selection import check_cv
        from sklearn.utils import resample

        subsample_share = self.n_used / len(y)
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        for train_and_test in splitter.split(X, y, groups):
            train, test = (
                resample(
                    rows,
                    replace=False,
                    random_state=self.random_state,
                    n_samples=int(subsample_share * len(rows)),
                )
                for rows in train_and_test
            )
            yield train, test


def _make_learner(search: Any, learner_class: type, omitted_names: tuple[str, ...]) -> Any:
    """Return an estimator of this class, with the parameters that it shares with the search."""
    learner_params = learner_class().get_params()
    shared_params = {
        parameter_name: parameter_value
        for parameter_name, parameter_value in search.get_params(deep=False).items()
        if parameter_name in learner_params
    }
    if isinstance(shared_params.get("precompute"), str):
        shared_params["precompute"] = False
    return learner_class(
        **{
            parameter_name: parameter_value
            for parameter_name, parameter_value in shared_params.items()
            if parameter_name not in omitted_names
        }
    )


def read_logistic(search: Any) -> Claim:
    """Read the claim of a LogisticRegressionCV from `scores_[class][fold, C, l1_ratio]`.

    scikit-learn 1.10 and later store no classes.
    """
    from sklearn.linear_model import LogisticRegression

    # The axes of the array are the folds, the values of C and the l1 ratios.
    scores = _logistic_scores(search)
    l1_ratios = [
        l1_ratio for l1_ratio in np.atleast_1d(search.l1_ratios_).tolist() if l1_ratio is not None
    ]
    candidate_settings = [
        {"C": float(C)} | ({"l1_ratio": l1_ratios[l1_ratio_number]} if l1_ratios else {})
        for C in search.Cs_
        for l1_ratio_number in range(scores.shape[2])
    ]
    candidate_scores = scores.reshape(len(scores), -1).T
    best_number = int(candidate_scores.sum(axis=1).argmax())
    scoring = search.scoring if search.scoring not in (None, "warn") else "accuracy"
    notes = () if search.refit else ("refit=False: the coefficients are means over the folds",)
    return Claim(
        search_name=type(search).__name__,
        name="the best mean of scores_",
        score=float(candidate_scores[best_number].mean()),
        best_candidate=best_number,
        candidates=tuple(candidate_settings),
        estimator=_make_learner(search, LogisticRegression, ("C", "l1_ratio", "n_jobs")),
        scoring=scoring,
        cv=5 if search.cv is None else search.cv,
        scores=candidate_scores,
        is_exact=False,
        notes=notes,
    )


def _logistic_scores(search: Any) -> np.ndarray:
    stored_scores = search.scores_
    if not isinstance(stored_scores, dict):
        return np.moveaxis(np.asarray(stored_scores), 1, 2)
    class_scores, *other_class_scores = (np.asarray(scores) for scores in stored_scores.values())
    if any(not np.array_equal(class_scores, other_scores) for other_scores in other_class_scores):
        raise Refusal(
            "LogisticRegressionCV chose one C per class (one-vs-rest): there is no single claim. "
            "Use tr.estimate_risk(search, X, y), which repeats it in every split."
        )
    return class_scores if class_scores.ndim == 3 else class_scores[:, :, None]


def read_ridge(search: Any) -> Claim:
    """Read the claim of a fitted RidgeCV.

    With cv=None it has leave-one-out scores, otherwise it is a grid search without stored scores.
    """
    from sklearn.base import is_classifier
    from sklearn.linear_model import Ridge, RidgeClassifier
    from sklearn.model_selection import LeaveOneOut

    if np.ndim(search.alpha_) or getattr(search, "alpha_per_target", False):
        raise Refusal("RidgeCV with one alpha per target makes several claims; audit one target.")
    alphas = np.atleast_1d(search.alphas).astype(float)
    is_leave_one_out = search.cv is None
    scoring, scores = search.scoring, None
    if is_leave_one_out and scoring is None:
        scoring = "neg_mean_squared_error"
        leave_one_out_errors = getattr(search, "cv_results_", None)
        scores = (
            None
            if leave_one_out_errors is None or leave_one_out_errors.ndim != 2
            else -np.asarray(leave_one_out_errors).T
        )
    learner_class = RidgeClassifier if is_classifier(search) else Ridge
    return Claim(
        search_name=type(search).__name__,
        name="best_score_",
        score=float(search.best_score_),
        best_candidate=int(np.flatnonzero(alphas == search.alpha_)[0]),
        candidates=tuple({"alpha": float(alpha)} for alpha in alphas),
        estimator=_make_learner(search, learner_class, ("alpha",)),
        scoring=scoring,
        cv=LeaveOneOut() if is_leave_one_out else search.cv,
        scores=scores,
        is_pooled=is_leave_one_out,
    )


def read_lasso(search: Any) -> Claim:
    """Read the claim of a LassoCV or ElasticNetCV from `mse_path_[l1_ratio, alpha, fold]`."""
    from sklearn.linear_model import ElasticNet, Lasso

    is_elastic_net = hasattr(search, "l1_ratio")
    l1_ratios = np.atleast_1d(search.l1_ratio).astype(float) if is_elastic_net else np.ones(1)
    alphas = np.atleast_2d(search.alphas_)
    alphas = np.broadcast_to(alphas, (len(l1_ratios), alphas.shape[1]))
    squared_errors = np.asarray(search.mse_path_).reshape(len(l1_ratios), alphas.shape[1], -1)
    candidate_settings = tuple(
        {"alpha": float(alpha)} | ({"l1_ratio": float(l1_ratio)} if is_elastic_net else {})
        for l1_ratio, alphas_of_ratio in zip(l1_ratios, alphas, strict=True)
        for alpha in alphas_of_ratio
    )
    candidate_scores = -squared_errors.reshape(len(candidate_settings), -1)
    best_number = int(candidate_scores.mean(axis=1).argmax())
    return Claim(
        search_name=type(search).__name__,
        name="the smallest mean of mse_path_",
        score=float(candidate_scores[best_number].mean()),
        best_candidate=best_number,
        candidates=candidate_settings,
        estimator=_make_learner(
            search, ElasticNet if is_elastic_net else Lasso, ("alpha", "l1_ratio")
        ),
        scoring="neg_mean_squared_error",
        cv=5 if search.cv is None else search.cv,
        scores=candidate_scores,
        is_exact=False,
        errors=True,
    )


def read_study(search: Any) -> Claim:
    """Read the claim of an OptunaSearchCV from its finished trials.

    The `user_attrs` of a trial hold the split scores.
    """
    trials = [
        trial for trial in search.study_.trials if getattr(trial.state, "name", "") == "COMPLETE"
    ]
    if not trials:
        raise Refusal("the study of this search has no finished trial: nothing is claimed.")
    n_unfinished = len(search.study_.trials) - len(trials)
    trial_numbers = [trial.number for trial in trials]
    return Claim(
        search_name=type(search).__name__,
        name="best_score_",
        score=float(search.best_score_),
        best_candidate=trial_numbers.index(search.best_index_),
        candidates=tuple(dict(trial.params) for trial in trials),
        estimator=search.estimator,
        scoring=search.scoring,
        cv=_study_splitter(search),
        scores=_scores_of_trials(trials),
        notes=(f"{n_unfinished} trials were pruned or failed",) if n_unfinished else (),
    )


def _scores_of_trials(trials: list[Any]) -> np.ndarray | None:
    stored_keys = [
        key_name
        for key_name in trials[0].user_attrs
        if re.fullmatch("split.*_test_score", key_name)
    ]
    key_names = [f"split{k}_test_score" for k in range(len(stored_keys))]
    if not key_names or any(
        key_name not in trial.user_attrs for trial in trials for key_name in key_names
    ):
        return None
    return np.array(
        [[trial.user_attrs[key_name] for key_name in key_names] for trial in trials],
        dtype=np.float64,
    )


def _study_splitter(search: Any) -> Any:
    sampled_rows = np.asarray(search.sample_indices_)
    has_all_rows = np.array_equal(sampled_rows, np.arange(len(sampled_rows)))
    if has_all_rows and getattr(search, "subsample", 1.0) in (1, 1.0):
        return 5 if search.cv is None else search.cv
    return SubsetSplitter(5 if search.cv is None else search.cv, sampled_rows, search.estimator)


@frozen(eq=False)
class SubsetSplitter:
    """Splitter that splits a subset of the rows and returns row numbers among all rows."""

    cv: Any
    rows: np.ndarray
    estimator: Any

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return sum(1 for _ in self.split(X, y, groups))

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """Yield each pair of training and test rows, as numbers among all rows."""
        from sklearn.base import is_classifier
        from sklearn.model_selection import check_cv

        from truerisk.data.rows import take_rows

        y = np.asarray(y)[self.rows]
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        subset_groups = None if groups is None else np.asarray(groups)[self.rows]
        for train, test in splitter.split(take_rows(X, self.rows), y, subset_groups):
            yield self.rows[train], self.rows[test]
