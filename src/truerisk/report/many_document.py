"""What the page of a comparison over many data sets shows, read from its JSON with care."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from truerisk.core.interval import Interval
from truerisk.core.json_values import JsonValue, require_schema
from truerisk.core.present import clean
from truerisk.report.estimates import read_interval

__all__ = ["SCHEMA", "ManyDocument", "PairRecord", "read_many"]

SCHEMA, NEWEST = "truerisk.many-comparison", 1
MOST_SETS, MOST_METHODS = 10_000, 200


@dataclass(frozen=True)
class PairRecord:
    """Two methods, by their numbers."""

    a: int
    b: int
    wins: int
    ties: int
    losses: int
    difference: float
    interval: Interval | None
    p_value: float
    p_holm: float
    better: float
    equivalent: float
    worse: float
    by_splits: tuple[float, ...] | None


@dataclass(frozen=True)
class ManyDocument:
    """A comparison, as far as its page shows it; `alike` holds numbers of methods."""

    name: str
    quantity: str
    conclusion: tuple[str, ...]
    data_sets: tuple[str, ...]
    methods: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    ranks: tuple[float, ...]
    chi_square: tuple[float, int, float]
    f: tuple[float, int, int, float]
    critical_difference: float
    alike: tuple[tuple[int, ...], ...]
    pairs: tuple[PairRecord, ...]
    better: str
    missing: str
    pairwise: str
    control: str | None
    rope: float
    confidence: float
    seed: int
    n_compared: int
    left_out: frozenset[str]
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    @property
    def ordered(self) -> list[int]:
        """Numbers of the methods, the best first."""
        return sorted(range(len(self.methods)), key=lambda j: self.ranks[j])

    def shown(self, method: int, width: int = 60) -> str:
        return clean(self.methods[method], width)


def read_many(content: Any) -> ManyDocument:
    """A document from plain values, or a sentence on what is wrong with them."""
    require_schema(content, SCHEMA, NEWEST)
    found = JsonValue(content)
    methods = tuple(one.text() for one in found["methods"].each(MOST_METHODS))
    data_sets = tuple(one.text() for one in found["data_sets"].each(MOST_SETS))
    if len(methods) < 2 or len(set(methods)) < len(methods):
        found["methods"].wrong("two or more methods of different names")
    terms, test = found["terms"], found["friedman"]
    return ManyDocument(
        name=found["name"].text(),
        quantity=found["quantity"].text(),
        conclusion=tuple(found["conclusion"].texts()),
        data_sets=data_sets,
        methods=methods,
        values=_table(found["values"], len(data_sets), len(methods)),
        ranks=tuple(_exactly(found["ranks"], len(methods)).numbers()),
        chi_square=(test["chi_square"].number(), test["df"].whole(), test["chi_p_value"].share()),
        f=(test["f"].any_number(), *_two(test["f_df"]), test["p_value"].share()),
        critical_difference=found["critical_difference"].number(),
        alike=tuple(
            tuple(_method(one, methods) for one in group.each(MOST_METHODS))
            for group in found["alike"].each(MOST_METHODS)
        ),
        pairs=tuple(_pair(one, methods) for one in found["pairs"].each(MOST_METHODS**2)),
        better=terms["better"].text(),
        missing=terms["missing"].text(),
        pairwise=terms["pairwise"].text(),
        control=terms["control"].maybe(JsonValue.text),
        rope=terms["rope"].number(),
        confidence=terms["confidence_level"].share(),
        seed=terms["random_state"].whole(),
        n_compared=found["n_compared"].whole(),
        left_out=frozenset(found["left_out"].texts()),
        notes=tuple(found["notes"].texts()),
        versions=found["versions"].words(),
    )


def _exactly(found: JsonValue, n: int) -> JsonValue:
    if len(found.each()) != n:
        found.wrong(f"an array of {n} entries")
    return found


def _table(found: JsonValue, n: int, k: int) -> tuple[tuple[float | None, ...], ...]:
    return tuple(
        tuple(cell.maybe(JsonValue.number) for cell in _exactly(row, k).each())
        for row in _exactly(found, n).each()
    )


def _two(found: JsonValue) -> tuple[int, int]:
    first, second = _exactly(found, 2).each()
    return first.whole(), second.whole()


def _method(found: JsonValue, methods: tuple[str, ...]) -> int:
    if found.text() not in methods:
        found.wrong("the name of a method")
    return methods.index(found.text())


def _pair(found: JsonValue, methods: tuple[str, ...]) -> PairRecord:
    return PairRecord(
        a=_method(found["a"], methods),
        b=_method(found["b"], methods),
        wins=found["wins"].whole(),
        ties=found["ties"].whole(),
        losses=found["losses"].whole(),
        difference=found["difference"].number(),
        interval=found["interval"].maybe(read_interval),
        p_value=found["p_value"].share(),
        p_holm=found["p_holm"].share(),
        better=found["better"].share(),
        equivalent=found["equivalent"].share(),
        worse=found["worse"].share(),
        by_splits=found["hierarchical"].maybe(_by_splits),
    )


def _by_splits(found: JsonValue) -> tuple[float, ...]:
    names = [
        f"{when}{word}" for when in ("", "next_") for word in ("better", "equivalent", "worse")
    ]
    return tuple(found[name].share() for name in names)
