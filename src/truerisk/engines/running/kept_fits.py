"""Read stored fits instead of running them again, and store new ones."""

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
from truerisk.engines.running.fitting import Job, Piece
from truerisk.plan.plan import Plan

Key = tuple[int, ...]
"""The candidates that share one fitted model."""


def read_stored_fits(
    engine: str,
    jobs: list[Job],
    family: Family,
    data: Data,
    plan: Plan,
    request: Request,
    run: RunOptions,
) -> StoredFits:
    """Return the jobs of a run, with the place in the keeper's store for each."""
    fit_store = run.fit_store
    assert fit_store is not None
    shelves: dict[Key, FitCache] = {}
    waiting: dict[Key, dict[int, Any]] = {}
    for fit, ones in jobs:
        for one in ones:
            key = (one,) if isinstance(one, int) else tuple(one.candidates.tolist())
            waiting.setdefault(key, {})[fit] = one
            if key not in shelves:
                shelves[key] = fit_store.cache_for(
                    engine, family, key, data, plan, request, run.seed
                )
    scored = tuple(one.response == "scored" for one in request.all_requests)
    return StoredFits(fit_store, plan, scored, shelves, waiting)


@frozen(eq=False)
class StoredFits:
    """The jobs of a run, by candidate or by group; `waiting` are those that still have to run.

    `scored` is True for each request that a scorer answers with one number per test set.
    """

    fit_store: FitStore
    plan: Plan
    scored: tuple[bool, ...]
    shelves: Mapping[Key, FitCache]
    waiting: dict[Key, dict[int, Any]]

    def stored_pieces(self, values: Sequence[np.ndarray]) -> Iterator[list[Piece]]:
        """Yield the pieces of every stored job; `values` are the arrays they will be copied to."""
        for key, fit_cache in self.shelves.items():
            waiting = self.waiting[key]
            for fit, content in fit_cache.stored(frozenset(waiting)):
                pieces = pieces_of(content, fit, key)
                self._refuse_strange(pieces, values)
                del waiting[fit]
                yield pieces

    def jobs(self) -> list[Job]:
        """Return the jobs that are not stored, in the order of fits."""
        rest = [(fit, one) for units in self.waiting.values() for fit, one in units.items()]
        return [(fit, [one]) for fit, one in sorted(rest, key=lambda unit: unit[0])]

    def keep(self, pieces: list[Piece]) -> None:
        """Store the new fits that did not fail."""
        made: dict[tuple[int, Key], list[Piece]] = {}
        for piece in pieces:
            made.setdefault((piece.fit, self._key_of[piece.candidate]), []).append(piece)
        for (fit, key), mine in made.items():
            if all(piece.failure is None for piece in mine):
                seconds = sum(piece.fit_seconds + piece.answer_seconds for piece in mine)
                mine.sort(key=lambda piece: key.index(piece.candidate))
                self.shelves[key].keep(fit, content_of(mine), seconds)

    @property
    def unit(self) -> str:
        """The unit that the progress line counts, and the number of stored fits."""
        n = self.fit_store.n_found
        return f"fits ({n:,} were stored)" if n else "fits"

    @cached_property
    def _key_of(self) -> dict[int, Key]:
        return {candidate: key for key in self.shelves for candidate in key}

    def _refuse_strange(self, pieces: list[Piece], values: Sequence[np.ndarray]) -> None:
        """Refuse answers whose shape or type shows that the file was changed."""
        order, starts = self.plan.questions_of
        for piece in pieces:
            sizes = self.plan.test_sizes[order[starts[piece.fit] : starts[piece.fit + 1]]]
            answers = (piece.answers, *piece.also)
            if len(answers) != len(values) or not all(
                _belong(*one, sizes) for one in zip(answers, values, self.scored, strict=True)
            ):
                raise BadStore(
                    "a stored fit has other answers than its plan asks for: the store was changed; "
                    "restore it from a copy or name another."
                )


def _belong(answers: list[Any], values: np.ndarray, scored: bool, sizes: np.ndarray) -> bool:
    """Return True if answers have the shapes and the type of the array that they are copied to."""
    shapes = [() if scored else (size, *values.shape[2:]) for size in sizes]
    fits = all(np.can_cast(answer.dtype, values.dtype, "same_kind") for answer in answers)
    return fits and [answer.shape for answer in answers] == shapes


def content_of(pieces: list[Piece]) -> dict[str, Any]:
    """Return the pieces of one model as plain values and arrays, in the order of the candidates."""
    arrays = {
        f"{kind} {number} {place}": np.asarray(array)
        for number, piece in enumerate(pieces)
        for kind, given in _arrays_of(piece).items()
        for place, array in enumerate(given)
    }
    return {"pieces": [_plain(piece) for piece in pieces], **arrays}


def _arrays_of(piece: Piece) -> dict[str, Sequence[Any]]:
    """Return the arrays of a piece by kind; the answers to further requests are numbered."""
    also = {f"also {number}": given for number, given in enumerate(piece.also)}
    return {"answer": piece.answers, "count": piece.extra.get("counts", ()), **also}


def _plain(piece: Piece) -> dict[str, Any]:
    freedom = piece.extra.get("freedom", np.nan)
    return {
        "answers": len(piece.answers),
        "counts": len(piece.extra.get("counts", ())),
        "also": [len(given) for given in piece.also],
        "fit_seconds": piece.fit_seconds,
        "answer_seconds": piece.answer_seconds,
        "freedom": None if np.isnan(freedom) else float(freedom),
        "warned": [[_name_of(category), text] for category, text in piece.warned],
    }


def pieces_of(content: Mapping[str, Any], fit: int, candidates: Key) -> list[Piece]:
    """Rebuild the pieces from `content_of`, with the present numbers of their candidates."""
    try:
        plain = zip(content["pieces"], candidates, strict=True)
        return [_piece(one, content, fit, c, n) for n, (one, c) in enumerate(plain)]
    except (KeyError, TypeError, ValueError) as error:
        raise BadStore(f"a stored fit cannot be read ({error!r}): the file was changed.") from None


def _piece(
    plain: Mapping[str, Any], content: Mapping[str, Any], fit: int, candidate: int, number: int
) -> Piece:
    sizes = {"answer": plain["answers"], "count": plain["counts"]}
    sizes |= {f"also {n}": size for n, size in enumerate(plain.get("also", ()))}
    answers, counts, *also = (
        [content[f"{kind} {number} {place}"] for place in range(size)]
        for kind, size in sizes.items()
    )
    extra: dict[str, Any] = {"counts": tuple(counts)}
    if plain["freedom"] is not None:
        extra["freedom"] = plain["freedom"]
    return Piece(
        fit,
        candidate,
        answers,
        plain["fit_seconds"],
        plain["answer_seconds"],
        extra=extra,
        warned=tuple((_warning_of(name), text) for name, text in plain["warned"]),
        also=tuple(also),
    )


def _name_of(category: type[Warning]) -> str:
    return f"{category.__module__}:{category.__qualname__}"


def _warning_of(name: str) -> type[Warning]:
    """Return the loaded warning class of this name; nothing is imported because a file names it."""
    kinds = [Warning]
    for kind in kinds:
        if _name_of(kind) == name:
            return kind
        kinds += kind.__subclasses__()
    return UserWarning
