"""Documented places of modules that have moved: an import of the old place gives the new module."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "truerisk.api.assessment": "truerisk.api.assessing.assessment",
    "truerisk.api.skore_check": "truerisk.api.audit",
    "truerisk.api.sample_plan": "truerisk.api.plan_sample",
    "truerisk.api.outer": "truerisk.run.outer_splits",
    "truerisk.core.calibration": "truerisk.core.statistics.calibration",
    "truerisk.core.data": "truerisk.core.table.data",
    "truerisk.core.operating": "truerisk.core.statistics.operating_points",
    "truerisk.core.planning": "truerisk.core.plan.builder",
    "truerisk.core.posterior": "truerisk.core.statistics.error_posterior",
    "truerisk.core.roc": "truerisk.core.statistics.roc",
    "truerisk.methods.averages": "truerisk.methods.parts.averages",
    "truerisk.selection.minimum": "truerisk.selection.rules",
    "truerisk.selection.one_standard_error": "truerisk.selection.rules",
}


class _Moved:
    """Finds the old places, after all other finders have failed, and loads the new ones."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in MOVED else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(MOVED[spec.name])
        self.own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.own  # the import system has put that of the old place there


def follow() -> None:
    """Let imports of the old places find the new modules."""
    if not any(type(finder) is _Moved for finder in sys.meta_path):
        sys.meta_path.append(_Moved())
