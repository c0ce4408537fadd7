"""Predictions of tuned learners for rows that took part in neither their tuning nor their fit."""

from __future__ import annotations

from operator import attrgetter

import numpy as np

from truerisk.contracts import FitStore
from truerisk.core.errors import FitFailed, NoEngine, Refusal
from truerisk.core.frozen import frozen
from truerisk.estimation.problem import EstimationProblem
from truerisk.estimation.run import Computation, has_time_order
from truerisk.methods.parts.procedure import candidate_of_each_fit
from truerisk.plan.answers import Answers, Response

NO_PROBABILITIES_OR_SCORES = "the model gives neither probabilities nor decision values."


@frozen(eq=False)
class OutOfFoldPredictions:
    """Held-out predictions of the outer splits, one for each row in `rows`.

    The prediction for a row is made by the model of an outer split that had not seen the row.

    `split_numbers` holds the number of this split. `values` are class probabilities (a column per
    class) or decision values of the second class, as `response` says. Rows that were tested more
    often keep their first prediction. `is_ordered` is True if rows were tested in the order of
    time, so that no interval is justified. `answers` are the predictions for all questions of the
    outer splits, for which `n_fits` were made.
    """

    response: Response
    rows: np.ndarray
    split_numbers: np.ndarray
    values: np.ndarray
    answers: Answers
    is_ordered: bool = False
    n_fits: int = 0


def predict_out_of_fold(
    problem: EstimationProblem, computation: Computation, fit_store: FitStore | None = None
) -> OutOfFoldPredictions | str:
    """Predict the held-out rows of each outer split by the setting that was chosen there.

    The chosen setting of each split is fitted again, and its probabilities or decision values are
    kept.

    The models are those that were tested: same rows, same settings, same seeds. Predictions of a
    model for rows that it saw, which bootstrap methods also request, are left out. If there are no
    predictions, the reason is returned as a sentence.
    """
    tested_predictions, winners = computation.answers, computation.winners
    if problem.data.task != "classification":
        return "answers of a regression are numbers, and have no probabilities."
    if tested_predictions is None or winners is None or not tested_predictions.answered.all():
        return "a fit failed in an outer split, so some rows have no answer."
    plan = tested_predictions.plan
    if problem.most_informative_request is None:
        return NO_PROBABILITIES_OR_SCORES
    for stored_predictions in (tested_predictions, *tested_predictions.also):
        if stored_predictions.response == problem.most_informative_request.response:
            return _first_predictions(computation, stored_predictions)
    try:
        candidates = candidate_of_each_fit(plan, winners.candidate)
        winner_predictions = problem.create_refit_asking(fit_store).answers(
            plan, problem.most_informative_request, candidates
        )
    except NoEngine as refusal:
        # The engine that the user named cannot predict these, and no other engine replaces it.
        return str(refusal)
    except (FitFailed, Refusal):  # The model gives no probabilities and no scores.
        return NO_PROBABILITIES_OR_SCORES
    if not (winner_predictions.answered.all() and np.isfinite(winner_predictions.values).all()):
        return NO_PROBABILITIES_OR_SCORES
    return _first_predictions(computation, winner_predictions, winner_predictions.n_fits)


def needs_refits(problem: EstimationProblem) -> bool:
    """Return True if the outer splits' chosen settings must be fitted again.

    This is necessary if no loss has requested the probabilities that these models predict.
    """
    if problem.data.task != "classification" or problem.most_informative_request is None:
        return False
    return problem.most_informative_request.response not in map(
        attrgetter("response"), problem.losses
    )


def _first_predictions(
    computation: Computation, predictions: Answers, n_fits: int = 0
) -> OutOfFoldPredictions | str:
    """Return the first prediction for every row by a model that had not seen that row."""
    plan, values = predictions.plan, predictions.values[0]
    is_seen = np.concatenate(list(map(plan.seen, range(plan.n_questions))))
    unseen_positions = np.flatnonzero(~is_seen)
    distinct_rows, first_indices = np.unique(plan.positions[0][unseen_positions], return_index=True)
    if not len(distinct_rows):
        return "every row was tested by models that saw it."
    split = np.repeat(np.arange(plan.n_questions), plan.test_sizes)
    first_positions = unseen_positions[first_indices]
    is_ordered = has_time_order(computation.problem.data, computation.method, predictions)
    return OutOfFoldPredictions(
        predictions.response,
        distinct_rows,
        split[first_positions],
        values[first_positions],
        predictions,
        is_ordered,
        n_fits,
    )
