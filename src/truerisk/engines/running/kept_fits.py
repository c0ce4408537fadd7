"""Read the predictions of stored fits instead of fitting again, and store those of new fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.contracts import FitCache, FitStore, Request, RunOptions
from truerisk.core.errors import BadStore
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.engines.running.fitting import FitResult, Job
from truerisk.plan.plan import Plan

CandidateKey = tuple[int, ...]
"""The numbers of the candidates that share one fitted model."""


def read_stored_fits(
    engine: str,
    jobs: list[Job],
    family: Family,
    data: Data,
    plan: Plan,
    request: Request,
    run: RunOptions,
) -> StoredFits:
    """Look up in the user's store which fits of a run were stored by an earlier run.

    The store is searched separately for each candidate or group of candidates.
    """
    fit_store = run.fit_store
    assert fit_store is not None
    caches: dict[CandidateKey, FitCache] = {}
    jobs_to_run: dict[CandidateKey, dict[int, Any]] = {}
    for fit, candidates_or_groups in jobs:
        for candidate_or_group in candidates_or_groups:
            candidate_key = (
                (candidate_or_group,)
                if isinstance(candidate_or_group, int)
                else tuple(candidate_or_group.candidates.tolist())
            )
            jobs_to_run.setdefault(candidate_key, {})[fit] = candidate_or_group
            if candidate_key not in caches:
                caches[candidate_key] = fit_store.cache_for(
                    engine, family, candidate_key, data, plan, request, run.seed
                )
    is_scored = tuple(
        candidate_or_group.response == "scored" for candidate_or_group in request.all_requests
    )
    return StoredFits(fit_store, plan, is_scored, caches, jobs_to_run)


@frozen(eq=False)
class StoredFits:
    """Jobs of a run, with the fits that the user's store already holds for them.

    Jobs are arranged by candidate or group of candidates. `jobs_to_run` holds the jobs that
    still have to run. `is_scored` is True for each request for which a scorer returns one number
    per test set.
    """

    fit_store: FitStore
    plan: Plan
    is_scored: tuple[bool, ...]
    caches: Mapping[CandidateKey, FitCache]
    jobs_to_run: dict[CandidateKey, dict[int, Any]]

    def stored_results(self, values: Sequence[np.ndarray]) -> Iterator[list[FitResult]]:
        """Yield the results of each stored fit, and remove its job from the jobs that have to run.

        `values` are the arrays to which the predictions will be copied.
        """
        for key, fit_cache in self.caches.items():
            jobs_to_run = self.jobs_to_run[key]
            for fit, stored_content in fit_cache.load_fits(frozenset(jobs_to_run)):
                fit_results = decode_results(stored_content, fit, key)
                self._refuse_unsuitable(fit_results, values)
                del jobs_to_run[fit]
                yield fit_results

    def jobs(self) -> list[Job]:
        """Return the jobs that are not in the store, sorted by the number of the fit."""
        remaining_jobs = [
            (fit, candidates)
            for candidates_by_fit in self.jobs_to_run.values()
            for fit, candidates in candidates_by_fit.items()
        ]
        return [
            (fit, [candidates])
            for fit, candidates in sorted(remaining_jobs, key=lambda job: job[0])
        ]

    def store_results(self, fit_results: list[FitResult]) -> None:
        """Store the predictions of new fits that did not fail."""
        results_by_model: dict[tuple[int, CandidateKey], list[FitResult]] = {}
        for fit_result in fit_results:
            results_by_model.setdefault(
                (fit_result.fit, self._key_by_candidate[fit_result.candidate]), []
            ).append(fit_result)
        for (fit, key), model_results in results_by_model.items():
            if all(fit_result.failure is None for fit_result in model_results):
                seconds = sum(
                    fit_result.fit_seconds + fit_result.answer_seconds
                    for fit_result in model_results
                )
                model_results.sort(key=lambda fit_result: key.index(fit_result.candidate))
                self.caches[key].save_fit(fit, encode_results(model_results), seconds)

    @property
    def progress_unit(self) -> str:
        """Unit of the progress display ("fits"), with the number of fits read from the store."""
        n = self.fit_store.n_found
        return f"fits ({n:,} were stored)" if n else "fits"

    @cached_property
    def _key_by_candidate(self) -> dict[int, CandidateKey]:
        return {candidate: key for key in self.caches for candidate in key}

    def _refuse_unsuitable(
        self, fit_results: list[FitResult], values: Sequence[np.ndarray]
    ) -> None:
        """Raise BadStore if stored predictions differ in shape or type from what the plan needs."""
        test_sets_by_fit, fit_offsets = self.plan.questions_of
        for fit_result in fit_results:
            test_sizes = self.plan.test_sizes[
                test_sets_by_fit[fit_offsets[fit_result.fit] : fit_offsets[fit_result.fit + 1]]
            ]
            predictions_by_request = (fit_result.answers, *fit_result.further_answers)
            if len(predictions_by_request) != len(values) or not all(
                _fits_into_array(*arrays_of_request, test_sizes)
                for arrays_of_request in zip(
                    predictions_by_request, values, self.is_scored, strict=True
                )
            ):
                raise BadStore(
                    "a stored fit has other answers than its plan asks for: the store was changed; "
                    "restore it from a copy or name another."
                )


def _fits_into_array(
    predictions: list[Any], values: np.ndarray, is_scored: bool, test_sizes: np.ndarray
) -> bool:
    """Return True if predictions of test sets can be copied into the array `values`.

    Their shapes and types have to fit.
    """
    shapes = [() if is_scored else (n_rows, *values.shape[2:]) for n_rows in test_sizes]
    has_castable_types = all(
        np.can_cast(test_set_predictions.dtype, values.dtype, "same_kind")
        for test_set_predictions in predictions
    )
    return (
        has_castable_types
        and [test_set_predictions.shape for test_set_predictions in predictions] == shapes
    )


def encode_results(fit_results: list[FitResult]) -> dict[str, Any]:
    """Convert the results of one fit, one for each candidate, to JSON values and arrays."""
    arrays = {
        f"{array_kind} {result_number} {array_index}": np.asarray(array)
        for result_number, fit_result in enumerate(fit_results)
        for array_kind, arrays_of_kind in _arrays_by_kind(fit_result).items()
        for array_index, array in enumerate(arrays_of_kind)
    }
    return {"pieces": [_to_json_values(fit_result) for fit_result in fit_results], **arrays}


def _arrays_by_kind(fit_result: FitResult) -> dict[str, Sequence[Any]]:
    """Return a dictionary of one candidate's predictions, row counts and further predictions."""
    further_arrays = {
        f"also {request_number}": further_answers
        for request_number, further_answers in enumerate(fit_result.further_answers)
    }
    return {
        "answer": fit_result.answers,
        "count": fit_result.extra.get("counts", ()),
        **further_arrays,
    }


