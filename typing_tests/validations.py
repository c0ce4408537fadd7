"""Types of what a validation gives."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np

import truerisk as tr
from truerisk.results.interval import Interval
from truerisk.validation.checklists.checklist import Checklist
from truerisk.validation.prediction_stability import PredictionStability
from truerisk.validation.stability import FeatureStability
from truerisk.validation.subgroups import SubgroupRisks, Subgroups

model: Any = None
X, y = np.zeros((9, 2)), np.zeros(9)

found = tr.validate(model, X, y, subgroups=["sex"])
assert_type(tr.validate_predictions(y, X[:, 0], horizon=5), tr.Validation)
assert_type(found.subgroups, Subgroups | None)
assert_type(found.checklist, Checklist | None)
if found.subgroups is not None:
    assert_type(found.subgroups["auc"], SubgroupRisks)
    assert_type(found.subgroups["auc"].levels[0].interval, Interval | None)
    assert_type(found.subgroups["auc"].levels[0].reason, str | None)
if found.stability is not None:
    assert_type(found.stability.features, FeatureStability | None)
    assert_type(found.stability.predictions, PredictionStability | None)
    found.stability.settings  # type: ignore[attr-defined]
