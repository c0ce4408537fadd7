"""Options of a validation, apart from model and rows, checked before anything is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np

from truerisk.core.arguments import as_array, check_clip, check_count, check_number, mention
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.registry import check_known
from truerisk.data.data import Data
from truerisk.losses.loss import TIME_LIMITS_AND_HINT
from truerisk.splitting.samples import count_given_samples
from truerisk.validation.outcomes import Event
from truerisk.validation.subgroups import ColumnLevels, subgroup_levels

DEPENDENT_ROWS_REASON = "and these rows depend on those before or beside them."


@frozen(eq=False)
class ValidationOptions:
    """Event, thresholds, bootstrap samples, subgroups and clipping of a validation.

    `columns` are the levels of the subgroup columns, None if no subgroups were requested.
    """

    thresholds: np.ndarray
    clip: float | None
    replicates: int
    samples: Any
    seed: int
    positive: Any = None
    columns: tuple[ColumnLevels, ...] | None = None
    horizon: float | None = None

    @classmethod
    def from_arguments(
        cls,
        X: Any,
        data: Data,
        seed: int,
        needs_horizon: bool = True,
        *,
        positive: Any = None,
        subgroups: Any = None,
        thresholds: Any = None,
        clip: Any = None,
        replicates: Any = 0,
        samples: Any = None,
        horizon: float | None = None,
    ) -> ValidationOptions:
        """Check the options as a user gives them, and raise for an invalid option.

        A survival outcome without a horizon is refused, unless `needs_horizon` is False.
        """
        check_count("replicates", replicates, minimum=0)
        if needs_horizon or horizon is not None or data.task != "survival":
            data = _convert_to_horizon(data, horizon, positive)
        for name, value in {"thresholds": thresholds, "clip": clip}.items():
            if data.classes is None and value is not None:
                raise Refusal(
                    f"{mention(name, value)} is about probabilities, and y holds numbers: leave it "
                    "out."
                )
        if samples is not None:
            if data.dependent:
                raise Refusal(f"samples= are drawn row by row, {DEPENDENT_ROWS_REASON}")
            count_given_samples(
                samples, data
            )  # This raises unless samples are an array of row numbers.
        threshold_array = _check_thresholds(thresholds)
        if clip is not None:
            check_clip(clip)
        validation_options = cls(
            thresholds=threshold_array,
            clip=None if clip is None else float(clip),
            replicates=replicates,
            samples=samples,
            seed=seed,
            positive=positive,
            columns=None if subgroups is None else subgroup_levels(subgroups, X, data.n_rows),
            horizon=horizon,
        )
        Event.from_label(positive, data)  # An invalid class is reported before anything is fitted.
        return validation_options

    @classmethod
    def from_validate_argument(
        cls, argument: Any, X: Any, data: Data, seed: int, positive: Any = None
    ) -> ValidationOptions | None:
        """Check options of `validate`, given as True or a mapping; return None if unset."""
        if argument is None or argument is False:
            return None
        if argument is not True and not isinstance(argument, Mapping):
            raise BadArgument(
                f"{mention('validate', argument)}: give True, or words of tr.validate with their "
                "values, such as {'subgroups': 'sex', 'replicates': 50}."
            )
        keyword_arguments = {"positive": positive} | ({} if argument is True else dict(argument))
        for name in keyword_arguments:
            check_known(f"{mention('validate', argument)}: there is no word", name, OPTION_NAMES)
        return cls.from_arguments(X, data, seed, **keyword_arguments)


OPTION_NAMES = tuple(
    name
    for name, parameter in signature(ValidationOptions.from_arguments).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY
)


def _convert_to_horizon(data: Data, horizon: Any, positive: Any) -> Data:
    """Return survival data whose outcome is the event by the horizon; keep other data."""
    if data.task != "survival":
        if horizon is not None:
            raise Refusal(
                f"{mention('horizon', horizon)} is a time of an outcome in time, and y holds none: "
                "leave it out."
            )
        return data
    if horizon is None:
        median_time = float(np.median(data.y[:, 1]))
        raise Refusal(
            "y holds outcomes in time: name the time by which predictions are validated, such as "
            f"{mention('horizon', median_time, f'{median_time:g}')}, the median."
        )
    check_number("horizon", horizon, *TIME_LIMITS_AND_HINT)
    if positive is not None:
        raise Refusal(
            f"{mention('positive', positive)} names a class, and of an outcome in time the event "
            "is that it came by the horizon: leave it out."
        )
    horizon_data = data.at_horizon(horizon)
    if not horizon_data.class_codes.any():
        first_event_time = data.y[data.y[:, 0] == 1, 1].min()
        raise Refusal(
            f"the event came in no row by the time {horizon:.12g}: the first is at "
            f"{first_event_time:.12g}."
        )
    return horizon_data


def _check_thresholds(thresholds: Any) -> np.ndarray:
    """Return ascending probability thresholds for treatment, by default 0.01, 0.02, ... 0.99."""
    if thresholds is None:
        return np.arange(1, 100) / 100
    try:
        ascending_thresholds = np.unique(as_array(thresholds, np.float64))
    except ValueError:
        ascending_thresholds = np.empty(0)
    if (
        ascending_thresholds.ndim != 1
        or not len(ascending_thresholds)
        or not ((ascending_thresholds >= 0) & (ascending_thresholds < 1)).all()
    ):
        raise BadArgument(
            f"{mention('thresholds', thresholds)}: give probabilities from which one treats, 0 ≤ t "
            "< 1."
        )
    return ascending_thresholds
