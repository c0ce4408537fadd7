"""Predictions at random points around test rows, as bolstered error estimates need them."""

from __future__ import annotations

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.overrides import override
from truerisk.engines.running.asked.asker import ExtraOutputs


class PointsAroundRows(ExtraOutputs):
    """Hook for plans that predict at points drawn around rows.

    It refuses kernel and distance matrices, because no points can be drawn around their rows.
    """

    @override
    def refusal(self, family: Family, request: Request) -> str | None:
        if any(family.pairwise):
            return "X is a matrix of rows against rows: around its rows there are no points."
        return None
