"""Racing: settings that are very unlikely to win are not fitted on further folds.

After some folds, on rows of total weight W, the mean loss of candidate c exceeds that of the best
candidate by δ. On all rows, of total weight W + R, the mean difference is predicted to be the same.
A difference of 0 is then z = δ √(W + R) / √(V R) standard deviations away. Here V is the variance
of δ, and the remaining rows are expected to have the same variance. The best candidate, and
candidates tied with it, have z = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Method, Streams, Terms, evaluate_every_loss
from truerisk.core.arguments import mention
from truerisk.core.errors import BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Average, Loss, RowLoss, check_average
from truerisk.methods.pairs import Pairs
from truerisk.methods.parts.averages import Averaged, average_weights, row_losses
from truerisk.methods.parts.procedure import add_winners, choose_in_outer_splits, make_winners
from truerisk.plan.answers import Answers, Ask, merge_runs
from truerisk.plan.pairs import find_partitions
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation, Target, Tested
from truerisk.results.interval import Basis

# A candidate is dropped if it is more than so many standard deviations behind the best candidate:
# MIN_DEVIATIONS + ADDED_DEVIATIONS × s, where s is the share of the rows seen so far in the race.
# Dropping the winner early costs more than dropping it late, but early drops also save more fits.
MIN_DEVIATIONS = 1.75
ADDED_DEVIATIONS = 1.0
# The variance of the difference of two candidates is computed as if more rows had been seen:
# this number of additional rows, each with a typical difference.
N_ASSUMED_ROWS = 2

RequestFits = Callable[[np.ndarray], Answers]
"""Function that returns predictions for the (candidate, fit) pairs marked in a boolean array."""


@dataclass(eq=False)
class Race:
    """State of one race of candidates over folds.

    `test_set_order` holds the test sets of the plan in the order of the race. `is_running` marks
    the candidates that are still in the race, `total_weight` is the weight of all rows, and the
    lists hold the losses, weights and groups of the rows seen so far.
    """

    test_set_order: np.ndarray
    is_running: np.ndarray
    total_weight: float
    losses: list[np.ndarray] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)
    groups: list[np.ndarray] = field(default_factory=list)

    def record_fold(
        self, losses: np.ndarray, weights: np.ndarray, groups: np.ndarray | None
    ) -> None:
        """Record the losses of all candidates on the next fold; drop hopeless candidates."""
        self.losses.append(losses)
        self.weights.append(weights)
        if groups is not None:
            self.groups.append(groups)
        running_candidates = np.flatnonzero(self.is_running)
        seen_losses = np.concatenate(
            [fold_losses[running_candidates] for fold_losses in self.losses], axis=1
        )
        groups = np.concatenate(self.groups) if self.groups else None
        self.is_running[
            running_candidates[
                find_hopeless_candidates(
                    seen_losses, np.concatenate(self.weights), self.total_weight, groups
                )
            ]
        ] = False


def run_races(
    ask: RequestFits,
    plan: Plan,
    races: Sequence[np.ndarray],
    n_candidates: int,
    loss_source: RaceLosses,
) -> tuple[Answers, np.ndarray]:
    """Run races of n candidates; return the predictions and the candidates that each race kept.

    `races` holds the test sets of each race in their order. All races proceed to their next test
    set at the same time, so that a fit that serves two races is made once. The kept candidates are
    returned as a mask with one row per race.
    """
    race_states = [
        Race(
            race_order,
            np.ones(n_candidates, dtype=bool),
            float(loss_source.weights_of_test_sets(race_order).sum()),
        )
        for race_order in races
    ]
    collected_predictions: list[Answers] = []
    is_fitted = np.zeros((n_candidates, plan.n_fits), dtype=bool)
    for step in range(max(len(race_order) for race_order in races)):
        is_requested = np.zeros_like(is_fitted)
        active_races = [race for race in race_states if step < len(race.test_set_order)]
        for race in active_races:
            is_requested[race.is_running, plan.fit[race.test_set_order[step]]] = True
        is_requested &= ~is_fitted
        if is_requested.any():
            collected_predictions = [merge_runs([*collected_predictions, ask(is_requested)])]
            is_fitted |= is_requested
        for race in active_races:
            if step + 1 < len(race.test_set_order):
                race.record_fold(
                    *loss_source.losses_of_test_set(
                        collected_predictions[0], int(race.test_set_order[step])
                    )
                )
    return collected_predictions[0], np.array([race.is_running for race in race_states])


@frozen(eq=False)
class RaceLosses:
    """Source of the row losses that a race compares, with the weights of the rows in the risk."""

    data: Data
    loss: RowLoss
    plan: Plan
    weights: np.ndarray

    def weights_of_test_sets(self, test_sets: np.ndarray) -> np.ndarray:
        """Return the weights of the rows of these test sets."""
        offsets = self.plan.test_offsets
        return np.concatenate(
            [self.weights[offsets[test_set] : offsets[test_set + 1]] for test_set in test_sets]
        )

    def losses_of_test_set(
        self, predictions: Answers, test_set: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return the losses, weights and groups of one test set's rows.

        The losses are NaN if there was no fit.
        """
        single_test_set = np.array([test_set])
        rows = self.plan.test_rows(test_set)[0]
        groups = None if self.data.clusters is None else self.data.clusters[rows]
        return (
            row_losses(predictions.select(single_test_set), self.data, self.loss),
            self.weights_of_test_sets(single_test_set),
            groups,
        )


