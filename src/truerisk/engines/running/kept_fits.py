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
    """Look up the jobs of a run in the user's store of fits, by candidate or by group."""
    fit_store = run.fit_store
    assert fit_store is not None
    caches: dict[CandidateKey, FitCache] = {}
    jobs_to_run: dict[CandidateKey, dict[int, Any]] = {}
    for fit, units in jobs:
        for unit in units:
            key = (unit,) if isinstance(unit, int) else tuple(unit.candidates.tolist())
            jobs_to_run.setdefault(key, {})[fit] = unit
            if key not in caches:
                caches[key] = fit_store.cache_for(
                    engine, family, key, data, plan, request, run.seed
                )
    is_scored = tuple(unit.response == "scored" for unit in request.all_requests)
    return StoredFits(fit_store, plan, is_scored, caches, jobs_to_run)


@frozen(eq=False)
class StoredFits:
    """The jobs of a run, by candidate or by group of candidates, and their cache of stored fits.

    `jobs_to_run` holds the jobs that still have to run. `is_scored` is True for each request for
    which a scorer returns one number per test set.
    """

    fit_store: FitStore
    plan: Plan
    is_scored: tuple[bool, ...]
    caches: Mapping[CandidateKey, FitCache]
    jobs_to_run: dict[CandidateKey, dict[int, Any]]

    def stored_pieces(self, values: Sequence[np.ndarray]) -> Iterator[list[FitResult]]:
        """Yield the stored predictions of each job, and remove it from the jobs that have to run.

        `values` are the arrays to which the predictions will be copied.
        """
        for key, fit_cache in self.caches.items():
            jobs_to_run = self.jobs_to_run[key]
            for fit, stored_content in fit_cache.stored(frozenset(jobs_to_run)):
                pieces = pieces_of(stored_content, fit, key)
                self._refuse_unsuitable(pieces, values)
                del jobs_to_run[fit]
                yield pieces

    def jobs(self) -> list[Job]:
        """Return the jobs that are not in the store, sorted by the number of the fit."""
        remaining_jobs = [
            (fit, candidates)
            for units_by_fit in self.jobs_to_run.values()
            for fit, candidates in units_by_fit.items()
        ]
        return [
            (fit, [candidates])
            for fit, candidates in sorted(remaining_jobs, key=lambda job: job[0])
        ]

    def keep(self, pieces: list[FitResult]) -> None:
        """Store the predictions of new fits that did not fail."""
        pieces_by_model: dict[tuple[int, CandidateKey], list[FitResult]] = {}
        for piece in pieces:
            pieces_by_model.setdefault((piece.fit, self._key_of[piece.candidate]), []).append(piece)
        for (fit, key), model_pieces in pieces_by_model.items():
            if all(piece.failure is None for piece in model_pieces):
                seconds = sum(piece.fit_seconds + piece.answer_seconds for piece in model_pieces)
                model_pieces.sort(key=lambda piece: key.index(piece.candidate))
                self.caches[key].keep(fit, content_of(model_pieces), seconds)

    @property
    def unit(self) -> str:
        """Unit of the progress display ("fits"), with the number of fits read from the store."""
        n = self.fit_store.n_found
        return f"fits ({n:,} were stored)" if n else "fits"

    @cached_property
    def _key_of(self) -> dict[int, CandidateKey]:
        return {candidate: key for key in self.caches for candidate in key}

    def _refuse_unsuitable(self, pieces: list[FitResult], values: Sequence[np.ndarray]) -> None:
        """Raise BadStore if the shape or type of stored predictions does not suit the plan."""
        questions_by_fit, starts = self.plan.questions_of
        for piece in pieces:
            sizes = self.plan.test_sizes[
                questions_by_fit[starts[piece.fit] : starts[piece.fit + 1]]
            ]
            answers = (piece.answers, *piece.further_answers)
            if len(answers) != len(values) or not all(
                _suits_array(*one, sizes)
                for one in zip(answers, values, self.is_scored, strict=True)
            ):
                raise BadStore(
                    "a stored fit has other answers than its plan asks for: the store was changed; "
                    "restore it from a copy or name another."
                )


