"""Answers of an ensemble about its own training rows, by the members that did not draw them."""

from __future__ import annotations

from typing import Any

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.overrides import override
from truerisk.engines.running.answering import Enquiry
from truerisk.engines.running.asked.asker import Asker
from truerisk.engines.running.members import out_of_bag, why_no_bags


class AsksMembers(Asker):
    """Asks the members of forests and bagging."""

    @override
    def refusal(self, family: Family, request: Request) -> str | None:
        return why_no_bags(family)

    @override
    def stand_in(self, model: Any, given: Any, test: Enquiry) -> Any:
        return out_of_bag(model, test)
