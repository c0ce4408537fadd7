"""Compute several scores of one fitted model, but call each prediction method only once.

The log loss, the Brier score and the AUC use the same probabilities. For a model that is slow to
predict, such as a network or a model that learns while predicting, predicting again may take as
long as a fit. While several scores of the same rows are computed, the model's prediction methods
are therefore replaced by functions that return the stored predictions. A scorer that is the user's
own function is called after that: it may inspect the model, and gets it unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any

from truerisk.contracts import Request
from truerisk.core.identity import is_a
from truerisk.data.rows import copy_if_mutable

PREDICTION_METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def _make_caching_method(
    original_method: Any,
    method_name: str,
    table: Any,
    stored_predictions: dict[str, Any],
    predict: Callable[[], Any],
) -> Any:
    """Return a replacement for a prediction method that caches the predictions for `table`.

    For the same table it returns a copy of the stored prediction. For any other arguments
    it calls the original method.
    """

    @wraps(original_method)
    def predict_or_reuse(X: Any, *arguments: Any, **keywords: Any) -> Any:
        if X is not table or arguments or keywords:
            return original_method(X, *arguments, **keywords)
        if method_name not in stored_predictions:
            stored_predictions[method_name] = predict()
        return copy_if_mutable(stored_predictions[method_name])

    return predict_or_reuse


@contextmanager
def predict_once(
    model_and_rows: tuple[Any, Any], learner_and_rows: tuple[Any, Any]
) -> Iterator[None]:
    """Make a model, and the learner in it, predict the same rows only once in a `with` block.

    Each argument is a pair: the model with the rows, and its learner with the transformed rows. If
    model and learner are the same object, pass it twice. A pipeline returns the predictions that
    its learner stored.
    """
    stored_predictions: dict[str, Any] = {}
    models_and_rows = (
        [learner_and_rows]
        if model_and_rows[0] is learner_and_rows[0]
        else [learner_and_rows, model_and_rows]
    )
    replaced_methods = []
    try:
        for method_name in PREDICTION_METHODS:
            learner_method = getattr(learner_and_rows[0], method_name, None)
            if not callable(learner_method):
                continue
            for model, X in models_and_rows:
                original_method = getattr(model, method_name, None)
                if callable(original_method) and method_name not in getattr(
                    model, "__dict__", {method_name: None}
                ):
                    vars(model)[method_name] = _make_caching_method(
                        original_method,
                        method_name,
                        X,
                        stored_predictions,
                        partial(learner_method, learner_and_rows[1]),
                    )
                    replaced_methods.append((model, method_name))
        yield
    finally:
        for model, method_name in replaced_methods:
            vars(model).pop(method_name, None)


POSITIVE_SCORER_PATH = "truerisk.losses.scorer_losses:PositiveScorer"


def needs_only_predictions(request: Request) -> bool:
    """Return True if a request can be met with predictions, without giving user code the model.

    This holds for the losses of this package and for the scorers that `make_scorer` returns.
    """
    scorer = request.scorer
    if request.response != "scored" or is_a(scorer, POSITIVE_SCORER_PATH):
        return True
    from sklearn.metrics import get_scorer

    # This class, which make_scorer returns, is not public in scikit-learn.
    return type(scorer) is type(get_scorer("accuracy"))
