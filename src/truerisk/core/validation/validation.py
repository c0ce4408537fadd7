"""The result of `validate`: what a reviewer of a model asks, part by part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from truerisk.core import present
from truerisk.core.results import RiskEstimate
from truerisk.core.validation.held_out import HeldOut

__all__ = ["PARTS", "Part", "Validation"]

SCHEMA = "truerisk.validation/1"
PARTS = {
    "discrimination": "Discrimination",
    "calibration": "Calibration",
    "net_benefit": "Net benefit",
    "subgroups": "Subgroups",
    "stability": "Stability",
    "checklist": "Checklist",
}


class Part(Protocol):
    """A frozen value that can be printed and written."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        ...


@dataclass(frozen=True, eq=False)
class Validation:
    """What out-of-fold answers say of a model, part by part.

    `risk` is the honest risk of the procedure and `held_out` the answers that all parts read. A
    part that cannot be told is None, and `missing` says why in a sentence.
    """

    risk: RiskEstimate
    held_out: HeldOut = field(repr=False)
    discrimination: Part | None = None
    calibration: Part | None = None
    net_benefit: Part | None = None
    subgroups: Part | None = None
    stability: Part | None = None
    checklist: Part | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def parts(self) -> dict[str, Part]:
        """The parts that there are, by name."""
        return {name: part for name in PARTS if (part := getattr(self, name)) is not None}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, under a versioned schema name."""
        return {
            "schema": SCHEMA,
            "risk": self.risk.to_dict(),
            **dict.fromkeys(PARTS),
            **{name: part.to_dict() for name, part in self.parts.items()},
            "missing": present.plain(self.missing),
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def __str__(self) -> str:
        blocks = [str(self.risk)]
        for name, title in PARTS.items():
            part = getattr(self, name)
            if part is not None:
                blocks.append(f"{title}\n{part}")
            elif name in self.missing:
                blocks.append(f"{title}: {self.missing[name]}")
        return "\n\n".join(blocks + [f"note: {note}" for note in self.notes])