def _to_json_values(fit_result: FitResult) -> dict[str, Any]:
    degrees_of_freedom = fit_result.extra.get("freedom", np.nan)
    return {
        "answers": len(fit_result.answers),
        "counts": len(fit_result.extra.get("counts", ())),
        "also": [len(further_answers) for further_answers in fit_result.further_answers],
        "fit_seconds": fit_result.fit_seconds,
        "answer_seconds": fit_result.answer_seconds,
        "freedom": None if np.isnan(degrees_of_freedom) else float(degrees_of_freedom),
        "warned": [[_class_path(category), text] for category, text in fit_result.warnings],
    }


def decode_results(
    stored_content: Mapping[str, Any], fit: int, candidates: CandidateKey
) -> list[FitResult]:
    """Rebuild the results of these candidates from the output of `encode_results`."""
    try:
        numbered_results = zip(stored_content["pieces"], candidates, strict=True)
        return [
            _decode_result(encoded_result, stored_content, fit, candidate, result_number)
            for result_number, (encoded_result, candidate) in enumerate(numbered_results)
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise BadStore(f"a stored fit cannot be read ({error!r}): the file was changed.") from None


def _decode_result(
    encoded_result: Mapping[str, Any],
    stored_content: Mapping[str, Any],
    fit: int,
    candidate: int,
    result_number: int,
) -> FitResult:
    n_arrays_by_kind = {"answer": encoded_result["answers"], "count": encoded_result["counts"]}
    n_arrays_by_kind |= {
        f"also {n}": n_arrays for n, n_arrays in enumerate(encoded_result.get("also", ()))
    }
    predictions, row_counts, *further_predictions = (
        [
            stored_content[f"{array_kind} {result_number} {array_index}"]
            for array_index in range(n_arrays)
        ]
        for array_kind, n_arrays in n_arrays_by_kind.items()
    )
    extra_outputs: dict[str, Any] = {"counts": tuple(row_counts)}
    if encoded_result["freedom"] is not None:
        extra_outputs["freedom"] = encoded_result["freedom"]
    return FitResult(
        fit,
        candidate,
        predictions,
        encoded_result["fit_seconds"],
        encoded_result["answer_seconds"],
        extra=extra_outputs,
        warnings=tuple(
            (_find_warning_class(name), text) for name, text in encoded_result["warned"]
        ),
        further_answers=tuple(further_predictions),
    )


def _class_path(category: type[Warning]) -> str:
    return f"{category.__module__}:{category.__qualname__}"


def _find_warning_class(name: str) -> type[Warning]:
    """Return the loaded warning class of this name, or UserWarning; nothing is imported."""
    categories = [Warning]
    for category in categories:
        if _class_path(category) == name:
            return category
        categories += category.__subclasses__()
    return UserWarning
