"""Tables for comparisons of a study's learners or methods, with its problems as data sets.

The data sets of a comparison are a sample of problems. Sizes of one problem are not such a sample,
so that one size is compared, with one method for learners and one learner for methods.

Cells of one problem have the same replicates. The value of a cell is the mean over the replicates
for which all competitors with any result have a result. A competitor without any result is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.comparison.many import compared
from truerisk.comparison.many_comparison import ManyComparison
from truerisk.comparison.scores import RankTerms, Scores
from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.registry import closest

QUANTITIES = {
    "truth": "risk of the chosen setting on fresh rows",
    "value": "estimated risk",
    "rmse": "root mean squared error of the estimate",
    "seconds": "seconds per estimate",
}
OF_SCORES = {"truth": "truth_is_score", "value": "value_is_score"}
"""Quantities that may be scores, and the keys that say so: a criterion uses its own loss."""
Replications = Mapping[int, Mapping[str, Any]]  # replicate -> row


@frozen
class Replicates:
    """A row for every available replicate, and the requested cells."""

    name: str
    rows: Sequence[Mapping[str, Any]]
    designs: Sequence[Mapping[str, Any]]


def compare_study(
    results: Replicates,
    of: str | None,
    by: str | None,
    where: Mapping[str, Any],
    terms: Mapping[str, Any],
) -> ManyComparison:
    """Compare the learners or the methods of a study."""
    competitors = _competitors(results, of)
    by = by or ("truth" if competitors == "learner" else "rmse")
    if by not in QUANTITIES:
        near = closest(str(by), QUANTITIES) or "."
        raise UnknownName(f"{mention('by', by)}{near} Known: {', '.join(QUANTITIES)}.")
    cells = _cells_compared(results, competitors, where)
    scores = _scores(results, cells, competitors, by)
    quantity = QUANTITIES[by]
    if by in OF_SCORES and _are_scores(results, cells, OF_SCORES[by]):
        terms, quantity = {"better": "higher", **terms}, quantity.replace("risk", "score")
    comparison = compared(scores, RankTerms(**terms), quantity)
    return replace(comparison, name=results.name)


def _are_scores(results: Replicates, cells: Sequence[Mapping[str, Any]], named: str) -> bool:
    """Return True if larger numbers are better in these cells; raise if losses are mixed in."""
    keys = {place_of(cell) for cell in cells}
    found = {bool(row.get(named)) for row in results.rows if place_of(row) in keys}
    if len(found) > 1:
        raise BadArgument(
            "some of these methods report in a loss of their own and others in the score of the "
            f"study, and the two do not compare: give {mention('by', 'truth')}, or leave one kind "
            "out."
        )
    return found == {True}


def _competitors(results: Replicates, of: str | None) -> str:
    """Return "learner" or "method", whichever the study has several of."""
    if of is not None:
        if of not in ("learner", "method"):
            raise UnknownName(
                f"{mention('of', of)}: give 'learner' or 'method', whichever is compared."
            )
        return of
    several = [part for part in ("learner", "method") if len(_names(results, part)) > 1]
    if len(several) == 2:
        raise BadArgument("the study has several learners and several methods: give "
                          f"{mention('of', 'learner')} or {mention('of', 'method')}, and name one "
                          "of the others.")  # fmt: skip
    return several[0] if several else "learner"


def _names(results: Replicates, part: str) -> list[Any]:
    return list(dict.fromkeys(cell[part] for cell in results.designs))


def _cells_compared(
    results: Replicates, competitors: str, where: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """Return the requested cells, for one size and one learner or method."""
    cells = list(results.designs)
    for part in ("size", "learner", "method"):
        names, choice = _names(results, part), where[part]
        if part == competitors:
            if choice is not None:
                raise UnknownName(f"{mention(part, choice)}: leave it out, as {part}s compete.")
            continue
        if choice is None and len(names) > 1:
            listed = ", ".join(str(name) for name in names)
            raise BadArgument(
                f"the study has several {part}s ({listed}): compare at one of them, "
                f"{mention(part, names[0])}. The data sets of a comparison are problems."
            )
        if choice is not None and choice not in names:
            listed = ", ".join(str(name) for name in names)
            raise UnknownName(f"the study has no {part} {choice!r}. It has: {listed}.")
        cells = [cell for cell in cells if cell[part] == (names[0] if choice is None else choice)]
    return cells


def _scores(
    results: Replicates, cells: Sequence[Mapping[str, Any]], competitors: str, by: str
) -> Scores:
    # A replicate without a value or a truth is useless for the comparison.
    needed = ("value", "truth") if by == "rmse" else (by,)
    by_cell: dict[tuple[Any, ...], dict[int, Mapping[str, Any]]] = {}
    for row in results.rows:
        if all(row[name] is not None for name in needed):
            by_cell.setdefault(place_of(row), {})[row["replicate"]] = row
    problems = list(dict.fromkeys(cell["problem"] for cell in cells))
    methods = list(dict.fromkeys(cell[competitors] for cell in cells))
    by_place = {(cell["problem"], cell[competitors]): cell for cell in cells}
    values = np.full((len(problems), len(methods)), np.nan)
    splits: list[np.ndarray | None] = []
    correlation: list[float | None] = []
    unpaired = 0
    for i, problem in enumerate(problems):
        runs = [by_cell.get(place_of(by_place[problem, method]), {}) for method in methods]
        tested = [j for j, rows in enumerate(runs) if rows]
        shared = sorted(set.intersection(*(set(runs[j]) for j in tested))) if tested else []
        unpaired += sum(len(runs[j]) - len(shared) for j in tested)
        for j in tested:
            values[i, j] = _value([runs[j][number] for number in shared], by)
        complete = by == "truth" and len(tested) == len(methods) and shared
        splits.append(None)
        if complete:
            splits[i] = np.array([[rows[r]["truth"] for rows in runs] for r in shared])
        correlation.append(by_place[problem, methods[0]]["correlation"])
    notes = _notes(cells, by_cell, unpaired)
    return Scores(
        tuple(problems), tuple(methods), values, tuple(splits), tuple(correlation), tuple(notes)
    )


def place_of(cell: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the identity of a study's cell: problem, size, learner and method."""
    return tuple(cell[part] for part in ("problem", "size", "learner", "method"))


def _value(rows: Sequence[Mapping[str, Any]], by: str) -> float:
    if not rows:
        return float("nan")
    if by != "rmse":
        return float(np.mean([row[by] for row in rows]))
    truth = np.array([row["truth"] for row in rows])
    aim = truth.mean() if rows[0]["target"] == "Err" else truth
    return float(np.sqrt(np.mean((np.array([row["value"] for row in rows]) - aim) ** 2)))


def _notes(
    cells: Sequence[Mapping[str, Any]],
    by_cell: Mapping[tuple[Any, ...], Replications],
    unpaired: int,
) -> list[str]:
    notes = []
    wanted = sum(cell["wanted"] for cell in cells)
    present = sum(len(by_cell.get(place_of(cell), {})) for cell in cells)
    if present < wanted:
        notes.append(
            f"{wanted - present} of {wanted} replicates have no result (they failed, or the study "
            "goes on)"
        )
    if unpaired:
        notes.append(
            f"{unpaired} replicates that another competitor lacks on the same problem do not count"
        )
    return notes
