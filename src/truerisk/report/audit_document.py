"""What the page of an audit shows, read from its JSON; damaged or foreign JSON is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from truerisk.core.interval import Interval
from truerisk.core.json_values import JsonValue, require_schema
from truerisk.core.present import MODELS_SAW, clean, params_text
from truerisk.core.scale import Scale
from truerisk.report.document import Noticed
from truerisk.report.estimates import read_interval, read_loss, read_scale

__all__ = ["SCHEMA", "AuditDocument", "Risk", "read_audit"]

SCHEMA, NEWEST = "truerisk.audit", 1
MOST_SETTINGS = 100_000


@dataclass(frozen=True)
class Risk:
    """What is claimed, honest, or by the rough correction, on the scale of the search."""

    value: float | None
    interval: Interval | None
    method: str
    notes: tuple[str, ...]
    facts: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, found: JsonValue, scale: Scale) -> Risk:
        """With what is known of its making: nothing, where the search alone has stated it."""
        known = (("engine", "engine"), ("data_fingerprint", "data fingerprint"))
        texts = [(said, found.get(name).maybe(JsonValue.text)) for name, said in known]
        seed = found.get("seed").maybe(JsonValue.whole)
        return cls(
            value=scale.value(found["value"].maybe(JsonValue.number)),
            interval=scale.interval(found["interval"].maybe(read_interval)),
            method=found["method"].text(),
            notes=tuple(found["notes"].texts()),
            facts=tuple(
                (said, text)
                for said, text in (("seed", None if seed is None else str(seed)), *texts)
                if text
            ),
        )


@dataclass(frozen=True)
class AuditDocument:
    """An audit, as far as its page shows it."""

    search: str
    level: str
    conclusion: str
    loss: str
    scale: Scale
    claimed: Risk
    honest: Risk | None
    rough: Risk | None
    choosing: Risk | None
    mixes: str
    optimism: float | None
    refuted: bool | None
    confidence: float
    findings: tuple[Noticed, ...]
    n_candidates: int
    within_one_error: tuple[int, ...]
    settings: tuple[Mapping[str, Any], ...]
    risks: tuple[float | None, ...]
    chosen: int
    setting: str
    versions: Mapping[str, str]
    source: str
    command: str

    @property
    def is_rough(self) -> bool:
        """Whether the risk to tell is a correction from scores alone."""
        return self.level == "scores" and not self.mixes

    def said(self, candidate: int) -> str:
        """A setting in words."""
        return clean(params_text(self.settings[candidate]), 120)


def read_audit(content: Any) -> AuditDocument:
    """A document from plain values, or a sentence on what is wrong with them."""
    require_schema(content, SCHEMA, NEWEST)
    found = JsonValue(content)
    scale = read_scale(found["claimed"])

    def risk(one: JsonValue) -> Risk:
        return Risk.read(one, scale)

    settings = tuple(_setting(one) for one in found["settings"].each(MOST_SETTINGS))
    risks = tuple(one.maybe(JsonValue.number) for one in found["risks"].each(MOST_SETTINGS))
    chosen = found["chosen"].whole()
    if settings and chosen >= len(settings):
        found["chosen"].wrong("the number of a setting")
    if risks and len(risks) != len(settings):
        found["risks"].wrong(f"as many risks as settings, {len(settings)}")
    return AuditDocument(
        search=found["search"].text(),
        level=found["level"].text(),
        conclusion=found["conclusion"].text(),
        loss=read_loss(found["claimed"]),
        scale=scale,
        claimed=risk(found["claimed"]),
        honest=found["honest"].maybe(risk),
        rough=found["rough"].maybe(risk),
        choosing=found.get("choosing").maybe(risk),
        mixes=_mixed(found.get("mixes")),
        optimism=found["optimism"].maybe(JsonValue.number),
        refuted=found["refuted"].maybe(_yes),
        confidence=found["confidence_level"].share(),
        findings=tuple(Noticed.read(one) for one in found["findings"].each()),
        n_candidates=found["n_candidates"].whole(),
        within_one_error=tuple(_numbered(found, len(settings))),
        settings=settings,
        risks=tuple(map(scale.value, risks)),
        chosen=chosen,
        setting=clean(params_text(_setting(found["claimed"]["params"])), 120),
        versions=found["versions"].words(),
        source=found["source"].text(),
        command=found["command"].text(),
    )


def _mixed(found: JsonValue) -> str:
    """What the splits mix; nothing in the files of earlier versions."""
    kind = found.maybe(JsonValue.text) or ""
    if kind not in ("", *MODELS_SAW):
        found.wrong(f"one of {', '.join(MODELS_SAW)}")
    return kind


def _setting(found: JsonValue) -> Mapping[str, Any]:
    return {name: one.value for name, one in found.items()}


def _yes(found: JsonValue) -> bool:
    if not isinstance(found.value, bool):
        found.wrong("true or false")
    return found.value


def _numbered(found: JsonValue, n_settings: int) -> list[int]:
    numbers = [one.whole() for one in found["within_one_error"].each(MOST_SETTINGS)]
    if numbers and max(numbers) >= n_settings:
        found["within_one_error"].wrong("numbers of settings")
    return numbers
