"""A forest plot: one loss in every subgroup, with intervals that hold together."""

from __future__ import annotations

from typing import Any

from truerisk.core.present import clean
from truerisk.plots.axes import axes_of
from truerisk.validation.subgroups import SubgroupRisks

__all__ = ["draw_subgroups"]


def draw_subgroups(risks: SubgroupRisks, *, ax: Any = None) -> Any:
    """Draw a line per level, diamonds for shrunken values, and return the axes.

    The vertical line is the value of all rows. A level that is too small says so in its place.
    """
    lines = (risks.whole, *risks.levels)
    ax = axes_of(ax, (6.4, 1.5 + 0.36 * len(lines)))
    whole = risks.whole.own_scale.value
    if whole is not None:
        ax.axvline(whole, linestyle=":", color="0.6", linewidth=0.9)
    labels: set[str] = set()
    for y, one in enumerate(lines):
        own = one.own_scale
        if own.value is None:
            ax.text(0.01, y, clean(one.reason or "", 70), transform=ax.get_yaxis_transform(),
                    va="center", fontsize="small", color="0.4")  # fmt: skip
            continue
        colour = "0.2" if one is risks.whole else "C0"
        if own.interval is not None:
            ax.plot(
                [own.interval.low, own.interval.high], [y, y], "|-", color=colour, linewidth=1.2
            )
        ax.plot(own.value, y, "s", color=colour, markersize=5, label=_once("value", labels))
        if one.own_shrunken is not None:
            ax.plot(one.own_shrunken, y, "D", color="C1", markersize=5, fillstyle="none",
                    label=_once("shrunken", labels))  # fmt: skip
    names = [f"{clean(one.subgroup.shown, 34)} ({one.subgroup.n_rows})" for one in lines]
    ax.set_yticks(range(len(lines)), names)
    ax.set_ylim(len(lines) - 0.5, -0.5)
    better = risks.whole.own_scale.better
    ax.set_xlabel(f"{clean(risks.named_loss, 60)} ({better} is better)")
    if labels:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False,
                  fontsize="small")  # fmt: skip
    return ax


def _once(name: str, labels: set[str]) -> str | None:
    """The name the first time, so that a legend has it once."""
    if name in labels:
        return None
    labels.add(name)
    return name
