"""Options of a validation besides model and rows, checked before anything is fitted."""

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
from truerisk.losses.loss import ANY_TIME
from truerisk.splitting.samples import given_samples
from truerisk.validation.outcomes import Event
from truerisk.validation.subgroups import Levels, levels_of

NOT_ROW_BY_ROW = "and these rows depend on those before or beside them."


@frozen(eq=False)
class ValidationOptions:
    """Event, thresholds, bootstrap samples, subgroups, and the clipping of probabilities.

    `columns` are the subgroups' levels, None if none were requested.
    """

    thresholds: np.ndarray
    clip: float | None
    replicates: int
    samples: Any
    seed: int
    positive: Any = None
    columns: tuple[Levels, ...] | None = None
    horizon: float | None = None

    @classmethod
    def from_arguments(
        cls,
        X: Any,
        data: Data,
        seed: int,
        *,
        positive: Any = None,
        subgroups: Any = None,
        thresholds: Any = None,
        clip: Any = None,
        replicates: Any = 0,
        samples: Any = None,
        horizon: float | None = None,
    ) -> ValidationOptions:
        """Check the options as a user gives them, and raise for the one that is wrong."""
        check_count("replicates", replicates, least=0)
        data = _at_horizon(data, horizon, positive)
        for name, value in {"thresholds": thresholds, "clip": clip}.items():
            if data.classes is None and value is not None:
                raise Refusal(
                    f"{mention(name, value)} is about probabilities, and y holds numbers: leave it "
                    "out."
                )
        if samples is not None:
            if data.dependent:
                raise Refusal(f"samples= are drawn row by row, {NOT_ROW_BY_ROW}")
            given_samples(samples, data)  # This raises unless it is an array of row numbers.
        at = _thresholds(thresholds)
        if clip is not None:
            check_clip(clip)
        options = cls(
            thresholds=at,
            clip=None if clip is None else float(clip),
            replicates=replicates,
            samples=samples,
            seed=seed,
            positive=positive,
            columns=None if subgroups is None else levels_of(subgroups, X, data.n_rows),
            horizon=horizon,
        )
        Event.named(positive, data)  # An invalid class is reported before anything is fitted.
        return options

    @classmethod
    def planned(
        cls, given: Any, X: Any, data: Data, seed: int, positive: Any = None
    ) -> ValidationOptions | None:
        """Check the options of `validate`, given as True or a mapping; return None if unset."""
        if given is None or given is False:
            return None
        if given is not True and not isinstance(given, Mapping):
            raise BadArgument(
                f"{mention('validate', given)}: give True, or words of tr.validate with their "
                "values, such as {'subgroups': 'sex', 'replicates': 50}."
            )
        words = {"positive": positive} | ({} if given is True else dict(given))
        for name in words:
            check_known(f"{mention('validate', given)}: there is no word", name, WORDS)
        return cls.from_arguments(X, data, seed, **words)


WORDS = tuple(
    name
    for name, one in signature(ValidationOptions.from_arguments).parameters.items()
    if one.kind is one.KEYWORD_ONLY
)


def _at_horizon(data: Data, horizon: Any, positive: Any) -> Data:
    """Return survival data with the event by the horizon as the outcome; others unchanged."""
    if data.task != "survival":
        if horizon is not None:
            raise Refusal(
                f"{mention('horizon', horizon)} is a time of an outcome in time, and y holds none: "
                "leave it out."
            )
        return data
    if horizon is None:
        median = float(np.median(data.y[:, 1]))
        raise Refusal(
            "y holds outcomes in time: name the time by which predictions are validated, such as "
            f"{mention('horizon', median, f'{median:g}')}, the median."
        )
    check_number("horizon", horizon, *ANY_TIME)
    if positive is not None:
        raise Refusal(
            f"{mention('positive', positive)} names a class, and of an outcome in time the event "
            "is that it came by the horizon: leave it out."
        )
    at = data.at_horizon(horizon)
    if not at.class_codes.any():
        first = data.y[data.y[:, 0] == 1, 1].min()
        raise Refusal(
            f"the event came in no row by the time {horizon:.12g}: the first is at {first:.12g}."
        )
    return at


def _thresholds(given: Any) -> np.ndarray:
    """Return ascending probability thresholds for treatment; 0.01, 0.02, ... 0.99 by default."""
    if given is None:
        return np.arange(1, 100) / 100
    try:
        found = np.unique(as_array(given, np.float64))
    except ValueError:
        found = np.empty(0)
    if found.ndim != 1 or not len(found) or not ((found >= 0) & (found < 1)).all():
        raise BadArgument(
            f"{mention('thresholds', given)}: give probabilities from which one treats, 0 ≤ t < 1."
        )
    return found
