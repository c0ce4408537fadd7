"""The function `validate_predictions`, which validates predictions of another program."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.core.arguments import to_row_array
from truerisk.core.errors import BadData
from truerisk.core.family import TaskName
from truerisk.validation.given_predictions import make_finished_model
from truerisk.validation.validate import validate
from truerisk.validation.validation import Validation


def validate_predictions(
    y: Any,
    predictions: Any,
    *,
    scoring: Any = None,
    positive: Any = None,
    subgroups: Any = None,
    groups: Any = None,
    time: Any = None,
    block: Any = None,
    sample_weight: Any = None,
    thresholds: Any = None,
    clip: float | None = None,
    confidence_level: float | None = None,
    horizon: float | None = None,
    random_state: Any = 0,
) -> Validation:
    """Validate the predictions of a model of any program, for rows that it had not seen.

    The result is that of `validate` for a finished model that makes these predictions.

    Parameters
    ----------
    y : array or column
        The target of each row. Its values are classes if they are text, Booleans or at most two
        different whole numbers, or if `predictions` has several columns. Other numbers are a
        numeric outcome. For an outcome in time give scikit-survival's structured array, or two
        columns: whether the event came (1 or 0), and the time.
    predictions : array, column or frame
        One prediction for each row: for two classes the probability of the event; for several
        classes one column of probabilities for each class, in sorted order or named by the
        classes, or the predicted labels; for numbers the predicted value. For an outcome in time
        the prediction is the risk of the event by the `horizon`, or without a horizon the linear
        predictor, as ``predict(fit, type="lp")`` of R's ``coxph`` gives it.
    scoring : str, callable, Loss, or a list or dict of them, optional
        The score of `risk`, and further scores, as in `validate`.
    positive : label, optional
        The class that is the event; a single column of `predictions` holds its probabilities. The
        default is the second of two classes in sorted order.
    subgroups : array, frame or dict of arrays, optional
        The level of each row, in one or more columns. Every score is computed for each level.
    groups : array of labels, optional
        Rows of one group count as one in intervals.
    time : array, optional
        When each row was observed. Such rows may depend on each other.
    block : array or frame, optional
        Where each row was observed. Such rows may depend on each other.
    sample_weight : array, optional
        The weight of each row.
    thresholds : array, optional
        Probabilities at which the net benefit is computed: rows with at least this probability of
        the event are treated. The default is 0.01 to 0.99.
    clip : float, optional
        Replace probabilities below `clip` by `clip`, and those above 1 − `clip` by 1 − `clip`.
    confidence_level : float, optional
        The nominal coverage of all intervals, 0.95 by default.
    horizon : float, optional
        For an outcome in time: the time by which `predictions` are the risks of the event.
    random_state : int, None or Generator, default=0
        The seed of the folds in which updates of the predictions are tested.

    Returns
    -------
    Validation
        The validation; ``print`` shows its tables, ``to_html(path)`` writes a page. A part that
        does not exist is None, and ``missing`` gives the reason.

    See Also
    --------
    validate : Validate a search or a model.
    audit_table : Estimate the risk of a tuned model from a table of predictions.

    Examples
    --------
    >>> import truerisk as tr
    >>> y = ["well", "ill", "ill", "well", "ill", "well"] * 20
    >>> p = [0.8, 0.3, 0.2, 0.6, 0.7, 0.4] * 20
    >>> v = tr.validate_predictions(y, p, groups=[i // 6 for i in range(120)])
    >>> print(v.rows["event"], round(v.measure("auc").honest, 3))
    well 0.778
    """
    target, task = _find_task(y, predictions)
    model, columns = make_finished_model(
        target, predictions, task=task, positive=positive, horizon=horizon
    )
    validation = validate(
        model,
        columns,
        target,
        prefit=True,
        scoring=scoring,
        positive=positive,
        subgroups=subgroups,
        groups=groups,
        time=time,
        block=block,
        thresholds=thresholds,
        clip=clip,
        confidence_level=confidence_level,
        horizon=horizon,
        random_state=random_state,
        **({} if sample_weight is None else {"sample_weight": sample_weight}),
    ).with_names(("predictions",) * columns.shape[1])  # Notes use the names of the columns of X.
    call_arguments = {name: text for name, text in validation.given.items() if name != "prefit"}
    options_text = "".join(f", {name}={text}" for name, text in call_arguments.items())
    return replace(
        validation,
        given=call_arguments,
        command=f"tr.validate_predictions(y, predictions{options_text})",
    )


def _find_task(y: Any, predictions: Any) -> tuple[Any, TaskName]:
    """Return y and the task that y and predictions imply; two columns of times become pairs."""
    target = to_row_array("y", y, "give one value for each row")
    if target.dtype.names or (target.ndim == 2 and target.shape[1] == 2):
        return (y if target.dtype.names else _pairs_from_columns(target)), "survival"
    if target.dtype.kind not in "iuf":
        return y, "classification"
    has_columns = np.ndim(predictions) == 2 and np.shape(predictions)[1] > 1
    levels = np.unique(target)
    has_two_classes = len(levels) <= 2 and bool((levels == np.round(levels)).all())
    return y, "classification" if has_columns or has_two_classes else "regression"


def _pairs_from_columns(columns: np.ndarray) -> np.ndarray:
    """Return two columns, event and time, as the structured array of scikit-survival."""
    try:
        events, times = columns.astype(np.float64).T
    except (TypeError, ValueError):
        events, times = np.full((2, len(columns)), np.nan)
    if not np.isin(events, (0, 1)).all():
        raise BadData(
            "y has two columns, and the first is not whether the event came: give 1 or 0 (or True "
            "or False) in the first column, and the time in the second."
        )
    pairs = np.empty(len(columns), dtype=[("event", bool), ("time", np.float64)])
    pairs["event"], pairs["time"] = events == 1, times
    return pairs
