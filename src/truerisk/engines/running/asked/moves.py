"""Answers about points around rows."""

from __future__ import annotations

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.overrides import override
from truerisk.engines.running.asked.asker import Asker


class AsksAroundRows(Asker):
    """Asks models that take rows of X with columns of their own."""

    @override
    def refusal(self, family: Family, request: Request) -> str | None:
        if any(family.pairwise):
            return "X is a matrix of rows against rows: around its rows there are no points."
        return None
