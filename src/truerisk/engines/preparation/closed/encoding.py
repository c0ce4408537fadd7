"""Categories of a training set by counting codes: OneHotEncoder and OrdinalEncoder."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.engines.preparation.closed.step_tables import (
    Coded,
    Fitted,
    Form,
    Indicators,
    Numbers,
    Refused,
    Table,
    fitted,
    flag,
    is_nan,
    is_none,
    known_parameters,
    one_of,
)

UNKNOWN = -1
DROPPED = -2


def _is_double(value: Any) -> bool:
    return value is float or value is np.float64 or value == "float64"


def _is_whole(value: Any) -> bool:
    return type(value) is int and value >= 1


def _is_share(value: Any) -> bool:
    return _is_whole(value) or (type(value) is float and 0.0 < value < 1.0)


def one_hot(step: Any) -> Form:
    """Return the closed form of OneHotEncoder.

    Each category of the training set has an indicator column; rare ones may share one.
    """
    parameters = known_parameters(
        step,
        {
            "categories": one_of("auto"),
            "drop": lambda value: value is None or one_of("first", "if_binary")(value),
            "sparse_output": flag,
            "dtype": _is_double,
            "handle_unknown": one_of("error", "ignore", "infrequent_if_exist"),
            "min_frequency": lambda value: value is None or _is_share(value),
            "max_categories": lambda value: value is None or _is_whole(value),
        },
    )
    rare = parameters["min_frequency"] is not None or parameters["max_categories"] is not None
    if rare and parameters["drop"] is not None:
        raise Refused("OneHotEncoder that drops a level, and groups rare ones")
    strict = parameters["handle_unknown"] == "error" or parameters["drop"] is not None

    def fit(table: Table, y: np.ndarray) -> Fitted:
        coded = table.coded()
        lookup, width = _places_of(coded, parameters, len(y))
        sparse = parameters["sparse_output"]

        def apply(other: Table) -> Table:
            places = lookup[_same_levels(other, coded).places]
            if strict and (places == UNKNOWN).any():
                raise Refused("a level that the train set lacks")
            if parameters["drop"] is not None:
                places = np.maximum(places, UNKNOWN)
            return Indicators(places, width, sparse)

        return fitted(coded, apply)

    return fit


def _same_levels(table: Table, seen: Coded) -> Coded:
    coded = table.coded()
    if len(coded.levels) != len(seen.levels) or not np.array_equal(coded.starts, seen.starts):
        raise Refused("other levels than were coded")
    return coded


def _places_of(table: Coded, given: dict[str, Any], n: int) -> tuple[np.ndarray, int]:
    """Map each category of each column to its indicator column.

    Also return the number of indicators.
    """
    width, blocks = 0, []
    for counts in table.counts():
        there = counts > 0
        rare = _rare(counts[there], given, n)
        places = np.full(len(counts), UNKNOWN)
        places[there] = np.where(rare, (~rare).sum(), np.cumsum(~rare) - 1)
        n_places = int((~rare).sum() + rare.any())
        if rare.any() and given["handle_unknown"] == "infrequent_if_exist":
            places[~there] = n_places - 1
        if given["drop"] == "first" or (given["drop"] == "if_binary" and n_places == 2):
            places[there] = np.where(places[there] == 0, DROPPED, places[there] - 1)
            n_places -= 1
        places[places >= 0] += width
        blocks.append(places)
        width += n_places
    return np.concatenate(blocks), width


def _rare(counts: np.ndarray, given: dict[str, Any], n: int) -> np.ndarray:
    """Return a mask of categories that share an indicator.

    These are the categories below a frequency, and then the rarest ones beyond a maximum number.
    """
    least, most = given["min_frequency"], given["max_categories"]
    rare = np.zeros(len(counts), dtype=bool)
    if least is not None:
        rare = counts < (least if isinstance(least, int) else n * least)
    if most is not None and most < len(counts) - rare.sum() + 1:
        rare[np.argsort(counts, kind="stable")[: len(counts) - (most - 1)]] = True
    return rare


def ordinal(step: Any) -> Form:
    """Return the closed form of OrdinalEncoder, which numbers the categories in ascending order."""
    parameters = known_parameters(
        step,
        {
            "categories": one_of("auto"),
            "dtype": _is_double,
            "handle_unknown": one_of("error", "use_encoded_value"),
            "unknown_value": lambda value: value is None or is_nan(value) or type(value) is int,
            "encoded_missing_value": lambda value: is_nan(value) or type(value) in (int, float),
            "min_frequency": is_none,
            "max_categories": is_none,
        },
    )
    strict = parameters["handle_unknown"] == "error"
    if strict != (parameters["unknown_value"] is None):
        raise Refused("OrdinalEncoder(unknown_value=...)")
    unknown = np.nan if strict else float(parameters["unknown_value"])

    def fit(table: Table, y: np.ndarray) -> Fitted:
        coded = table.coded()
        numbers, there = _numbers_of(coded, parameters, unknown)

        def apply(other: Table) -> Table:
            places = _same_levels(other, coded).places
            if strict and not there[places].all():
                raise Refused("a level that the train set lacks")
            return Numbers(numbers[places])

        return fitted(coded, apply)

    return fit


def _numbers_of(
    table: Coded, given: dict[str, Any], unknown: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each category of each column, and whether the training set has it."""
    blocks, missing = [], float(given["encoded_missing_value"])
    counts = table.counts()
    for count, levels in zip(counts, table.levels, strict=True):
        there = count > 0
        numbers = np.where(there, np.cumsum(there) - 1.0, unknown)
        nan = levels.nan and bool(there[-1])
        n_levels = int(there.sum()) - nan
        if nan:
            numbers[-1] = missing
        if 0 <= unknown < n_levels or (nan and 0 <= missing < n_levels):
            raise Refused("a number that stands for two levels")
        blocks.append(numbers)
    return np.concatenate(blocks), np.concatenate(counts) > 0
