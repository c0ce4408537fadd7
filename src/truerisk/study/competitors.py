"""Comparison of a study's learners or methods over its problems, which are the data sets.

The problems are treated as a sample of data sets. The sizes of one problem are no such sample, so
one size is compared: learners with one method, or methods with one learner.

All cells of one problem have the same replicates. The value of a cell is the mean over the
replicates for which all competitors have a result. Competitors without any result on the problem
do not restrict this set. Their value is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.comparison.many import compare_table
from truerisk.comparison.many_comparison import ManyComparison
from truerisk.comparison.scores import RankOptions, Scores
from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.registry import suggestion_for

QUANTITY_LABELS = {
    "truth": "risk of the chosen setting on fresh rows",
    "value": "estimated risk",
    "rmse": "root mean squared error of the estimate",
    "seconds": "seconds per estimate",
}
SCORE_FLAG_FIELDS = {"truth": "truth_is_score", "value": "value_is_score"}
"""Quantities that may be scores, and the field of a result row that is True if they are.

A method that is a model selection criterion reports in a loss of its own.
"""
RowsByReplicate = Mapping[int, Mapping[str, Any]]  # It maps replicate numbers to result rows.


@frozen
class StudyReplicates:
    """The results of a study: a row per finished replicate (`rows`), and its cells (`cells`)."""

    name: str
    rows: Sequence[Mapping[str, Any]]
    cells: Sequence[Mapping[str, Any]]


def compare_study(
    results: StudyReplicates,
    requested_kind: str | None,
    quantity_name: str | None,
    requested_factors: Mapping[str, Any],
    rank_options: Mapping[str, Any],
) -> ManyComparison:
    """Compare the learners or the methods of a study over its problems by one quantity."""
    competitor_kind = _competitor_kind(results, requested_kind)
    quantity_name = quantity_name or ("truth" if competitor_kind == "learner" else "rmse")
    if quantity_name not in QUANTITY_LABELS:
        suggestion = suggestion_for(str(quantity_name), QUANTITY_LABELS) or "."
        raise UnknownName(
            f"{mention('by', quantity_name)}{suggestion} Known: {', '.join(QUANTITY_LABELS)}."
        )
    cells = _select_cells(results, competitor_kind, requested_factors)
    scores = _collect_scores(results, cells, competitor_kind, quantity_name)
    quantity_label = QUANTITY_LABELS[quantity_name]
    if quantity_name in SCORE_FLAG_FIELDS and _are_scores(
        results, cells, SCORE_FLAG_FIELDS[quantity_name]
    ):
        rank_options, quantity_label = (
            {"better": "higher", **rank_options},
            quantity_label.replace("risk", "score"),
        )
    comparison = compare_table(scores, RankOptions(**rank_options), quantity_label)
    return replace(comparison, name=results.name)


def _are_scores(
    results: StudyReplicates, requested_cells: Sequence[Mapping[str, Any]], score_key: str
) -> bool:
    """Return True if the quantity is a score in these cells; raise if it is a loss in some."""
    compared_cell_keys = {cell_key(cell) for cell in requested_cells}
    score_flags = {
        bool(row.get(score_key)) for row in results.rows if cell_key(row) in compared_cell_keys
    }
    if len(score_flags) > 1:
        raise BadArgument(
            "some of these methods report in a loss of their own and others in the score of the "
            f"study, and the two do not compare: give {mention('by', 'truth')}, or leave one kind "
            "out."
        )
    return score_flags == {True}


def _competitor_kind(results: StudyReplicates, requested_kind: str | None) -> str:
    """Return the factor to compare, "learner" or "method": the one with several values."""
    if requested_kind is not None:
        if requested_kind not in ("learner", "method"):
            raise UnknownName(
                f"{mention('of', requested_kind)}: give 'learner' or 'method', whichever is "
                "compared."
            )
        return requested_kind
    varied_factors = [
        factor for factor in ("learner", "method") if len(_factor_values(results, factor)) > 1
    ]
    if len(varied_factors) == 2:
        raise BadArgument("the study has several learners and several methods: give "
                          f"{mention('of', 'learner')} or {mention('of', 'method')}, and name one "
                          "of the others.")  # fmt: skip
    return varied_factors[0] if varied_factors else "learner"


def _factor_values(results: StudyReplicates, factor: str) -> list[Any]:
    return list(dict.fromkeys(cell[factor] for cell in results.cells))


def _select_cells(
    results: StudyReplicates, competitor_kind: str, requested_factors: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """Return the cells to compare, which differ only in the problem and the competitor.

    Size, and learner or method, are fixed: at the chosen value, or at the only one of the study.
    """
    cells = list(results.cells)
    for factor in ("size", "learner", "method"):
        factor_values, requested_value = _factor_values(results, factor), requested_factors[factor]
        if factor == competitor_kind:
            if requested_value is not None:
                raise UnknownName(
                    f"{mention(factor, requested_value)}: leave it out, as {factor}s compete."
                )
            continue
        if requested_value is None and len(factor_values) > 1:
            values_text = ", ".join(str(value) for value in factor_values)
            raise BadArgument(
                f"the study has several {factor}s ({values_text}): compare at one of them, "
                f"{mention(factor, factor_values[0])}. The data sets of a comparison are problems."
            )
        if requested_value is not None and requested_value not in factor_values:
            values_text = ", ".join(str(value) for value in factor_values)
            raise UnknownName(
                f"the study has no {factor} {requested_value!r}. It has: {values_text}."
            )
        cells = [
            cell
            for cell in cells
            if cell[factor] == (factor_values[0] if requested_value is None else requested_value)
        ]
    return cells


def _collect_scores(
    results: StudyReplicates,
    cells: Sequence[Mapping[str, Any]],
    competitor_kind: str,
    quantity_name: str,
) -> Scores:
    # Replicates that lack the estimate or the true risk are left out of the comparison.
    required_fields = ("value", "truth") if quantity_name == "rmse" else (quantity_name,)
    rows_by_cell: dict[tuple[Any, ...], dict[int, Mapping[str, Any]]] = {}
    for row in results.rows:
        if all(row[name] is not None for name in required_fields):
            rows_by_cell.setdefault(cell_key(row), {})[row["replicate"]] = row
    problems = list(dict.fromkeys(cell["problem"] for cell in cells))
    competitors = list(dict.fromkeys(cell[competitor_kind] for cell in cells))
    cell_by_pair = {(cell["problem"], cell[competitor_kind]): cell for cell in cells}
    mean_values = np.full((len(problems), len(competitors)), np.nan)
    true_risks_by_problem: list[np.ndarray | None] = []
    correlations: list[float | None] = []
    n_unpaired_replicates = 0
    for i, problem in enumerate(problems):
        rows_by_competitor = [
            rows_by_cell.get(cell_key(cell_by_pair[problem, competitor]), {})
            for competitor in competitors
        ]
        competitor_indices = [j for j, rows in enumerate(rows_by_competitor) if rows]
        shared_replicates = (
            sorted(set.intersection(*(set(rows_by_competitor[j]) for j in competitor_indices)))
            if competitor_indices
            else []
        )
        n_unpaired_replicates += sum(
            len(rows_by_competitor[j]) - len(shared_replicates) for j in competitor_indices
        )
        for j in competitor_indices:
            mean_values[i, j] = _mean_or_rmse(
                [rows_by_competitor[j][replicate_number] for replicate_number in shared_replicates],
                quantity_name,
            )
        has_all_competitors = (
            quantity_name == "truth"
            and len(competitor_indices) == len(competitors)
            and shared_replicates
        )
        true_risks_by_problem.append(None)
        if has_all_competitors:
            true_risks_by_problem[i] = np.array(
                [
                    [rows[replicate]["truth"] for rows in rows_by_competitor]
                    for replicate in shared_replicates
                ]
            )
        correlations.append(cell_by_pair[problem, competitors[0]]["correlation"])
    notes = _notes_on_missing_replicates(cells, rows_by_cell, n_unpaired_replicates)
    return Scores(
        tuple(problems),
        tuple(competitors),
        mean_values,
        tuple(true_risks_by_problem),
        tuple(correlations),
        tuple(notes),
    )


def cell_key(cell: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the problem, size, learner and method of a cell, which identify it in a study."""
    return tuple(cell[factor] for factor in ("problem", "size", "learner", "method"))


