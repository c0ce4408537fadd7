"""The part of a validation that speaks of stability: of the features and of single predictions."""

from __future__ import annotations

import numpy as np

from truerisk.api.validating.honest import HonestRun, pair_answers
from truerisk.api.validating.resampled import Resampled
from truerisk.core.answers import Response
from truerisk.core.errors import Refusal
from truerisk.core.table.rows import column_names, n_columns
from truerisk.core.validation.feature_stability import FeatureStability
from truerisk.core.validation.prediction_stability import PredictionStability, others_of_pairs
from truerisk.core.validation.stability import ModelStability
from truerisk.methods.parts.procedure import by_fit
from truerisk.models.stated.selected_features import selected_features
from truerisk.run.event import Event

__all__ = ["stability_of"]

BY: tuple[Response, ...] = ("probability", "value", "label")
SOURCE = (
    "the further models of a row lack one fold more than its own: they share most of their "
    "training rows with it, and move {factor:.2g} times less than a model of new training rows "
    "moves about the mean of such models (first order)."
)
OF_SAMPLES = (
    "the further models are those of bootstrap samples, in which tuning and fit were done anew; "
    "they are asked about all rows, as the model of all rows is (Riley and Collins 2023)."
)
LABELS = "the model gives no probabilities: a move is another label."


def stability_of(
    run: HonestRun,
    event: Event | None = None,
    own: np.ndarray | None = None,
    samples: Resampled | None = None,
) -> ModelStability:
    """Of the features that the outer splits selected, and of single predictions of the `event`.

    Where the procedure was repeated in bootstrap `samples`, their models' predictions of all rows
    are held against `own`, those of the model of all rows; else those of held-out rows move.
    """
    missing: dict[str, str] = {}
    features = predictions = None
    try:
        features = _features(run)
    except Refusal as refusal:
        missing["features"] = str(refusal)
    try:
        predictions = _of_samples(event, own, samples) or _predictions(run, event)
    except Refusal as refusal:
        missing["predictions"] = str(refusal)
    return ModelStability(features, predictions, missing)


def _features(run: HonestRun) -> FeatureStability:
    """The winners of the outer splits, fitted again, say which columns they use."""
    problem, plan = run.problem, run.answered.told[0].plan
    count = n_columns(problem.data.X)
    if count is None:
        raise Refusal("X has no columns: no features were selected.")
    names = column_names(problem.data.X) or [f"column {j}" for j in range(count)]
    held_out = np.unique(plan.fit[~plan.own_rows])
    models = run.asked.asking_winners().models(plan, by_fit(plan, run.winners), held_out)
    selected = np.array([selected_features(model, count) for model in models])
    level = problem.confidence_level
    return FeatureStability.of(selected, tuple(names), confidence_level=level, n_fits=len(selected))


def _of_samples(
    event: Event | None, own: np.ndarray | None, samples: Resampled | None
) -> PredictionStability | None:
    """Of models of bootstrap samples; None where there are none, or decision values."""
    if own is None or samples is None or len(samples.answers) < 2:
        return None
    given, others = own, samples.answers
    if event is not None:
        if own.ndim != 2:
            return None
        given, others = own[:, event.code], others[..., event.code]
    label = None if event is None else event.label
    return PredictionStability.of(np.arange(len(own)), given, others, OF_SAMPLES, event=label)


def _predictions(run: HonestRun, event: Event | None) -> PredictionStability:
    response = next((one for one in BY if one in run.told), None)
    if response is None:
        raise Refusal("decision values of several models have no common scale.")
    answers = run.told[response]
    shaken = pair_answers(run, response)
    found = others_of_pairs(answers, shaken)
    if found is None:
        raise Refusal("rows were tested more than once: use one repetition, outer='pairs'.")
    rows, places = found
    given = answers.values[0][np.argsort(answers.plan.positions[0], kind="stable")]
    others, factor = shaken.values[0][places], max(1.0, len(places) - 1) ** 0.5
    source = SOURCE.format(factor=factor)
    if response == "label":
        moved = others != given
        zero, one = np.zeros(len(rows)), moved.astype(float)
        return PredictionStability.between(rows, zero, one, f"{LABELS} {source}", moved)
    label = None
    if response == "probability":
        label = "the most probable class" if event is None else event.label
        if event is not None:
            given, others = given[:, event.code], others[..., event.code]
    return PredictionStability.of(rows, given, others, source, event=label, factor=factor)
