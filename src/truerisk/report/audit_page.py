"""The page of an audit: the claim of a search, the honest risk, and how it was found."""

from __future__ import annotations

from collections.abc import Iterator

from truerisk.auditing.outcome import Audit, DeclaredOutcome
from truerisk.core.formats import clean, number, rows_counted, signed
from truerisk.report.assessment_page import MOST_CLASSES
from truerisk.report.audit_figures import draw_claim, draw_settings
from truerisk.report.figure import FigureTable, known
from truerisk.report.layout import CLOSING, Headline, Page, Section, sentences
from truerisk.report.methods_text import (
    REFERENCES,
    Repeat,
    computed,
    level_and_ends,
    reference_of,
    value_and_interval,
)
from truerisk.results.results import RiskEstimate
from truerisk.results.sentences import MODELS_SAW, setting_text

ROUGH = (
    "Tibshirani RJ, Tibshirani R (2009). A bias correction for the minimum error rate in "
    "cross-validation. Annals of Applied Statistics 3:822–829."
)


def draw_audit(audit: Audit) -> Page:
    """Return the page of an audit."""
    search, source = clean(audit.search, 60), clean(audit.source, 80)
    scale, name = audit.scale, clean(audit.claimed.scoring, 40)
    what = f"Risks in {name} loss" if scale.perfect is None else f"Scores, {name}"
    n, few = audit.n_candidates, len(audit.class_counts) <= MOST_CLASSES
    rows = [rows_counted(audit.n_rows, audit.class_counts if few else {})] if audit.n_rows else []
    notes = [clean(note, 400) for _, risk in _named(audit) for note in risk.notes]
    values = {
        "eyebrow": "audit",
        "title": f"{source}: audit of a {search}" if source else f"Audit of a {search}",
        "facts": [
            *rows,
            f"level {clean(audit.level, 20)}",
            f"{n} setting{'s' if n != 1 else ''}",
            f"chosen {setting_text(audit.claimed.params)}",
            audit.scale.name_for(audit.claimed.scoring),
        ],
        "headline": list(_headline(audit)),
        "conclusion": sentences(audit.conclusion),
        "findings": audit.findings,
        "risks": _risks(audit),
        "risks_caption": f"{what}, {scale.better} is better",
        "legend": _legend(audit),
        "sections": tuple(_sections(audit)),
        "methods": " ".join(_methods(audit)),
        "references": _references(audit),
        "repeat": _repeat(audit),
        "notes": list(dict.fromkeys(notes))[:40],
    }
    return Page("audit.html", values)


def _headline(audit: Audit) -> Iterator[Headline]:
    claimed, rough, own = audit.claimed, audit.is_rough, audit.honest
    name = "Roughly corrected" if rough else f"Report this {audit.scale.noun}"
    value, interval = (None, None) if own is None else (own.value, own.interval)
    ends = level_and_ends(interval)
    yield Headline(name, number(value), ends, "" if rough else "report")
    yield Headline("The search claims", number(claimed.value), clean(claimed.method, 60))
    if audit.choosing is not None:
        alone = number(audit.choosing.value)
        yield Headline("Corrected for the choice alone", alone, "on splits that mix")
    order = ["corrected" if rough else "honest", "claimed"]
    how = " − ".join(order if audit.scale.perfect is None else order[::-1])
    yield Headline("Optimism", signed(audit.optimism, value), how)
    yield Headline("The claim", *_verdict(audit))


def _verdict(audit: Audit) -> tuple[str, str]:
    if audit.refuted is None and audit.mixes:
        return "unfounded", f"the tested models had seen {MODELS_SAW[audit.mixes]}"
    if audit.refuted is None:
        return "open", "without an interval no claim can be refuted"
    if audit.refuted:
        return "refuted", "it lies outside the honest interval"
    return "possible", "it lies inside the honest interval"


def _risks(audit: Audit) -> FigureTable:
    rows = [
        [name, number(risk.value), str(risk.interval or "none"), risk.method]
        for name, risk in _named(audit)
    ]
    return FigureTable.from_rows(("which", audit.scale.noun, "interval", "by"), rows)


def _named(audit: Audit) -> list[tuple[str, RiskEstimate | DeclaredOutcome]]:
    """Return the risks by name; at level "scores" the honest one is the rough one."""
    honest = None if audit.is_rough else audit.honest
    named = zip(
        ("claimed", "choosing", "honest", "rough"),
        (audit.claimed, audit.choosing, honest, audit.rough),
        strict=True,
    )
    return [(name, risk) for name, risk in named if risk is not None]