def find_hopeless_candidates(
    losses: np.ndarray, weights: np.ndarray, total_weight: float, groups: np.ndarray | None = None
) -> np.ndarray:
    """Return a mask of candidates that are very unlikely to have the smallest risk on all rows.

    `losses[c]` holds candidate c's losses of the rows seen so far, and `total_weight` is the weight
    of all rows. Rows of a group are summed first. A candidate with a failed fit is marked, because
    it cannot have a risk; if all candidates have failed, none is marked.

    >>> errors = np.array([[0, 0, 1, 0, 0, 0], [1, 1, 1, 1, 0, 1], [0, 1, 0, 0, 0, 0]])
    >>> find_hopeless_candidates(errors, np.ones(6), 12.0).tolist()
    [False, True, False]
    """
    has_failed = np.isnan(losses).any(axis=1)
    if has_failed.all():
        return np.zeros(len(losses), dtype=bool)
    seen_weight = float(weights.sum())
    loss_sums = np.where(has_failed, np.inf, losses @ weights)
    excess_losses = losses - losses[int(loss_sums.argmin())]
    mean_excess = excess_losses @ weights / seen_weight
    group_excess = _sums_by_group(weights * excess_losses, groups)
    group_weights = _sums_by_group(weights, groups)
    sum_of_squares = ((group_excess - mean_excess[:, None] * group_weights) ** 2).sum(axis=1)
    nonzero_excess = group_excess[~has_failed]
    nonzero_excess = nonzero_excess[nonzero_excess != 0]
    sum_of_squares += (
        N_ASSUMED_ROWS * float((nonzero_excess**2).mean()) if len(nonzero_excess) else 0.0
    )
    variance = sum_of_squares / seen_weight**2
    with np.errstate(divide="ignore", invalid="ignore"):
        z_score = mean_excess * np.sqrt(total_weight / (variance * (total_weight - seen_weight)))
    is_hopeless: np.ndarray = has_failed | (
        z_score > MIN_DEVIATIONS + ADDED_DEVIATIONS * seen_weight / total_weight
    )
    return is_hopeless


