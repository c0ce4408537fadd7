"""The HTML page of an audit: the claim of a search, the honest risk, and its computation."""

from __future__ import annotations

from collections.abc import Iterator

from truerisk.auditing.outcome import Audit, DeclaredOutcome
from truerisk.core.formats import (
    describe_row_counts,
    escape_and_truncate,
    format_number,
    signed_number,
)
from truerisk.report.assessment_page import MAX_COUNTED_CLASSES
from truerisk.report.audit_figures import draw_claim, draw_settings
from truerisk.report.figure import FigureTable, drop_none
from truerisk.report.gate import SECTIONS_WITH_GATE, make_gate
from truerisk.report.layout import Headline, Page, Section, escape_sentences
from truerisk.report.methods_text import (
    REFERENCES,
    ReproductionInfo,
    describe_estimate,
    find_reference,
    versions_phrase,
)
from truerisk.results.results import RiskEstimate
from truerisk.results.sentences import RELATED_ROWS_BY_RELATION, describe_interval, format_setting

ROUGH_REFERENCE = (
    "Tibshirani RJ, Tibshirani R (2009). A bias correction for the minimum error rate in "
    "cross-validation. Annals of Applied Statistics 3:822–829."
)
CALL_NAMES = "search: your fitted search; X, y: the rows on which it was fitted"


def draw_audit_page(audit: Audit) -> Page:
    """Return the HTML page of an audit, with its headline, tables, figures and sentences."""
    search_name, source_text = (
        escape_and_truncate(audit.search, 60),
        escape_and_truncate(audit.source, 80),
    )
    score_scale, name = audit.scale, escape_and_truncate(audit.claimed.named_scoring, 40)
    risk_label = f"Risks in {name} loss" if score_scale.perfect is None else f"Scores, {name}"
    n_settings, has_few_classes = audit.n_candidates, len(audit.class_counts) <= MAX_COUNTED_CLASSES
    row_texts = (
        [describe_row_counts(audit.n_rows, audit.class_counts if has_few_classes else {})]
        if audit.n_rows
        else []
    )
    finding_notes = {finding.note for finding in audit.findings}
    notes = [
        escape_and_truncate(note, 400)
        for _, risk in _named_risks(audit)
        for note in risk.notes
        if note not in finding_notes
    ]
    values = {
        "eyebrow": "audit",
        "title": f"{source_text}: audit of a {search_name}"
        if source_text
        else f"Audit of a {search_name}",
        "facts": [
            *row_texts,
            f"level {escape_and_truncate(audit.level, 20)}",
            f"{n_settings} setting{'s' if n_settings != 1 else ''}",
            f"chosen {format_setting(audit.claimed.params)}",
            audit.scale.name_for(audit.claimed.named_scoring),
        ],
        "headline": list(_headline(audit)),
        "conclusion": escape_sentences(audit.conclusion),
        "findings": audit.findings,
        "risks": _risks_table(audit),
        "risks_caption": f"{risk_label}, {score_scale.better} is better",
        "legend": _legend_lines(audit),
        "sections": tuple(_sections(audit)),
        "methods": " ".join(_methods_sentences(audit)),
        "references": _references(audit),
        "gate": make_gate(audit, _call(audit), CALL_NAMES, is_command=bool(audit.command)),
        "repeat": _repeat_info(audit),
        "notes": list(dict.fromkeys(notes))[:40],
    }
    return Page("audit.html", values)


def _headline(audit: Audit) -> Iterator[Headline]:
    claimed_risk, is_rough, honest_risk = audit.claimed, audit.is_rough, audit.honest
    name = "Roughly corrected" if is_rough else f"Report this {audit.scale.noun}"
    honest_value, interval = (
        (None, None) if honest_risk is None else (honest_risk.value, honest_risk.interval)
    )
    interval_text = describe_interval(interval)
    yield Headline(name, format_number(honest_value), interval_text, "" if is_rough else "report")
    yield Headline(
        "The search claims",
        format_number(claimed_risk.value),
        escape_and_truncate(claimed_risk.method, 60),
    )
    if audit.choosing is not None:
        choice_only_text = format_number(audit.choosing.value)
        yield Headline("Corrected for the choice alone", choice_only_text, "on splits that mix")
    difference_terms = ["corrected" if is_rough else "honest", "claimed"]
    difference_text = " − ".join(
        difference_terms if audit.scale.perfect is None else difference_terms[::-1]
    )
    yield Headline("Optimism", signed_number(audit.optimism, honest_value), difference_text)
    yield Headline("The claim", *_verdict(audit))


