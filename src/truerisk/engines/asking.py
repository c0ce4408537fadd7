"""The one way from a plan to answers: an engine is chosen, its pass gets a seed, and it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.contracts import Engine, Keeper, Request, RunOptions
from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.choice import choose_engine
from truerisk.engines.running.fitting import fitted_on_all
from truerisk.losses.loss import Loss
from truerisk.plan.answers import Answers, Response, filled
from truerisk.plan.plan import Plan


class Asking:
    """What a method asks through; it remembers which engine answered, and who refused and why.

    Passes of one computation (inner, outer) get seeds of their own, by their number. What is
    known, the answers of the first passes of another computation, is not asked again there. The
    `scores` are further losses to be told of the same fits. `steps` are fitted steps that other
    families share.
    """

    def __init__(
        self,
        family: Family,
        data: Data,
        loss: Loss,
        *,
        scores: Sequence[Loss] = (),
        engine: Any = "auto",
        executor: Any = None,
        seed: int = 0,
        passes: int = 0,
        keeper: Keeper | None = None,
        known: Sequence[Answers | None] = (),
        steps: Any = None,
    ) -> None:
        self.family, self.data, self.loss, self.scores = family, data, loss, tuple(scores)
        self.wanted_engine, self.executor, self.keeper = engine, executor, keeper
        self.seed, self.passes, self.steps = seed, passes, steps
        self.known_answers = tuple(known)
        self.engine = ""
        self.refusals: dict[str, str] = {}
        self.n_known = 0  # fits that were spared, since their answers are known

    def __call__(
        self,
        plan: Plan,
        only: np.ndarray | None = None,
        *,
        besides: bool = True,
        asked: np.ndarray | None = None,
        number: int | None = None,
    ) -> Answers:
        """Return the answers that the losses need, of all candidates or of `only[f]` in fit f."""
        self.passes = self.passes if number is None else number
        repeated = None  # or what fits of the same seeds answered before
        if only is None and self.passes < len(self.known_answers):
            repeated = self.known_answers[self.passes]
        if repeated is not None and not plan.asks_like(repeated.plan):
            repeated = None
        request = Request.of(self.loss, plan, self.scores if besides else ())
        if repeated is None:
            return self.answers(plan, request, only, asked)
        wanted = np.ones(repeated.made.shape, dtype=bool) if asked is None else asked
        missing = wanted & ~repeated.made
        if not missing.any():
            return self._repeated(plan, repeated, asked)
        more = self.answers(plan, request, None, missing)
        return filled([self._repeated(plan, repeated, wanted), more])

    def answers(
        self,
        plan: Plan,
        request: Request,
        only: np.ndarray | None = None,
        needed: np.ndarray | None = None,
    ) -> Answers:
        """Return the answers of the next pass, as they are requested."""
        seed = self._next_seed()
        run = RunOptions(self.executor, seed, only, self.keeper, needed, self.steps)
        each = request.each
        by_key: dict[tuple[Response, int, int], Answers] = {}
        n_fits: dict[str, int] = {}
        for engine, requests in self._requests_by_engine(plan, each):
            if needed is not None and not engine.leaves_out:
                raise Refusal(
                    f"engine '{engine.word}' answers all settings in one pass, so that a race "
                    "among them would save nothing: compare them by their folds, such as "
                    "'10-fold', or use engine='generic'."
                )
            whole = replace(requests[0], also=tuple(requests[1:]))
            answers = engine.run(self.family, self.data, plan, whole, run)
            n_fits[engine.word] = answers.n_fits
            each_answer = (replace(answers, also=()), *answers.also)
            for answered, answer in zip(requests, each_answer, strict=True):
                by_key[answered.key] = answer
        first, *others = (by_key[asked_request.key] for asked_request in each)
        return replace(first, also=tuple(others), n_fits=sum(n_fits.values()))

    def models(self, plan: Plan, only: np.ndarray, fits: np.ndarray) -> Iterator[Any]:
        """The fitted models of the next pass, that of candidate `only[f]` in each fit f of `fits`.

        They are made anew, one by one, as those that answer were: engines keep none.
        """
        if plan.has_drawn_fits or "flips" in plan.needs:
            raise Refusal(
                "models of changed labels, or of rows drawn by a law, are not made again."
            )
        seed = self._next_seed()
        for fit in fits.tolist():
            rows, counts = plan.train_rows(fit)
            data = self.data.subset(rows if counts is None else np.repeat(rows, counts))
            place = (seed, fit) if self.family.is_random else None
            yield fitted_on_all(self.family, int(only[fit]), data, place)

    def _next_seed(self) -> int:
        seed = np.random.SeedSequence([self.seed, self.passes]).generate_state(1)[0]
        self.passes += 1
        return int(seed)

    def _requests_by_engine(
        self, plan: Plan, requests: Sequence[Request]
    ) -> list[tuple[Engine, list[Request]]]:
        """Return who is to answer what, the first request first; nothing is asked twice."""
        chosen: dict[Any, tuple[Engine, list[Request]]] = {}
        seen = set()
        for request in requests:
            key = request.key
            if key in seen:
                continue
            seen.add(key)
            engine = self.choose(plan, request)
            together = engine.answers_besides and not plan.has_drawn_fits
            chosen.setdefault(engine.word if together else key, (engine, []))[1].append(request)
        runs = list(chosen.values())
        self.engine = runs[0][0].word
        return runs

    def _repeated(self, plan: Plan, stored: Answers, needed: np.ndarray | None) -> Answers:
        self.passes += 1
        stored = stored if needed is None else stored.part(needed)
        self.n_known += stored.n_fits
        self.engine = stored.engine
        return replace(stored, plan=plan)

    def choose(self, plan: Plan, request: Request) -> Engine:
        """Return the engine that answers such a question."""
        engine, refusals = choose_engine(self.wanted_engine, self.family, self.data, plan, request)
        self.refusals |= refusals
        self.engine = engine.word
        return engine
