"""Many fits run where the user said, their answers put in their place as they come in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from truerisk.contracts import Keeper, Request, RunOptions, Shelf
from truerisk.core.errors import BadStore, FitFailed, FitFailedWarning, TrueRiskError, said_by, warn
from truerisk.core.family import Family
from truerisk.core.progress import tell
from truerisk.data.data import Data
from truerisk.engines.running.executors import run_batches
from truerisk.engines.running.fit_warnings import Tally
from truerisk.engines.running.fitting import (
    Piece,
    empty_values,
    error_of,
    fit_pieces,
)
from truerisk.engines.running.memory import refuse_too_large
from truerisk.plan.answers import Answers, Failure, with_besides
from truerisk.plan.plan import Plan

SHARE = 4  # batches for each worker …
SHARE_KEPT = 32  # … and where fits are kept, as a batch that is under way can be lost


def run_jobs(
    engine: str,
    jobs: list[Job],
    family: Family,
    data: Data,
    plan: Plan,
    request: Request,
    run: RunOptions,
    *,
    stop: bool = True,
    batch: int | None = None,
    one: Callable[..., list[Piece]] | None = None,
) -> Answers:
    """Run `fit_pieces` over all (fit, candidates) where the user said, and collect the answers.

    What the keeper has is not made again, and what is made is left with it.
    """
    n_rows_out = len(family) if run.only is None else 1
    if one is None and jobs:  # scikit-learn's own fits
        refuse_too_large(family, data, plan)
    collected = _Collected(data, plan, request, n_rows_out, run.needed)
    here = run.executor is None
    task = partial(fit_pieces, one=one, tries=run.steps) if here else partial(_in_worker, one=one)
    shared = (family, data, plan, request, run.seed, stop)
    total, unit, share = plan.n_fits * n_rows_out, "fits", SHARE
    if run.needed is not None:
        total = int(run.needed.sum())
    tell(0, total)
    store = kept_fits(engine, jobs, family, data, plan, request, run)
    if store is not None:
        for pieces in store.stored_pieces(collected.values):
            collected.add(pieces, run.only)
        jobs, unit, share = store.jobs(), store.unit, SHARE_KEPT
        tell(collected.n_fits, total, unit)
    batches = partial(_batches, jobs, batch, share)
    results = run_batches(run.executor, task, shared, batches, named=_named)
    with closing(results):
        for pieces in _pieces(results, run.executor):
            if store is not None:
                store.keep(pieces)
            last = pieces[-1]
            if stop and last.failure is not None:
                raise error_of(last)
            collected.add(pieces, run.only)
            tell(collected.n_fits, total, unit)
    return collected.answers(engine, total)


def _pieces(found: Iterator[tuple[int, list[Piece]]], executor: Any) -> Iterator[list[Piece]]:
    """The pieces of every batch; an executor that fails to run them is a failure in words."""
    try:
        for _, pieces in found:
            yield pieces
    except TrueRiskError:
        raise
    except Exception as error:
        if executor is None:
            raise
        raise FitFailed(
            f"the executor cannot run the fits ({said_by(error)}): use another one, or "
            "n_jobs=None to see whether they run in this process."
        ) from error


def _named(batch: list[Job]) -> str:
    """A batch as a sentence has it."""
    first, last = batch[0][0], batch[-1][0]
    return f"fit {first}" if first == last else f"fits {first} to {last}"


def _batches(jobs: list[Job], size: int | None, share: int, workers: int | None) -> list[list[Job]]:
    """A job at a time in this process; else so many batches for each worker."""
    if size is None:
        size = 1 if workers is None else max(1, -(-len(jobs) // (share * workers)))
    return [jobs[start : start + size] for start in range(0, len(jobs), size)]


class _Collected:
    """Answers put in their place as batches come in, in any order."""

    def __init__(
        self,
        data: Data,
        plan: Plan,
        request: Request,
        n_candidates: int,
        only: np.ndarray | None = None,
    ) -> None:
        self.plan, self.request = plan, request
        self.values = [empty_values(data, plan, one, n_candidates) for one in request.each]
        self.extra = None
        if plan.extra is not None:
            self.extra = plan.extra.gather(plan, n_candidates, data.n_classes)
        wanted = np.ones((n_candidates, plan.n_fits), dtype=bool) if only is None else only
        self.answered = wanted[:, plan.fit]
        self.fit_seconds = np.where(wanted, 0.0, np.nan)
        self.answer_seconds = np.where(wanted, 0.0, np.nan)
        self.failures: list[Failure] = []
        self.warned = Tally()
        self.n_fits = 0

    def add(self, pieces: list[Piece], only: np.ndarray | None) -> None:
        for piece in pieces:
            self._add(piece, piece.candidate if only is None else 0)
            self.warned.add(piece.warned)
        self.n_fits += len(pieces)

    def _add(self, piece: Piece, row: int) -> None:
        order, starts = self.plan.questions_of
        questions = order[starts[piece.fit] : starts[piece.fit + 1]]
        self.fit_seconds[row, piece.fit] = piece.fit_seconds
        self.answer_seconds[row, piece.fit] = piece.answer_seconds
        if piece.failure is not None:
            self.answered[row, questions] = False
            self.failures.append(Failure(piece.fit, row, piece.failure))
            return
        offsets = self.plan.test_offsets
        by_request = (piece.answers, *piece.also)
        for response, values, answers in zip(
            self.request.responses, self.values, by_request, strict=True
        ):
            for question, answer in zip(questions, answers, strict=True):
                if response == "scored":
                    values[row, question] = answer
                else:
                    values[row, offsets[question] : offsets[question + 1]] = answer
        if self.extra is not None:
            self.extra.place(piece.fit, row, piece.extra)

    def answers(self, engine: str, total: int) -> Answers:
        self.warned.say(total)
        if self.failures:
            warn(
                f"{len(self.failures)} of {total} fits failed; their candidates have no risk. "
                f"The first: {self.failures[0].sentence}",
                FitFailedWarning,
            )
        answers = Answers(
            plan=self.plan,
            response=self.request.response,
            values=self.values[0],
            answered=self.answered,
            engine=engine,
            fit_seconds=self.fit_seconds,
            answer_seconds=self.answer_seconds,
            failures=tuple(sorted(self.failures, key=lambda f: (f.fit, f.candidate))),
            n_fits=total,
            extra=None if self.extra is None else self.extra.finished(),
        )
        return with_besides(answers, self.request.responses, self.values)


def _in_worker(*arguments: Any, one: Callable[..., list[Piece]] | None) -> list[Piece]:
    """One core per worker process: threads of the BLAS would fight for it."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return fit_pieces(*arguments, one=one)


