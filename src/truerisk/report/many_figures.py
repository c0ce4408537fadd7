"""Figures of a comparison over data sets: average ranks, values as heat map, and differences."""

from __future__ import annotations

from math import ceil, floor

from truerisk.comparison.many_comparison import ManyComparison
from truerisk.comparison.method_pairs import MethodPair
from truerisk.core.formats import escape_and_truncate, format_number, format_percent
from truerisk.report.figure import Figure, FigureTable, LegendKey
from truerisk.report.svg import (
    DRAWING_WIDTH,
    N_SHADES,
    Drawing,
    PixelScale,
    make_row_drawing,
    shorten,
    tick_text,
)
from truerisk.results.interval import ReportedValue

LEFT_MARGIN, ROW_HEIGHT = 132, 24
MAX_DATA_SETS, MAX_METHODS, MAX_PAIRS = 60, 16, 40


# ---------------------------------------------------------------- average ranks of methods


def draw_ranks(comparison: ManyComparison) -> Figure | None:
    """Draw a row for each method with its average rank, then a row for each group of methods.

    A group contains methods that do not differ significantly.

    The last row shows the critical difference, cut at the end of the scale. The result is None if
    there are too few data sets.
    """
    if not comparison.is_ranked:
        return None
    rank_by_method, critical_difference = dict(comparison.ordered), comparison.critical_difference
    # The axis ends at whole ranks, and the method with the best rank is in the top row.
    low, high = (
        floor(min(comparison.ranks)),
        max(ceil(max(comparison.ranks)), floor(min(comparison.ranks)) + 1),
    )
    drawing = make_row_drawing(
        "Average ranks and the critical difference",
        "; ".join(
            f"{escape_and_truncate(name, 60)} {rank:.2f}" for name, rank in comparison.ordered
        ),
        PixelScale(low - 0.05, high + 0.05, LEFT_MARGIN, DRAWING_WIDTH - 14),
        len(rank_by_method) + len(comparison.alike) + 1,
        ROW_HEIGHT,
        14,
    )
    drawing.bottom_axis("average rank, 1 is best", range(low, high + 1, max(1, (high - low) // 8)))
    for index, (name, rank) in enumerate(comparison.ordered):
        drawing.row_label(index + 0.5, escape_and_truncate(name, 60))
        drawing.segment(drawing.x.low, index + 0.5, rank, index + 0.5, "way")
        drawing.point(
            rank,
            index + 0.5,
            "s0",
            f"{escape_and_truncate(name, 60)}: average rank {rank:.3f}",
            size=5,
        )
    for index, group in enumerate(comparison.alike, len(rank_by_method)):
        group_ranks = [rank_by_method[name] for name in group]
        drawing.row_label(index + 0.5, "not told apart")
        drawing.span(min(group_ranks), max(group_ranks), index + 0.5, "s3")
    last_row_y = len(rank_by_method) + len(comparison.alike) + 0.5
    drawing.row_label(last_row_y, "critical difference", 19)
    drawing.span(low, min(low + critical_difference, high), last_row_y, "muted")
    return Figure(
        name="ranks",
        title="Average ranks",
        drawing=drawing,
        caption=(
            "1 is best. Bars join methods whose average ranks differ by less than the critical "
            f"difference, {critical_difference:.2f} (Nemenyi's test of all pairs). It depends on "
            "which other methods are there; the tests of pairs below do not."
        ),
        table=FigureTable.from_rows(
            ("method", "average rank"),
            [[escape_and_truncate(name, 60), f"{rank:.3f}"] for name, rank in comparison.ordered],
        ),
        keys=(
            *(
                (LegendKey("s3", f"ranks within {critical_difference:.2f} of each other", "line"),)
                if comparison.alike
                else ()
            ),
            LegendKey("muted", f"critical difference {critical_difference:.2f}", "line"),
        ),
    )


# ---------------------------------------------------------------- heat map of data sets and methods


def draw_values_heat_map(comparison: ManyComparison) -> Figure:
    """Draw a heat map of values with a row for each data set and a column for each method.

    Darker cells are worse, and the best value of each data set has a frame.
    """
    method_indices = [
        comparison.methods.index(name) for name, _ in comparison.ordered[:MAX_METHODS]
    ]
    rows = range(min(len(comparison.data_sets), MAX_DATA_SETS))
    top_margin, row_height = 20, 24
    bottom = top_margin + row_height * len(rows)
    # In one line, the names of four or more methods would overlap.
    # Every second name is therefore placed one line lower.
    n_label_lines = 1 + (len(method_indices) > 3)
    drawing = Drawing(
        title=f"{escape_and_truncate(comparison.quantity, 60)} by data set and method",
        description="Within each data set the best method is framed; a stronger shade is worse.",
        height=bottom + 14 * n_label_lines + 8,
        x=PixelScale(0, len(method_indices), LEFT_MARGIN, DRAWING_WIDTH - 8),
        y=PixelScale(0, len(rows), top_margin, bottom),
    )
    column_width = (DRAWING_WIDTH - 8 - LEFT_MARGIN) / len(method_indices)
    for i in rows:
        _draw_data_set_row(
            drawing, comparison, i, method_indices, has_wide_columns=column_width > 38
        )
    max_letters = max(3, int(n_label_lines * column_width / 7.5))
    names = [
        shorten(escape_and_truncate(comparison.methods[method_index], 60), max_letters)
        for method_index in method_indices
    ]
    drawing.column_labels({j + 0.5: name for j, name in enumerate(names)}, n_lines=n_label_lines)
    omitted_counts = (
        len(comparison.data_sets) - len(rows),
        len(comparison.methods) - len(method_indices),
    )
    return Figure(
        name="values",
        title="Data set × method",
        drawing=drawing,
        caption=(
            f"{escape_and_truncate(comparison.quantity, 60)}; "
            f"{escape_and_truncate(comparison.terms.better, 10)} is better. Shades are relative "
            "within each data set, from the best (faint, framed) to the worst (strong). – is "
            f"missing; a star marks data sets that took no part.{_omission_text(omitted_counts)}"
        ),
        table=FigureTable.from_rows(
            ["data set", *(escape_and_truncate(comparison.methods[j], 40) for j in method_indices)],
            [
                [escape_and_truncate(name, 60), *(format_number(values[j]) for j in method_indices)]
                for name, values in zip(comparison.data_sets, comparison.values, strict=True)
            ],
        ),
        keys=(LegendKey("h0", "best of its data set", "cell"), LegendKey("h8", "worst", "cell")),
    )


def _omission_text(omitted_counts: tuple[int, int]) -> str:
    count_texts = [
        f"{n} further {item_noun}{'' if n == 1 else 's'}"
        for n, item_noun in zip(omitted_counts, ("data set", "method"), strict=True)
        if n > 0
    ]
    return f" Not drawn: {' and '.join(count_texts)}; the JSON has them." if count_texts else ""


def _draw_data_set_row(
    drawing: Drawing,
    comparison: ManyComparison,
    row: int,
    method_indices: list[int],
    *,
    has_wide_columns: bool,
) -> None:
    values = comparison.values[row]
    known_values = [known_value for known_value in values if known_value is not None]
    # Shades go from 0 for the best value of the data set to `N_SHADES` for its worst value.
    worst_value, best_value = max(known_values, default=0.0), min(known_values, default=0.0)
    if comparison.terms.better != "lower":
        worst_value, best_value = best_value, worst_value
    left_out_mark = "*" if comparison.data_sets[row] in comparison.left_out else ""
    name = shorten(escape_and_truncate(comparison.data_sets[row], 60), 17) + left_out_mark
    drawing.row_label(row + 0.5, name, 18, "tick")
    for column, method_index in enumerate(method_indices):
        value = values[method_index]
        shade = 0
        if value is not None and worst_value != best_value:
            shade = round(N_SHADES * abs(value - best_value) / abs(worst_value - best_value))
        tooltip = (
            f"{escape_and_truncate(comparison.data_sets[row], 60)}, "
            f"{escape_and_truncate(comparison.methods[method_index], 60)}: "
            f"{format_number(value)}"
        )
        if value is not None:
            drawing.cell(column, row, shade, tooltip)
        if has_wide_columns or value is None:
            drawing.cell_text(column, row, shade, format_number(value, 3))
        if value is not None and shade == 0 and value == best_value:
            drawing.frame(column, row)


# ---------------------------------------------------------------- differences of pairs of methods


def draw_pair_differences(comparison: ManyComparison) -> Figure:
    """Draw the difference between the two methods of each pair, with its interval.

    The region of practical equivalence is drawn too.
    """
    pairs = comparison.pairs[:MAX_PAIRS]
    axis_values = [
        axis_value
        for method_pair in pairs
        for axis_value in ReportedValue(method_pair.difference, method_pair.interval, "").ends
    ]
    axis_values += [-comparison.terms.rope, comparison.terms.rope]
    description = "; ".join(
        f"{_pair_name(method_pair)}: {format_number(method_pair.difference)}"
        for method_pair in pairs[:20]
    )
    x_scale = PixelScale.from_values(axis_values, 190, DRAWING_WIDTH - 14)
    drawing = make_row_drawing(
        "Differences of two methods", description, x_scale, len(pairs), ROW_HEIGHT, 26
    )
    if comparison.terms.rope:
        rope = comparison.terms.rope
        drawing.band([-rope, rope], [0, 0], [len(pairs), len(pairs)], "s5")
    drawing.bottom_axis(f"difference a − b ({comparison.terms.better} is better)")
    drawing.vertical_line(0.0, "baseline")
    for i, pair in enumerate(pairs):
        row = i + 0.5
        name = " − ".join(shorten(escape_and_truncate(name, 60), 12) for name in (pair.a, pair.b))
        drawing.row_label(row, name, len(name), "tick")
        tooltip = (
            f"{_pair_name(pair)}: {format_number(pair.difference)}, "
            f"{pair.interval or 'no interval'}"
        )
        drawing.point_with_interval(pair.difference, pair.interval, row, tooltip)
    interval_name = f"{format_percent(comparison.terms.confidence_level)} interval"
    legend = [LegendKey("s0", f"difference and {interval_name}", "span")]
    if comparison.terms.rope:
        legend.append(
            LegendKey(
                "s5", f"within {tick_text(comparison.terms.rope)}: practically the same", "band"
            )
        )
    n_omitted_pairs = len(comparison.pairs) - len(pairs)
    return Figure(
        name="effects",
        title="Differences of two methods",
        drawing=drawing,
        caption=(
            "The Hodges–Lehmann estimate over data sets (the middle of the means of any two "
            "differences) with the interval of the signed-rank test."
            + (f" {n_omitted_pairs} further pairs are in the JSON." if n_omitted_pairs > 0 else "")
        ),
        table=FigureTable.from_rows(
            ("a", "b", "a − b", "interval"),
            [
                [
                    escape_and_truncate(method_pair.a, 60),
                    escape_and_truncate(method_pair.b, 60),
                    format_number(method_pair.difference),
                    str(method_pair.interval or "none"),
                ]
                for method_pair in comparison.pairs
            ],
        ),
        keys=tuple(legend),
    )


def _pair_name(pair: MethodPair) -> str:
    return f"{escape_and_truncate(pair.a, 60)} − {escape_and_truncate(pair.b, 60)}"