def _verdict(audit: Audit) -> tuple[str, str]:
    if audit.refuted is None and audit.mixes:
        return "unfounded", f"the tested models had seen {RELATED_ROWS_BY_RELATION[audit.mixes]}"
    if audit.refuted is None:
        return "open", "without an interval no claim can be refuted"
    if audit.refuted:
        return "refuted", "it lies outside the honest interval"
    return "possible", "it lies inside the honest interval"


def _risks_table(audit: Audit) -> FigureTable:
    rows = [
        [name, format_number(risk.value), str(risk.interval or "none"), risk.method]
        for name, risk in _named_risks(audit)
    ]
    return FigureTable.from_rows(("which", audit.scale.noun, "interval", "by"), rows)


def _named_risks(audit: Audit) -> list[tuple[str, RiskEstimate | DeclaredOutcome]]:
    """Return pairs of name and risk for the risks that an audit found.

    An audit at level "scores" has a rough risk instead of an honest one.
    """
    honest_outcome = None if audit.is_rough else audit.honest
    names_and_risks = zip(
        ("claimed", "choosing", "honest", "rough"),
        (audit.claimed, audit.choosing, honest_outcome, audit.rough),
        strict=True,
    )
    return [(name, risk) for name, risk in names_and_risks if risk is not None]


def _legend_lines(audit: Audit) -> list[str]:
    error_text = ", as an error" if audit.scale.perfect is None else ""
    legend_lines = [
        f"claimed: the score of the chosen setting, which is the best of all{error_text}"
    ]
    if audit.choosing is not None:
        legend_lines.append("choosing: corrected for the choice alone, on the splits of the search")
    if audit.mixes:
        unseen_rows = RELATED_ROWS_BY_RELATION[audit.mixes]
        legend_lines.append(f"honest: the choice tested by models that have not seen {unseen_rows}")
    elif audit.level == "bbc":
        legend_lines.append("honest: the choice repeated on bootstrap samples, tested out of bag")
    elif _uses_pairs_of_folds(audit):
        legend_lines.append("honest: each fold tested by the setting that the other folds choose")
    elif audit.level in ("pairs", "nested"):
        legend_lines.append(
            "honest: the whole search repeated, tested on rows that took no part in it"
        )
    if audit.rough is not None:
        legend_lines.append(
            "rough: corrected by the split scores alone; may be too large or too small"
        )
    return legend_lines


def _sections(audit: Audit) -> Iterator[Section]:
    yield Section("numbers", "The numbers")
    if figures := drop_none(draw_claim(audit), draw_settings(audit)):
        introduction = (
            "The best of many scores looks better than it is, the more so the more there are."
        )
        yield Section("optimism", "Optimism", introduction, figures)
    yield from SECTIONS_WITH_GATE


# ---------------------------------------------------------------- methods paragraph


def _methods_sentences(audit: Audit) -> Iterator[str]:
    """Yield the sentences of the methods paragraph of an audit."""
    n_settings, search_name, claimed_risk = (
        audit.n_candidates,
        escape_and_truncate(audit.search, 60),
        audit.claimed,
    )
    comparison_text = (
        f"compared {n_settings} settings and chose" if n_settings > 1 else "tried one setting,"
    )
    yield (
        f"A {search_name} {comparison_text} {format_setting(claimed_risk.params)}, with "
        f"{audit.scale.name_for(claimed_risk.named_scoring)} {format_number(claimed_risk.value)} "
        "by the same scores that it chose by."
    )
    if audit.honest is not None and audit.honest.value is not None and not audit.is_rough:
        yield _honest_sentence(audit, audit.honest)
    if audit.rough is not None:
        yield (
            "The correction of Tibshirani and Tibshirani, from the scores of the splits alone, "
            f"gave {format_number(audit.rough.value)}."
        )
    if audit.refuted is not None:
        yield f"The claim lies {'outside' if audit.refuted else 'inside'} the interval."
    yield f"{versions_phrase(audit.versions)}."


