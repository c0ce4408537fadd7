"""What a comparison found, with what it assumed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from truerisk.core import present
from truerisk.core.interval import Interval

__all__ = ["Comparison"]

SCHEMA = "truerisk.comparison/1"


@dataclass(frozen=True)
class Comparison:
    """Two rules compared: `difference` is the risk of a minus that of b, so negative favours a.

    `p_value` is that of "the two risks are equal", two-sided. `better`, `equivalent` and `worse`
    are posterior probabilities that a is better or worse than b by more than `rope`, or neither.
    What a test does not give is None, and `notes` say what the data did not allow. `assumed`
    lists what must hold for the numbers to mean what they say; `details` are further numbers.
    """

    test: str
    difference: float
    n_pairs: int
    loss: str | None = None
    std_error: float | None = None
    statistic: float | None = None
    df: float | None = None
    p_value: float | None = None
    interval: Interval | None = None
    rope: float | None = None
    better: float | None = None
    equivalent: float | None = None
    worse: float | None = None
    details: Mapping[str, float] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def probabilities(self) -> dict[str, float] | None:
        """Posterior probabilities of a being practically better, equivalent, worse."""
        if self.better is None or self.equivalent is None or self.worse is None:
            return None
        return {"better": self.better, "equivalent": self.equivalent, "worse": self.worse}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, under a versioned schema name."""
        values = {each.name: present.plain(getattr(self, each.name)) for each in fields(self)}
        return {"schema": SCHEMA, **values}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), allow_nan=False)

    def __str__(self) -> str:
        lines = [", ".join([self._headline(), *self._findings()])]
        lines += [f"  assumed: {sentence}" for sentence in self.assumed]
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])

    def _headline(self) -> str:
        loss = "" if self.loss is None else f" ({self.loss})"
        sure = present.sureness(self.std_error, self.interval)
        return f"{self.test}: risk a − b {self.difference:+.4f}{loss}{sure}"

    def _findings(self) -> list[str]:
        found = []
        if self.statistic is not None and self.df is not None:
            found.append(f"t({self.df:g}) = {self.statistic:.3f}")
        if self.p_value is not None:
            found.append(f"p = {self.p_value:.4g}")
        if self.probabilities is not None:
            said = ", ".join(f"{word} {p:.3f}" for word, p in self.probabilities.items())
            found.append(f"a is practically {said} (by more than {self.rope:g} or not)")
        return found

    def _repr_html_(self) -> str:
        rows = [
            ["difference a − b", f"{self.difference:+.4f}"],
            ["standard error", present.number(self.std_error)],
            ["interval", str(self.interval or "none")],
            ["statistic", present.number(self.statistic)],
            ["p-value", "–" if self.p_value is None else f"{self.p_value:.4g}"],
        ]
        rows += [
            [f"P(a {word})", present.number(p)] for word, p in (self.probabilities or {}).items()
        ]
        rows += [[name, f"{value:g}"] for name, value in self.details.items()]
        rows += [["assumed", sentence] for sentence in self.assumed]
        rows += [["note", note] for note in self.notes]
        return present.html_table(f"Comparison ({self.test})", ["", ""], rows)
