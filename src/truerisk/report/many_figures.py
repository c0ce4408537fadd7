"""The figures of a comparison over data sets: critical differences, heat table, effects."""

from __future__ import annotations

from math import ceil, floor

from truerisk.comparison.many_comparison import ManyComparison
from truerisk.comparison.method_pairs import MethodPair
from truerisk.core.formats import clean, number, percent
from truerisk.report.figure import Figure, FigureTable, Key
from truerisk.report.svg import (
    N_SHADES,
    WIDTH,
    Drawing,
    PixelScale,
    columns_of,
    of_rows,
    tick_text,
)
from truerisk.results.interval import Reported

MARGIN, STEP = 132, 24
MOST_DRAWN, MOST_ACROSS, MOST_PAIRS = 60, 16, 40


# ---------------------------------------------------------------- critical differences


def draw_ranks(many: ManyComparison) -> Figure | None:
    """Draw a row per method with its average rank, then a row per group of similar methods.

    The last row shows the critical difference, cut at the end of the scale. The result is None if
    there are too few data sets.
    """
    if not many.is_ranked:
        return None
    ranks, cd = dict(many.ordered), many.critical_difference
    # The axis ends at whole ranks, and the best stands on top.
    low, high = floor(min(many.ranks)), max(ceil(max(many.ranks)), floor(min(many.ranks)) + 1)
    drawing = of_rows(
        "Average ranks and the critical difference",
        "; ".join(f"{clean(name, 60)} {rank:.2f}" for name, rank in many.ordered),
        PixelScale(low - 0.05, high + 0.05, MARGIN, WIDTH - 14),
        len(ranks) + len(many.alike) + 1,
        STEP,
        14,
    )
    drawing.bottom_axis("average rank, 1 is best", range(low, high + 1, max(1, (high - low) // 8)))
    for i, (name, rank) in enumerate(many.ordered):
        drawing.row(i + 0.5, clean(name, 60))
        drawing.slope(drawing.x.low, i + 0.5, rank, i + 0.5, "way")
        drawing.point(rank, i + 0.5, "s0", f"{clean(name, 60)}: average rank {rank:.3f}", size=5)
    for i, group in enumerate(many.alike, len(ranks)):
        ends = [ranks[name] for name in group]
        drawing.row(i + 0.5, "not told apart")
        drawing.span(min(ends), max(ends), i + 0.5, "s3")
    bottom = len(ranks) + len(many.alike) + 0.5
    drawing.row(bottom, "critical difference", 19)
    drawing.span(low, min(low + cd, high), bottom, "muted")
    return Figure(
        name="ranks",
        title="Average ranks",
        drawing=drawing,
        caption=(
            f"1 is best. Bars join methods whose average ranks differ by less than the critical "
            f"difference, {cd:.2f} (Nemenyi's test of all pairs). It depends on which other "
            "methods are there; the tests of pairs below do not."
        ),
        table=FigureTable.from_rows(
            ("method", "average rank"),
            [[clean(name, 60), f"{rank:.3f}"] for name, rank in many.ordered],
        ),
        keys=(
            *((Key("s3", f"ranks within {cd:.2f} of each other", "line"),) if many.alike else ()),
            Key("muted", f"critical difference {cd:.2f}", "line"),
        ),
    )


# ---------------------------------------------------------------- the table data set × method


def draw_values(many: ManyComparison) -> Figure:
    """Draw a row per data set; the best value has a frame, and a darker shade is worse."""
    order = [many.methods.index(name) for name, _ in many.ordered[:MOST_ACROSS]]
    rows = range(min(len(many.data_sets), MOST_DRAWN))
    top, high = 20, 24
    bottom = top + high * len(rows)
    # Many names would overlap, so that every other one is placed a line lower.
    lines = 1 + (len(order) > 3)
    drawing = Drawing(
        title=f"{clean(many.quantity, 60)} by data set and method",
        about="Within each data set the best method is framed; a stronger shade is worse.",
        height=bottom + 14 * lines + 8,
        x=PixelScale(0, len(order), MARGIN, WIDTH - 8),
        y=PixelScale(0, len(rows), top, bottom),
    )
    width = (WIDTH - 8 - MARGIN) / len(order)
    for i in rows:
        _row(drawing, many, i, order, is_wide=width > 38)
    room = max(3, int(lines * width / 7.5))
    names = [columns_of(clean(many.methods[method], 60), room) for method in order]
    drawing.bottom_names({j + 0.5: name for j, name in enumerate(names)}, n_lines=lines)
    left_out = len(many.data_sets) - len(rows), len(many.methods) - len(order)
    return Figure(
        name="values",
        title="Data set × method",
        drawing=drawing,
        caption=(
            f"{clean(many.quantity, 60)}; {clean(many.terms.better, 10)} is better. Shades are "
            "relative within each data set, from the best (faint, framed) to the worst (strong). "
            f"– is missing; a star marks data sets that took no part.{_undrawn(left_out)}"
        ),
        table=FigureTable.from_rows(
            ["data set", *(clean(many.methods[j], 40) for j in order)],
            [
                [clean(name, 60), *(number(values[j]) for j in order)]
                for name, values in zip(many.data_sets, many.values, strict=True)
            ],
        ),
        keys=(Key("h0", "best of its data set", "cell"), Key("h8", "worst", "cell")),
    )


def _undrawn(left_out: tuple[int, int]) -> str:
    parts = [
        f"{n} further {what}{'' if n == 1 else 's'}"
        for n, what in zip(left_out, ("data set", "method"), strict=True)
        if n > 0
    ]
    return f" Not drawn: {' and '.join(parts)}; the JSON has them." if parts else ""


def _row(
    drawing: Drawing, many: ManyComparison, i: int, order: list[int], *, is_wide: bool
) -> None:
    values = many.values[i]
    there = [v for v in values if v is not None]
    # Shades go from 0, the best value of the data set, to `N_SHADES`, its worst.
    worst, best = max(there, default=0.0), min(there, default=0.0)
    if many.terms.better != "lower":
        worst, best = best, worst
    star = "*" if many.data_sets[i] in many.left_out else ""
    name = columns_of(clean(many.data_sets[i], 60), 17) + star
    drawing.row(i + 0.5, name, 18, "tick")
    for j, method in enumerate(order):
        value = values[method]
        shade = 0
        if value is not None and worst != best:
            shade = round(N_SHADES * abs(value - best) / abs(worst - best))
        tip = f"{clean(many.data_sets[i], 60)}, {clean(many.methods[method], 60)}: {number(value)}"
        if value is not None:
            drawing.cell(j, i, shade, tip)
        if is_wide or value is None:
            drawing.inscription(j, i, shade, number(value, 3))
        if value is not None and shade == 0 and value == best:
            drawing.frame(j, i)


# ---------------------------------------------------------------- effects


def draw_effects(many: ManyComparison) -> Figure:
    """Draw the difference of each pair with its interval, and the region of equivalence."""
    pairs = many.pairs[:MOST_PAIRS]
    ends = [end for p in pairs for end in Reported(p.difference, p.interval, "").ends]
    ends += [-many.terms.rope, many.terms.rope]
    about = "; ".join(f"{_named(p)}: {number(p.difference)}" for p in pairs[:20])
    x = PixelScale.around(ends, 190, WIDTH - 14)
    drawing = of_rows("Differences of two methods", about, x, len(pairs), STEP, 26)
    if many.terms.rope:
        rope = many.terms.rope
        drawing.band([-rope, rope], [0, 0], [len(pairs), len(pairs)], "s5")
    drawing.bottom_axis(f"difference a − b ({many.terms.better} is better)")
    drawing.upright(0.0, "baseline")
    for i, pair in enumerate(pairs):
        y = i + 0.5
        name = " − ".join(columns_of(clean(name, 60), 12) for name in (pair.a, pair.b))
        drawing.row(y, name, len(name), "tick")
        tip = f"{_named(pair)}: {number(pair.difference)}, {pair.interval or 'no interval'}"
        drawing.estimate(pair.difference, pair.interval, y, tip)
    level = f"{percent(many.terms.confidence_level)} interval"
    keys = [Key("s0", f"difference and {level}", "span")]
    if many.terms.rope:
        keys.append(Key("s5", f"within {tick_text(many.terms.rope)}: practically the same", "band"))
    more = len(many.pairs) - len(pairs)
    return Figure(
        name="effects",
        title="Differences of two methods",
        drawing=drawing,
        caption=(
            "The Hodges–Lehmann estimate over data sets (the middle of the means of any two "
            "differences) with the interval of the signed-rank test."
            + (f" {more} further pairs are in the JSON." if more > 0 else "")
        ),
        table=FigureTable.from_rows(
            ("a", "b", "a − b", "interval"),
            [
                [
                    clean(p.a, 60),
                    clean(p.b, 60),
                    number(p.difference),
                    str(p.interval or "none"),
                ]
                for p in many.pairs
            ],
        ),
        keys=tuple(keys),
    )


def _named(pair: MethodPair) -> str:
    return f"{clean(pair.a, 60)} − {clean(pair.b, 60)}"