def _honest_sentence(audit: Audit, honest_outcome: RiskEstimate | DeclaredOutcome) -> str:
    risk_text = describe_estimate(honest_outcome)
    if audit.mixes:
        text = f"Its splits tested models that saw {RELATED_ROWS_BY_RELATION[audit.mixes]}"
        if (choice_only_risk := audit.choosing) is not None:
            method_text = escape_and_truncate(choice_only_risk.method, 80)
            text += f"; corrected for the choice alone ({method_text}) its "
            text += f"{audit.scale.noun} would be {format_number(choice_only_risk.value)}"
        method_text = escape_and_truncate(honest_outcome.method, 80)
        return f"{text}. Tested by models without these rows ({method_text}) it was {risk_text}."
    if audit.level == "bbc":
        return (
            "The predictions of every setting for rows left out were made again on the splits of "
            "the search; on rows drawn with replacement the setting was chosen anew and tested on "
            "the rows not drawn (bootstrap bias corrected cross-validation), which gave "
            f"{risk_text}."
        )
    method_text = escape_and_truncate(honest_outcome.method, 80)
    if _uses_pairs_of_folds(audit):
        return (
            "Every fold of the search was tested by the setting that the other folds choose, by "
            f"models that lack a further fold ({method_text}), which gave {risk_text}."
        )
    return (
        "The whole search was repeated on training sets and tested on rows that took no part in "
        f"it ({method_text}), which gave {risk_text}."
    )


def _uses_pairs_of_folds(audit: Audit) -> bool:
    """Return True if the honest risk comes from fits that left out pairs of the search's folds."""
    return audit.honest is not None and audit.honest.method.startswith("pairs")


def _references(audit: Audit) -> list[str]:
    """Return the references of an audit's methods paragraph."""
    cited_references = [REFERENCES["nested"]] if audit.level in ("pairs", "nested") else []
    if audit.level == "bbc" and not audit.mixes:
        cited_references = [find_reference("bbc")]
    if audit.choosing is not None:
        cited_references.append(find_reference(audit.choosing.method))
    interval = None if audit.honest is None else audit.honest.interval
    if interval is not None:
        cited_references.append(find_reference(interval.method))
    cited_references = [reference for reference in dict.fromkeys(cited_references) if reference]
    return [*cited_references, *([ROUGH_REFERENCE] if audit.rough is not None else [])]


def _repeat_info(audit: Audit) -> ReproductionInfo:
    """Return the information that is needed to repeat an audit.

    It consists of the command or call, the seed, the data fingerprint and the versions.

    If the audit used only the scores of the search, nothing is known about how they were computed.
    """
    honest_risk = audit.honest
    call_facts: dict[str, str] = {}
    if isinstance(honest_risk, RiskEstimate):
        call_facts = {"seed": str(honest_risk.seed), "engine": honest_risk.engine}
        call_facts["data fingerprint"] = honest_risk.data_fingerprint
    return ReproductionInfo.from_call(_call(audit), call_facts, audit.versions)


def _call(audit: Audit) -> str:
    """Return the command that was typed, or the call in Python."""
    if audit.command:
        lines = audit.command.splitlines()
        return "\n".join(escape_and_truncate(command_line, 1000) for command_line in lines)
    argument_name = {"time": "time", "space": "block", "groups": "groups"}.get(audit.mixes or "")
    argument_text = "" if argument_name is None else f"{argument_name}={argument_name}, "
    data_arguments = "" if audit.level == "scores" else "X, y, "
    default_call = (
        f"tr.audit(search, {data_arguments}{argument_text}level={audit.level!r}, "
        f"confidence_level={audit.confidence_level:.15g})"
    )
    return escape_and_truncate(default_call, 1000)
