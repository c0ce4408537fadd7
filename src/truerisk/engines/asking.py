"""The way from a plan to predictions: choose an engine, give its pass a seed, and run it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.contracts import Engine, FitStore, Request, RunOptions
from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.choice import choose_engine
from truerisk.engines.running.fitting import fit_on_all_rows
from truerisk.losses.loss import Loss
from truerisk.plan.answers import Answers, Response, merge_runs
from truerisk.plan.plan import Plan


class Asking:
    """Entry point through which methods obtain predictions from engines.

    It records which engine computed the predictions, and which engines refused and why. Each pass
    of one computation (inner, outer) has a seed of its own, derived from its number.

    Parameters
    ----------
    family : Family
        The learner and its candidate settings.
    data : Data
        The checked rows of the call.
    loss : Loss
        The loss to estimate.
    scores : sequence of Loss, optional
        Further losses to compute from the same fits.
    engine : str or Engine, default="auto"
        The requested engine.
    executor : executor, optional
        Where models are fitted.
    seed : int, default=0
        The seed of the computation.
    passes : int, default=0
        The number of the first pass.
    fit_store : FitStore, optional
        The store of fits.
    known : sequence of Answers or None, optional
        The answers to the first passes of another computation, which are used instead of being
        computed again.
    steps : object, optional
        Fitted preprocessing steps that are shared with other families.

    See Also
    --------
    truerisk.extend.Method.evaluate : The method that gets it as `ask`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> import truerisk as tr
    >>> from truerisk.extend import Asking, Data, Family, Streams
    >>> data = Data.check(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1], task="classification")
    >>> ask = Asking(Family.from_grid(GaussianNB()), data, tr.losses.ZeroOne())
    >>> answers = ask(tr.methods.KFold(3).plan(data, Streams(0)))
    >>> ask.engine, answers.values.shape
    ('generic', (1, 6))
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
        fit_store: FitStore | None = None,
        known: Sequence[Answers | None] = (),
        steps: Any = None,
    ) -> None:
        self.family, self.data, self.loss, self.scores = family, data, loss, tuple(scores)
        self.wanted_engine, self.executor, self.fit_store = engine, executor, fit_store
        self.seed, self.passes, self.steps = seed, passes, steps
        self.known_answers = tuple(known)
        self.engine = ""
        self.refusals: dict[str, str] = {}
        self.n_known = 0  # number of fits that were not run, because earlier predictions were used

    def __call__(
        self,
        plan: Plan,
        only: np.ndarray | None = None,
        *,
        extras: bool = True,
        requested: np.ndarray | None = None,
        number: int | None = None,
    ) -> Answers:
        """Return the predictions that the losses need, for all candidates or for one in each fit.

        If `only` is given, fit f predicts for candidate `only[f]` alone.
        """
        self.passes = self.passes if number is None else number
        known_predictions = None  # earlier predictions of fits with the same seeds, or None
        if only is None and self.passes < len(self.known_answers):
            known_predictions = self.known_answers[self.passes]
        if known_predictions is not None and not plan.asks_like(known_predictions.plan):
            known_predictions = None
        request = Request.from_plan(self.loss, plan, self.scores if extras else ())
        if known_predictions is None:
            return self.answers(plan, request, only, requested)
        requested_fits = (
            np.ones(known_predictions.made.shape, dtype=bool) if requested is None else requested
        )
        missing_fits = requested_fits & ~known_predictions.made
        if not missing_fits.any():
            return self._reuse_predictions(plan, known_predictions, requested)
        new_predictions = self.answers(plan, request, None, missing_fits)
        return merge_runs(
            [self._reuse_predictions(plan, known_predictions, requested_fits), new_predictions]
        )

    def answers(
        self,
        plan: Plan,
        request: Request,
        only: np.ndarray | None = None,
        needed: np.ndarray | None = None,
    ) -> Answers:
        """Compute the requested predictions, each by an engine that supports it, as the next pass.

        Parameters
        ----------
        plan : Plan
            The fits and the test sets that they predict.
        request : Request
            The type of predictions that the loss needs.
        only : array of int, optional
            The single candidate that is fitted in each fit.
        needed : array of bool, shape (n_candidates, n_fits), optional
            The fits that are needed of each candidate.

        Returns
        -------
        Answers
            The predictions.
        """
        seed = self._next_seed()
        run_options = RunOptions(self.executor, seed, only, self.fit_store, needed, self.steps)
        all_requests = request.all_requests
        predictions_by_key: dict[tuple[Response, int, int], Answers] = {}
        n_fits: dict[str, int] = {}
        for engine, requests in self._requests_by_engine(plan, all_requests):
            if needed is not None and not engine.leaves_out:
                raise Refusal(
                    f"engine '{engine.name}' answers all settings in one pass, so that a race "
                    "among them would save nothing: compare them by their folds, such as "
                    "'10-fold', or use engine='generic'."
                )
            joined_request = replace(requests[0], also=tuple(requests[1:]))
            predictions = engine.run(self.family, self.data, plan, joined_request, run_options)
            n_fits[engine.name] = predictions.n_fits
            predictions_of_requests = (replace(predictions, also=()), *predictions.also)
            for one_request, request_predictions in zip(
                requests, predictions_of_requests, strict=True
            ):
                predictions_by_key[one_request.key] = request_predictions
        first_predictions, *further_predictions = (
            predictions_by_key[single_request.key] for single_request in all_requests
        )
        return replace(
            first_predictions, also=tuple(further_predictions), n_fits=sum(n_fits.values())
        )

    def models(self, plan: Plan, only: np.ndarray, fits: np.ndarray) -> Iterator[Any]:
        """Yield the model of candidate `only[f]` for each fit f in `fits`, fitted in the next pass.

        The models are fitted again one by one, as they were for the predictions, because engines do
        not store fitted models.

        Parameters
        ----------
        plan : Plan
            The fits and the test sets that they predict.
        only : array of int
            The candidate of each fit.
        fits : array of int
            Numbers of fits.

        Yields
        ------
        estimator
            The fitted model of each of the fits.
        """
        if plan.has_drawn_fits or "flips" in plan.needs:
            raise Refusal(
                "models of changed labels, or of rows drawn by a law, are not made again."
            )
        seed = self._next_seed()
        for fit in fits.tolist():
            rows, row_counts = plan.train_rows(fit)
            data = self.data.subset(rows if row_counts is None else np.repeat(rows, row_counts))
            random_key = (seed, fit) if self.family.is_random else None
            yield fit_on_all_rows(self.family, int(only[fit]), data, random_key)

    def _next_seed(self) -> int:
        seed = np.random.SeedSequence([self.seed, self.passes]).generate_state(1)[0]
        self.passes += 1
        return int(seed)

    def _requests_by_engine(
        self, plan: Plan, requests: Sequence[Request]
    ) -> list[tuple[Engine, list[Request]]]:
        """Return each engine with the requests that it supports, without duplicate requests.

        The requests keep their order.
        """
        requests_by_engine: dict[Any, tuple[Engine, list[Request]]] = {}
        seen_keys = set()
        for request in requests:
            key = request.key
            if key in seen_keys:
                continue
            seen_keys.add(key)
            engine = self.choose(plan, request)
            can_share_run = engine.answers_extras and not plan.has_drawn_fits
            requests_by_engine.setdefault(engine.name if can_share_run else key, (engine, []))[
                1
            ].append(request)
        engine_requests = list(requests_by_engine.values())
        self.engine = engine_requests[0][0].name
        return engine_requests

    def _reuse_predictions(
        self, plan: Plan, stored_predictions: Answers, needed_fits: np.ndarray | None
    ) -> Answers:
        self.passes += 1
        stored_predictions = (
            stored_predictions if needed_fits is None else stored_predictions.part(needed_fits)
        )
        self.n_known += stored_predictions.n_fits
        self.engine = stored_predictions.engine
        return replace(stored_predictions, plan=plan)

    def choose(self, plan: Plan, request: Request) -> Engine:
        """Choose the engine that supports this request, and record why other engines refused.

        Parameters
        ----------
        plan : Plan
            The fits and the test sets that they predict.
        request : Request
            The type of predictions that the loss needs.

        Returns
        -------
        Engine
            The engine.
        """
        engine, refusals = choose_engine(self.wanted_engine, self.family, self.data, plan, request)
        self.refusals |= refusals
        self.engine = engine.name
        return engine