def _suits_array(
    answers: list[Any], values: np.ndarray, is_scored: bool, test_sizes: np.ndarray
) -> bool:
    """Return True if predictions have the shapes and type of the array they are copied to."""
    shapes = [() if is_scored else (size, *values.shape[2:]) for size in test_sizes]
    has_castable_types = all(
        np.can_cast(answer.dtype, values.dtype, "same_kind") for answer in answers
    )
    return has_castable_types and [answer.shape for answer in answers] == shapes


def content_of(pieces: list[FitResult]) -> dict[str, Any]:
    """Convert the results of one fitted model to JSON values and arrays, one per candidate."""
    arrays = {
        f"{kind} {number} {position}": np.asarray(array)
        for number, piece in enumerate(pieces)
        for kind, piece_arrays in _arrays_of(piece).items()
        for position, array in enumerate(piece_arrays)
    }
    return {"pieces": [_json_of(piece) for piece in pieces], **arrays}


def _arrays_of(piece: FitResult) -> dict[str, Sequence[Any]]:
    """Return the arrays of one candidate's result by kind; further requests are numbered."""
    also = {
        f"also {number}": further_answers
        for number, further_answers in enumerate(piece.further_answers)
    }
    return {"answer": piece.answers, "count": piece.extra.get("counts", ()), **also}


def _json_of(piece: FitResult) -> dict[str, Any]:
    freedom = piece.extra.get("freedom", np.nan)
    return {
        "answers": len(piece.answers),
        "counts": len(piece.extra.get("counts", ())),
        "also": [len(further_answers) for further_answers in piece.further_answers],
        "fit_seconds": piece.fit_seconds,
        "answer_seconds": piece.answer_seconds,
        "freedom": None if np.isnan(freedom) else float(freedom),
        "warned": [[_name_of(category), text] for category, text in piece.warnings],
    }


def pieces_of(content: Mapping[str, Any], fit: int, candidates: CandidateKey) -> list[FitResult]:
    """Rebuild the results that `content_of` converted, for candidates with these numbers."""
    try:
        plain = zip(content["pieces"], candidates, strict=True)
        return [_piece(one, content, fit, c, n) for n, (one, c) in enumerate(plain)]
    except (KeyError, TypeError, ValueError) as error:
        raise BadStore(f"a stored fit cannot be read ({error!r}): the file was changed.") from None


def _piece(
    plain: Mapping[str, Any],
    content: Mapping[str, Any],
    fit: int,
    candidate: int,
    piece_number: int,
) -> FitResult:
    sizes = {"answer": plain["answers"], "count": plain["counts"]}
    sizes |= {f"also {n}": size for n, size in enumerate(plain.get("also", ()))}
    answers, counts, *also = (
        [content[f"{kind} {piece_number} {position}"] for position in range(size)]
        for kind, size in sizes.items()
    )
    extra: dict[str, Any] = {"counts": tuple(counts)}
    if plain["freedom"] is not None:
        extra["freedom"] = plain["freedom"]
    return FitResult(
        fit,
        candidate,
        answers,
        plain["fit_seconds"],
        plain["answer_seconds"],
        extra=extra,
        warnings=tuple((_warning_of(name), text) for name, text in plain["warned"]),
        further_answers=tuple(also),
    )


def _name_of(category: type[Warning]) -> str:
    return f"{category.__module__}:{category.__qualname__}"


def _warning_of(name: str) -> type[Warning]:
    """Return the loaded warning class of this name, or UserWarning; nothing is imported."""
    categories = [Warning]
    for category in categories:
        if _name_of(category) == name:
            return category
        categories += category.__subclasses__()
    return UserWarning
