"""`cv_results_` as GridSearchCV writes it: a dict of arrays that `pandas.DataFrame` takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from truerisk.api.road.compute import Computed
from truerisk.core.ties import tied_groups

__all__ = ["cv_results"]


def cv_results(
    told: Mapping[str, Computed], trained: Mapping[str, np.ndarray] | None = None
) -> dict[str, Any]:
    """Times, parameters, every score of every split, their mean, spread and rank.

    Of a setting that left a race, splits that it was not rated on are NaN, and so is the mean.

    `told` is what each score found, by its name in the keys; `trained` are scores of the splits on
    the rows of the fits themselves.
    """
    computed = next(iter(told.values()))
    answers, candidates = computed.answers, computed.problem.family.candidates
    fits = answers.plan.fit
    results: dict[str, Any] = {
        "mean_fit_time": np.nanmean(answers.fit_seconds[:, fits], axis=1),
        "std_fit_time": np.nanstd(answers.fit_seconds[:, fits], axis=1),
        "mean_score_time": np.nanmean(answers.answer_seconds[:, fits], axis=1),
        "std_score_time": np.nanstd(answers.answer_seconds[:, fits], axis=1),
    }
    if not computed.method.rates_all:  # settings may have left a race: after how many folds
        results["n_resources"] = answers.made[:, fits].sum(axis=1)
    for name in sorted({name for params in candidates for name in params}):
        results[f"param_{name}"] = _param_column(
            [params.get(name, _ABSENT) for params in candidates]
        )
    results["params"] = [dict(params) for params in candidates]
    for name, one in told.items():
        loss, tested = one.problem.loss, one.evaluation.tested
        scores = loss.score(np.array([t.split_risks for t in tested]))
        results |= {f"split{split}_test_{name}": of for split, of in enumerate(scores.T)}
        means = loss.score(np.array([t.value for t in tested]))
        results[f"mean_test_{name}"] = means
        results[f"std_test_{name}"] = scores.std(axis=1)
        results[f"rank_test_{name}"] = _ranks(means)
    for name, scores in ({} if trained is None else trained).items():
        results |= {f"split{split}_train_{name}": of for split, of in enumerate(scores.T)}
        results[f"mean_train_{name}"] = scores.mean(axis=1)
        results[f"std_train_{name}"] = scores.std(axis=1)
    return results


_ABSENT = object()


def _param_column(values: list[Any]) -> np.ma.MaskedArray[Any, Any]:
    """The values of one parameter, masked for candidates that do not name it."""
    mask = [value is _ABSENT for value in values]
    present = [value for value in values if value is not _ABSENT]
    simple = all(
        isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in present
    )
    column: np.ma.MaskedArray[Any, Any]
    if simple:
        filled = np.array([present[0] if gone else v for v, gone in zip(values, mask, strict=True)])
        column = np.ma.MaskedArray(filled, mask=mask)
    else:
        column = np.ma.MaskedArray(np.empty(len(values), dtype=object), mask=mask)
        for i, value in enumerate(values):
            if not mask[i]:
                column.data[i] = value
    return column


def _ranks(scores: np.ndarray) -> np.ndarray:
    """1 for the best; scores within the tie tolerance share the smallest rank; failures last."""
    ranks = np.empty(len(scores), dtype=np.int32)
    before = 0
    for group in tied_groups(-np.nan_to_num(scores, nan=-np.inf)):
        ranks[group] = before + 1
        before += len(group)
    return ranks