def _mean_or_rmse(rows: Sequence[Mapping[str, Any]], quantity_name: str) -> float:
    if not rows:
        return float("nan")
    if quantity_name != "rmse":
        return float(np.mean([row[quantity_name] for row in rows]))
    true_risks = np.array([row["truth"] for row in rows])
    target_risks = true_risks.mean() if rows[0]["target"] == "Err" else true_risks
    return float(np.sqrt(np.mean((np.array([row["value"] for row in rows]) - target_risks) ** 2)))


def _notes_on_missing_replicates(
    cells: Sequence[Mapping[str, Any]],
    rows_by_cell: Mapping[tuple[Any, ...], RowsByReplicate],
    n_unpaired_replicates: int,
) -> list[str]:
    notes = []
    n_requested_replicates = sum(cell["wanted"] for cell in cells)
    n_present_replicates = sum(len(rows_by_cell.get(cell_key(cell), {})) for cell in cells)
    if n_present_replicates < n_requested_replicates:
        notes.append(
            f"{n_requested_replicates - n_present_replicates} of {n_requested_replicates} "
            "replicates have no result (they failed, or the study goes on)"
        )
    if n_unpaired_replicates:
        notes.append(
            f"{n_unpaired_replicates} replicates that another competitor lacks on the same problem "
            "do not count"
        )
    return notes
