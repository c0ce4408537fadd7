"""The audit of a fitted search: what it claims, what is honest, what was found."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from truerisk.api.auditing.mixed_splits import Kind
from truerisk.api.auditing.score_scale import ScoreScale
from truerisk.api.findings.finding import Finding
from truerisk.core import present
from truerisk.core.displays import displays
from truerisk.core.interval import Interval
from truerisk.core.present import MODELS_SAW, unsigned
from truerisk.core.results import RiskEstimate
from truerisk.core.scale import Scale
from truerisk.core.writing import Written, also_written

__all__ = ["Audit", "Stated"]

SCHEMA = "truerisk.audit/1"
WIDEST = 88

TOO_GOOD = {
    "selection-outside": "the columns were selected before the search",
    "duplicate-rows": "copies of a row are one case",
    "column-predicts-alone": "the column that tells y is not known when y is asked for",
}
"""Findings that no number can be corrected for, and when they make it too good."""


@dataclass(frozen=True)
class Stated:
    """A risk that the search's own scores state: no row was seen, so there is no interval.

    `perfect` as in `RiskEstimate`: where the search speaks of scores, that of a perfect rule.
    """

    value: float
    method: str
    loss: str
    params: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    perfect: float | None = None
    std_error: None = None
    interval: Interval | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return present.plain(asdict(self))

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        scale = Scale(self.perfect)
        shown = present.number(scale.value(self.value))
        return f"{scale.of(self.loss)} {shown} ({scale.better} is better, {self.method})"


@dataclass(frozen=True, eq=False)
class Audit(Written):
    """What `tr.audit` gives. Risks are errors: lower is better.

    `claimed` is the claim of the search, `honest` the risk by the asked level, `optimism` honest
    minus claimed. At level "scores" `honest` is the rough correction of Tibshirani and Tibshirani
    without an interval, or None where the scores of the splits were not kept. `rough` is that
    correction at every level. `findings` come with the most serious first. `within_one_error` are
    the candidates within one standard error, over splits, of the best. `settings` are all
    candidates, `chosen` the number of the chosen one, and `risks` what the search measured of each,
    as errors (None where a fit failed; empty where the search kept no scores).

    Where the splits of the search mix what belongs together ("time", "space" or "groups" in
    `mixes`), `honest` is the risk of rows kept apart and `choosing` the claim corrected for the
    choice alone, on the splits that mix. `why` says why there is no honest risk then.
    """

    search: str
    level: str
    claimed: Stated
    honest: RiskEstimate | Stated | None
    rough: Stated | None
    findings: tuple[Finding, ...]
    within_one_error: tuple[int, ...]
    n_candidates: int
    scale: ScoreScale = field(repr=False)
    named: str = "best_score_"
    confidence_level: float = 0.95
    settings: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    chosen: int = 0
    risks: tuple[float | None, ...] = field(default=(), repr=False)
    choosing: RiskEstimate | Stated | None = None
    mixes: Kind | None = None
    why: str = ""
    versions: Mapping[str, str] = field(default_factory=dict, repr=False)
    source: str = ""
    command: str = ""

    @property
    def optimism(self) -> float | None:
        """Honest minus claimed risk; positive where the search flatters itself."""
        if self.honest is None or self.honest.value is None:
            return None
        return float(self.honest.value - self.claimed.value)

    @property
    def refuted(self) -> bool | None:
        """Whether the claim lies outside the honest interval; None where there is no interval."""
        interval = None if self.honest is None else self.honest.interval
        return None if interval is None else self.claimed.value not in interval

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the findings."""
        return tuple(finding.code for finding in self.findings)

    @property
    def conclusion(self) -> str:
        """The result in a sentence or two, on the scale of the search's own score."""
        claim = f"{self.named} {self._shown(self.claimed.value)}"
        if self.level == "scores" and self.mixes is None:
            return f"{claim} {self._roughly()}"
        if self.honest is None or self.honest.value is None or self.optimism is None:
            return f"{claim} {self._unknown()}"
        honest = f"honest {self._shown(self.honest.value)} {self._interval()}"
        size = unsigned(abs(self.optimism), self.claimed.value)
        if abs(self.optimism) <= 1e-12:
            told = "is neither optimistic nor pessimistic"
        else:
            told = f"is {'optimistic' if self.optimism > 0 else 'pessimistic'} by {size}"
        text = f"{claim} {told}; {honest}.{self._shares()}"
        if self.refuted:
            text += " The claim lies outside the interval: it is refuted."
        doubts = [doubt for code, doubt in TOO_GOOD.items() if code in self.codes]
        if doubts:
            text += f" Both numbers are too good if {', or if '.join(doubts)}."
        return text

    def _shares(self) -> str:
        """How much of the claim the choice took, and how much the splits."""
        if self.mixes is None:
            return ""
        saw = f"models that saw {MODELS_SAW[self.mixes]}"
        if self.choosing is None or self.choosing.value is None or self.optimism is None:
            return f" The splits of the search tested {saw}."
        alone = f" Corrected for the choice alone it is {self._shown(self.choosing.value)};"
        more = self.optimism - self.choosing.value + self.claimed.value
        if more <= 0:
            return f"{alone} {saw} do not flatter it."
        return f"{alone} {unsigned(more, self.claimed.value)} more is owed to {saw}."

    def _unknown(self) -> str:
        """Why there is no honest risk."""
        if self.mixes is None:
            return "could not be checked: fits failed."
        saw = f"models that saw {MODELS_SAW[self.mixes]}"
        return f"rests on {saw}, and what it is worth without is not known: {self.why}"

    def _roughly(self) -> str:
        text = f"is the best of {self.n_candidates} scores, and a maximum flatters"
        if self.rough is not None:
            about = self._shown(self.rough.value)
            text += f"; a rough correction from the scores of the splits says {about}, no interval"
        return f"{text}. Level 'bbc' or 'nested' says how much, with X and y."

    def _shown(self, risk: float) -> str:
        return present.number(self.scale.shown.value(risk))

    def _interval(self) -> str:
        interval = None if self.honest is None else self.scale.shown.interval(self.honest.interval)
        if interval is None:
            return "(no interval)"
        return f"[{present.number(interval.low)}, {present.number(interval.high)}]"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, under a versioned schema name."""
        return {
            "schema": SCHEMA,
            "search": self.search,
            "level": self.level,
            "conclusion": self.conclusion,
            "claimed": self.claimed.to_dict(),
            "honest": None if self.honest is None else self.honest.to_dict(),
            "rough": None if self.rough is None else self.rough.to_dict(),
            "choosing": None if self.choosing is None else self.choosing.to_dict(),
            "mixes": self.mixes,
            "why": self.why,
            "optimism": self.optimism,
            "refuted": self.refuted,
            "confidence_level": self.confidence_level,
            "n_candidates": self.n_candidates,
            "within_one_error": list(self.within_one_error),
            "findings": [{**asdict(f), "severity": f.severity} for f in self.findings],
            "settings": present.plain([dict(one) for one in self.settings]),
            "chosen": self.chosen,
            "risks": list(self.risks),
            "versions": dict(self.versions),
            "source": self.source,
            "command": self.command,
        }

    def to_html(self, path: Any = None) -> str:
        """One HTML page that needs nothing else, also written to `path` where one is given."""
        return also_written(path, lambda: str(displays.load("audit-page")(self.to_dict())))

    def rows(self) -> list[list[str]]:
        """What is claimed and honest as cells: what, value, interval, method."""
        scale = self.scale.shown
        stated: list[tuple[str, RiskEstimate | Stated | None]] = [("claimed", self.claimed)]
        if self.mixes is not None:
            stated.append(("choosing", self.choosing))
        stated.append(("honest", self.honest))
        if self.level != "scores":
            stated.append(("rough", self.rough))
        return [
            [
                name,
                present.number(scale.value(one.value)),
                str(scale.interval(one.interval) or "none"),
                one.method,
            ]
            for name, one in stated
            if one is not None
        ]

    @property
    def _head(self) -> list[str]:
        return ["", self.scale.shown.head(self.scale.called), "interval", "by"]

    @property
    def title(self) -> str:
        """What was audited."""
        setting = present.params_text(self.claimed.params)
        return (
            f"{self.search}, {self.n_candidates} settings, chosen {setting}; "
            f"level '{self.level}', {self.scale.shown.of(self.scale.called)}"
        )

    def __str__(self) -> str:
        table = present.text_table(self._head, self.rows())
        found = [
            textwrap.fill(f"- {f}", WIDEST, subsequent_indent="  ", break_long_words=False)
            for f in self.findings
        ]
        said = textwrap.fill(self.conclusion, WIDEST, break_long_words=False)
        return "\n".join([said, "", self.title, table, "", *(found or ["No findings."])])

    def _repr_html_(self) -> str:
        table = present.html_table(self.title, self._head, self.rows())
        found = present.html_table(
            "Findings",
            ["severity", "what", "what to do", "code"],
            [[f.severity, f.sentence, f.remedy, f.code] for f in self.findings],
        )
        return f"<p><strong>{html.escape(self.conclusion)}</strong></p>{table}{found}"
