"""Answers of a model about its own training rows, each taken out of it to first order."""

from __future__ import annotations

from typing import Any

from truerisk.core.overrides import override
from truerisk.engines.running.answering import Enquiry
from truerisk.engines.running.asked.asker import Asker
from truerisk.engines.running.members import standing_for
from truerisk.models.stated.without_a_row import taken_out


class TakesRowsOut(Asker):
    """Takes each row out of the fitted model."""

    @override
    def stand_in(self, model: Any, given: Any, test: Enquiry) -> Any:
        return standing_for(model, taken_out(model, given.cut(), given.y, given.weights))
