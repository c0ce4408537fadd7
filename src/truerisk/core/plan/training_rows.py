"""A plan whose fits are also asked about the rows that they were fitted on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.plan.plan import Plan

__all__ = ["with_training_rows"]


def with_training_rows(plan: Plan) -> Plan:
    """The questions of a plan, and after them, in the same order, one about each train set."""
    if plan.laws is not None or plan.flips is not None:
        raise Refusal(
            "a train score is that of rows that a fit was shown as they are, and this method draws "
            "them at random or shows other labels: use return_train_score=False, or folds."
        )
    trained = plan.train.take(plan.fit)
    test = replace(
        plan.test,
        base=np.concatenate([plan.test.base, trained.base]),
        minus=np.concatenate([plan.test.minus, trained.minus]),
        offsets=np.concatenate([plan.test.offsets, plan.test.offsets[-1] + trained.offsets[1:]]),
    )
    part = np.concatenate([plan.part, np.full_like(plan.part, len(plan.parts))])
    return replace(
        plan,
        test=test,
        fit=np.tile(plan.fit, 2),
        part=part,
        repeat=np.tile(plan.repeat, 2),
        fold=np.tile(plan.fold, 2),
        unit=np.tile(plan.unit, 2),
        parts=(*plan.parts, "apparent"),
    )