def _legend(audit: Audit) -> list[str]:
    error = ", as an error" if audit.scale.perfect is None else ""
    lines = [f"claimed: the score of the chosen setting, which is the best of all{error}"]
    if audit.choosing is not None:
        lines.append("choosing: corrected for the choice alone, on the splits of the search")
    if audit.mixes:
        saw = MODELS_SAW[audit.mixes]
        lines.append(f"honest: the choice tested by models that have not seen {saw}")
    elif audit.level == "bbc":
        lines.append("honest: the choice repeated on bootstrap samples, tested out of bag")
    elif _in_pairs(audit):
        lines.append("honest: each fold tested by the setting that the other folds choose")
    elif audit.level in ("pairs", "nested"):
        lines.append("honest: the whole search repeated, tested on rows that took no part in it")
    if audit.rough is not None:
        lines.append("rough: corrected by the split scores alone; may be too large or too small")
    return lines


def _sections(audit: Audit) -> Iterator[Section]:
    yield Section("numbers", "The numbers")
    if drawn := known(draw_claim(audit), draw_settings(audit)):
        lead = "The best of many scores looks better than it is, the more so the more there are."
        yield Section("optimism", "Optimism", lead, drawn)
    yield from CLOSING


# ---------------------------------------------------------------- what was done, in words


def _methods(audit: Audit) -> Iterator[str]:
    """Yield the sentences of the methods paragraph."""
    n, search, claimed = audit.n_candidates, clean(audit.search, 60), audit.claimed
    compared = f"compared {n} settings and chose" if n > 1 else "tried one setting,"
    yield (
        f"A {search} {compared} {setting_text(claimed.params)}, with "
        f"{audit.scale.name_for(claimed.scoring)} {number(claimed.value)} by the same scores "
        "that it chose by."
    )
    if audit.honest is not None and audit.honest.value is not None and not audit.is_rough:
        yield _how(audit, audit.honest)
    if audit.rough is not None:
        yield (
            "The correction of Tibshirani and Tibshirani, from the scores of the splits alone, "
            f"gave {number(audit.rough.value)}."
        )
    if audit.refuted is not None:
        yield f"The claim lies {'outside' if audit.refuted else 'inside'} the interval."
    yield f"{computed(audit.versions)}."


def _how(audit: Audit, honest: RiskEstimate | DeclaredOutcome) -> str:
    risk = value_and_interval(honest)
    if audit.mixes:
        text = f"Its splits tested models that saw {MODELS_SAW[audit.mixes]}"
        if (alone := audit.choosing) is not None:
            text += f"; corrected for the choice alone ({clean(alone.method, 80)}) its "
            text += f"{audit.scale.noun} would be {number(alone.value)}"
        how = clean(honest.method, 80)
        return f"{text}. Tested by models without these rows ({how}) it was {risk}."
    if audit.level == "bbc":
        return (
            "The predictions of every setting for rows left out were made again on the splits of "
            "the search; on rows drawn with replacement the setting was chosen anew and tested on "
            f"the rows not drawn (bootstrap bias corrected cross-validation), which gave {risk}."
        )
    how = clean(honest.method, 80)
    if _in_pairs(audit):
        return (
            "Every fold of the search was tested by the setting that the other folds choose, by "
            f"models that lack a further fold ({how}), which gave {risk}."
        )
    return (
        "The whole search was repeated on training sets and tested on rows that took no part in "
        f"it ({how}), which gave {risk}."
    )


def _in_pairs(audit: Audit) -> bool:
    """Return True if the folds of the search tested the choice among its settings."""
    return audit.honest is not None and audit.honest.method.startswith("pairs")


def _references(audit: Audit) -> list[str]:
    """Return the references of the paragraph."""
    cited = [REFERENCES["nested"]] if audit.level in ("pairs", "nested") else []
    if audit.level == "bbc" and not audit.mixes:
        cited = [reference_of("bbc")]
    if audit.choosing is not None:
        cited.append(reference_of(audit.choosing.method))
    interval = None if audit.honest is None else audit.honest.interval
    if interval is not None:
        cited.append(reference_of(interval.method))
    cited = [reference for reference in dict.fromkeys(cited) if reference]
    return [*cited, *([ROUGH] if audit.rough is not None else [])]


def _repeat(audit: Audit) -> Repeat:
    """Return the command or call, the seed, the fingerprint and the versions.

    If the audit used only the scores of the search, nothing is known about how they were computed.
    """
    call, honest = "\n".join(clean(line, 1000) for line in audit.command.splitlines()), audit.honest
    made: dict[str, str] = {}
    if isinstance(honest, RiskEstimate):
        made = {"seed": str(honest.seed), "engine": honest.engine}
        made["data fingerprint"] = honest.data_fingerprint
    name = {"time": "time", "space": "block", "groups": "groups"}.get(audit.mixes or "")
    argument = "" if name is None else f"{name}={name}, "
    rows = "" if audit.level == "scores" else "X, y, "
    usual = (
        f"tr.audit(search, {rows}{argument}level={audit.level!r}, "
        f"confidence_level={audit.confidence_level:.15g})"
    )
    return Repeat.from_call(call or clean(usual, 1000), made, audit.versions)