Job = tuple[int, list[Any]]
"""A fit and its candidates, or what an engine holds in their place."""

Key = tuple[int, ...]
"""The candidates that one model answers."""


def kept_fits(
    engine: str,
    jobs: list[Job],
    family: Family,
    data: Data,
    plan: Plan,
    request: Request,
    run: RunOptions,
) -> KeptFits | None:
    """The jobs of a run as its keeper sees them; None where nothing is to be kept."""
    keeper = run.keeper
    if keeper is None or "rules" in plan.needs:
        return None
    shelves: dict[Key, Shelf] = {}
    waiting: dict[Key, dict[int, Any]] = {}
    for fit, ones in jobs:
        for one in ones:
            key = (one,) if isinstance(one, int) else tuple(one.candidates.tolist())
            waiting.setdefault(key, {})[fit] = one
            if key not in shelves:
                shelves[key] = keeper.shelf(engine, family, key, data, plan, request, run.seed)
    scored = tuple(one.response == "scored" for one in request.each)
    return KeptFits(keeper, plan, scored, shelves, waiting)


@dataclass(frozen=True, eq=False)
class KeptFits:
    """The jobs of a run, a candidate or a group at a time; `waiting` are those still to be made.

    `scored` says of everything that is asked whether a scorer answers: one number per question.
    """

    keeper: Keeper
    plan: Plan
    scored: tuple[bool, ...]
    shelves: Mapping[Key, Shelf]
    waiting: dict[Key, dict[int, Any]]

    def stored_pieces(self, values: Sequence[np.ndarray]) -> Iterator[list[Piece]]:
        """The pieces of every job that was kept; `values` are the arrays that they go into."""
        for key, shelf in self.shelves.items():
            waiting = self.waiting[key]
            for fit, content in shelf.stored(frozenset(waiting)):
                pieces = pieces_of(content, fit, key)
                self._refuse_strange(pieces, values)
                del waiting[fit]
                yield pieces

    def jobs(self) -> list[Job]:
        """The jobs that no shelf has an answer for, fit by fit."""
        rest = [(fit, one) for units in self.waiting.values() for fit, one in units.items()]
        return [(fit, [one]) for fit, one in sorted(rest, key=lambda unit: unit[0])]

    def keep(self, pieces: list[Piece]) -> None:
        """Leave with the keeper what was made and did not fail."""
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
        """What the progress line counts, and how much of it was stored."""
        n = self.keeper.n_found
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


def _belong(told: list[Any], values: np.ndarray, scored: bool, sizes: np.ndarray) -> bool:
    """Whether answers have the shapes and the type of the array that they go into."""
    shapes = [() if scored else (size, *values.shape[2:]) for size in sizes]
    fits = all(np.can_cast(answer.dtype, values.dtype, "same_kind") for answer in told)
    return fits and [answer.shape for answer in told] == shapes


def content_of(pieces: list[Piece]) -> dict[str, Any]:
    """The pieces of one model as plain values and arrays; their settings are known by order."""
    arrays = {
        f"{kind} {number} {place}": np.asarray(array)
        for number, piece in enumerate(pieces)
        for kind, given in _arrays_of(piece).items()
        for place, array in enumerate(given)
    }
    return {"pieces": [_plain(piece) for piece in pieces], **arrays}


def _arrays_of(piece: Piece) -> dict[str, Sequence[Any]]:
    """The arrays of a piece, by their kind; what was asked besides is numbered."""
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
    """The pieces that `content_of` was given, under the numbers that candidates have now."""
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
    """Among the kinds that are loaded: a file shall not have anything imported."""
    kinds = [Warning]
    for kind in kinds:
        if _name_of(kind) == name:
            return kind
        kinds += kind.__subclasses__()
    return UserWarning