def _sums_by_group(amounts: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    if groups is None:
        return amounts
    group_order = np.argsort(groups, kind="stable")
    group_starts = np.unique(groups[group_order], return_index=True)[1]
    return np.add.reduceat(amounts[..., group_order], group_starts, axis=-1)


@frozen
class Racing(Method):
    """K-fold cross-validation that drops hopeless settings early (a race; Kuhn, 2014).

    The folds are processed one after the other. A setting is dropped if its losses so far make it
    improbable that it has the smallest risk on all rows: a difference of 0 from the best setting is
    more than 1.75 + (share of the rows seen) standard deviations away from the predicted difference
    (`find_hopeless_candidates`). Settings that reach the end have exactly their K-fold risk, and
    the smallest one wins. Dropped settings have no risk, and their notes tell when they were
    dropped.

    The choice is nearly always the same as with all folds. Where it is not, the race is still the
    procedure that is applied, and `RacedPairs` estimates the risk of that procedure. `average` has
    the same meaning as in `KFold`.

    Parameters
    ----------
    folds : str, int, Method or splitter, default="10-fold"
        The folds over which the race runs.
    average : {"pooled", "fold"}, optional
        How the tests are averaged: over all rows together ("pooled"), or first within each fold
        ("fold"). By default as the loss requires.

    See Also
    --------
    truerisk.methods.KFold : K-fold cross-validation.

    References
    ----------
    Maron O, Moore AW (1994). Hoeffding races: accelerating model selection search for
    classification and function approximation. Advances in Neural Information Processing Systems 6.
    Kuhn M (2014). Futility analysis in the cross-validation of machine learning models.
    arXiv:1405.6974.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.svm import SVC
    >>> X, y = tr.datasets.make_simple(100, random_state=0)
    >>> grid, method = {"C": [1e-3, 1, 10]}, tr.methods.Racing()
    >>> curve = tr.risk_curve(SVC(), grid, X, y, cv=method, engine="generic")
    >>> curve.best_params, curve.values.round(2).tolist()
    ({'C': 0.001}, [0.2, 0.22, nan])
    """

    folds: Any = "10-fold"
    average: Average | None = None

    target: ClassVar[Target] = "Err"
    rates_all: ClassVar[bool] = False
    spares_fits: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_average(self.average)

    @property
    @override
    def name(self) -> str:
        return f"racing ({self.method.name})"

    @property
    @override
    def bias(self) -> str:
        return self.method.bias

    @property
    def gives(self) -> frozenset[Basis]:  # type: ignore[override]
        """Kinds of evidence that the folds provide for confidence intervals."""
        return self.method.gives

    @property
    @override
    def tells_scores(self) -> Method:
        return self.method

    def procedure(self, outer: Method, *, compare: bool) -> RacedPairs:
        """Return the method that tests this race by repeating it in every outer training set.

        Parameters
        ----------
        outer : Method
            The requested outer splits, which must be pairs of the folds of the race.
        compare : bool
            If True, a single candidate is also compared.

        Returns
        -------
        Method
            The method.
        """
        if not isinstance(outer, Pairs) or outer.folds is not None:
            raise Refusal(
                f"'{self.name}' is tested in the pairs of its own folds, and '{outer.name}' was "
                f"asked for: use {mention('outer', 'pairs')}, or compare by folds, such as "
                "'10-fold'."
            )
        return RacedPairs(self, compare, outer.average)

    @property
    def method(self) -> Averaged:
        """The K-fold method over whose folds the race runs."""
        from truerisk.methods.words import as_method

        method = as_method(self.folds)
        if not isinstance(method, Averaged) or not method.has_folds:
            raise Refusal(
                f"'{method.name}' has no folds to race over: name a K-fold word, such as "
                "tr.methods.Racing('10-fold')."
            )
        if self.average is None:
            return method
        method_with_average: Averaged = replace(method, average=self.average)  # type: ignore[type-var]
        return method_with_average

    @override
    def check(self, data: Data, loss: Loss) -> None:
        self.method.check(data, loss)
        if not isinstance(loss, RowLoss):
            raise Refusal(
                f"'{loss.name}' rates whole test sets, and a race compares losses of single rows: "
                "choose by the folds themselves, such as '10-fold', or by another loss."
            )

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        plan = self.method.plan(data, streams)
        try:
            is_repeated = len(find_partitions(plan)) > 1
        except Refusal as refusal:
            raise BadData(
                f"the folds of '{self.method.name}' are none to race over: {refusal}. Choose by "
                "folds that hold every row once, such as '10-fold'."
            ) from None
        if is_repeated:
            raise Refusal(
                f"'{self.method.name}' tests every row repeatedly, and a race tests each row once: "
                "use one set of folds, such as '10-fold'."
            )
        return plan

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> Sequence[Tested]:
        estimates = self.method.reduce(answers, data, loss, terms)
        is_fitted, n = answers.made, answers.plan.n_questions
        return [
            estimate
            if is_fitted[candidate].all()
            else replace(
                estimate, notes=(_dropped_note(int(is_fitted[candidate].sum()), n), *estimate.notes)
            )
            for candidate, estimate in enumerate(estimates)
        ]

    @override
    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        predictions = self.run(ask, data, loss, plan, terms)

        def rate(loss: Loss, terms: Terms, predictions: Answers) -> Evaluation:
            estimates = tuple(self.reduce(predictions, data, loss, terms))
            return Evaluation(plan, estimates, predictions.n_fits, answers=predictions)

        return evaluate_every_loss(rate, loss, terms, predictions)

    def run(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Answers:
        """Run the race on all rows and return the predictions; a single candidate gets all folds.

        Parameters
        ----------
        ask : callable
            Requests the answers to a plan.
        data : Data
            The checked rows of the call.
        loss : Loss
            The loss to estimate.
        plan : Plan
            The fits and the questions that they answer.
        terms : Terms
            Confidence level, rule and further scores.

        Returns
        -------
        Answers
            The predictions of all candidates as far as they raced.
        """
        # A race seeks the smallest risk. It may drop the candidate that another rule would choose.
        if terms.n_candidates > 1 and terms.rule.name != "min":
            raise Refusal(
                f"rule '{terms.rule.name}' may choose a setting that a race has dropped, as a race "
                f"seeks the smallest risk: use {mention('rule', 'min')}, or compare by folds, such "
                "as '10-fold'."
            )
        if terms.n_candidates == 1:
            return ask(plan, number=0)
        test_sets = np.arange(plan.n_questions)
        loss_source = self.seen(data, loss, plan)
        return run_races(
            _request_by_mask(ask, plan, 0), plan, [test_sets], terms.n_candidates, loss_source
        )[0]

    def seen(self, data: Data, loss: Loss, plan: Plan) -> RaceLosses:
        """Return the source from which a race on this plan reads the rows' losses and weights.

        Parameters
        ----------
        data : Data
            The checked rows of the call.
        loss : Loss
            The loss to estimate.
        plan : Plan
            The fits and the questions that they answer.

        Returns
        -------
        RaceLosses
            The losses and weights.
        """
        assert isinstance(loss, RowLoss)
        average = self.method.average_of(loss)
        return RaceLosses(data, loss, plan, average_weights(data, plan, average)[0])


@frozen
class RacedPairs(Pairs):
    """Method that estimates the risk of "race, then fit"; each race leaves out one outer fold.

    It uses the folds as `Pairs` does. Within outer fold i, the settings race over the other folds
    j, with their fits without i and j. The races start with the folds next to i on a circle,
    because the fit without two adjacent folds serves both of their races at once. A race sees only
    its own test sets, so that a setting is dropped within outer fold i without the use of fold i.
    The fits that are made are the union of the fits that the races need. `folds` is the `Racing`
    method.
    """

    folds: Any = None

    @property
    def race(self) -> Racing:
        """The racing method whose choice of a setting is tested."""
        return self.folds if isinstance(self.folds, Racing) else Racing()

    @property
    @override
    def name(self) -> str:
        return f"raced {super().name}"

    @property
    @override
    def tested_by(self) -> str:
        return "raced pairs"

    @property
    @override
    def inner_method(self) -> Averaged:
        return self.race.method

    @override
    def check(self, data: Data, loss: Loss) -> None:
        self.race.check(data, loss)
        super().check(data, loss)

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        self.race.plan(data, streams)  # This call raises if a race over these folds is impossible.
        return super().plan(data, streams)

    @override
    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        if terms.n_candidates == 1:
            return super().evaluate(ask, data, loss, plan, terms)
        outer_plan = plan.part_named("outer")
        inner_plan = plan.part_named("inner")
        n_candidates = terms.n_candidates
        race_predictions = self.race.run(ask, data, loss, outer_plan, terms)
        loss_source = self.race.seen(data, loss, inner_plan)
        pair_predictions, reached_end = run_races(
            _request_by_mask(ask, inner_plan, 1),
            inner_plan,
            _circular_orders(inner_plan),
            n_candidates,
            loss_source,
        )
        # This mask (candidate, test set) marks candidates that the race of the outer fold kept.
        reached_end_by_test_set = reached_end[pair_predictions.plan.unit].T
        undropped_predictions = replace(
            pair_predictions, answered=pair_predictions.answered & reached_end_by_test_set
        )
        chosen_candidates, inner_estimates = choose_in_outer_splits(
            self.inner_method, undropped_predictions, data, loss, terms
        )
        winners = make_winners(chosen_candidates, inner_estimates)
        is_requested = np.zeros((n_candidates, outer_plan.n_fits), dtype=bool)
        is_requested[chosen_candidates, outer_plan.fit] = True
        fold_predictions = ask(outer_plan, requested=is_requested, number=0)
        n_missing_fits = int((is_requested & ~race_predictions.made).sum())
        n_fits = race_predictions.n_fits + pair_predictions.n_fits + n_missing_fits
        n_all_fits = n_candidates * (outer_plan.n_fits + inner_plan.n_fits)
        cost_note = (
            f"{n_fits} fits; without a race {n_all_fits}. "
            f"The race on all rows made {race_predictions.n_fits}."
        )

        def rate(
            loss: Loss,
            terms: Terms,
            outer_predictions: Answers,
            inner_predictions: Answers,
            full_race_predictions: Answers,
        ) -> Evaluation:
            winner_predictions, left_two_out = (
                outer_predictions.picked(chosen_candidates),
                inner_predictions.picked(chosen_candidates[inner_predictions.plan.fold]),
            )
            procedure_estimate = self.risk(winner_predictions, left_two_out, data, loss, terms)
            procedure_estimate = replace(
                procedure_estimate, notes=(cost_note, *procedure_estimate.notes)
            )
            candidate_estimates = tuple(self.race.reduce(full_race_predictions, data, loss, terms))
            return add_winners(
                Evaluation(
                    plan,
                    candidate_estimates,
                    n_fits,
                    answers=winner_predictions,
                    left_two_out=left_two_out,
                ),
                procedure_estimate,
                winners,
            )

        return evaluate_every_loss(
            rate, loss, terms, fold_predictions, pair_predictions, race_predictions
        )


def _request_by_mask(ask: Ask, plan: Plan, pass_number: int) -> Any:
    """Return a function that requests the fits that a mask (candidate, fit) marks.

    All requests belong to one pass.
    """

    def request_marked(is_requested: np.ndarray) -> Answers:
        return ask(plan, requested=is_requested, number=pass_number)

    return request_marked


def _circular_orders(inner_plan: Plan) -> list[np.ndarray]:
    """Return the order in which each outer fold's race visits the inner test sets.

    The folds are on a circle, and those adjacent to the outer fold come first.
    """
    n_outer_folds = int(inner_plan.unit.max()) + 1
    race_orders = []
    for outer_fold in range(n_outer_folds):
        fold_test_sets = np.flatnonzero(inner_plan.unit == outer_fold)
        steps_ahead = (inner_plan.fold[fold_test_sets] - outer_fold) % n_outer_folds
        race_orders.append(
            fold_test_sets[
                np.lexsort((steps_ahead, np.minimum(steps_ahead, n_outer_folds - steps_ahead)))
            ]
        )
    return race_orders


def _dropped_note(n_folds: int, n_all_folds: int) -> str:
    return f"left the race after {n_folds} of {n_all_folds} folds, so it has no risk on all rows."
