"""How an audit was made, as a paragraph to paste into a paper, and how to make it again."""

from __future__ import annotations

from truerisk.core.present import MODELS_SAW, clean, number
from truerisk.report.audit_document import AuditDocument
from truerisk.report.methods_text import REFERENCES, Repeat, reference_of

__all__ = ["audited", "audited_again", "audited_on"]

ROUGH = (
    "Tibshirani RJ, Tibshirani R (2009). A bias correction for the minimum error rate in "
    "cross-validation. Annals of Applied Statistics 3:822–829."
)


def audited(document: AuditDocument) -> str:
    """The methods paragraph."""
    said = [_claimed(document), _how(document), _rough(document), _verdict(document)]
    return " ".join([one for one in said if one] + [_computed(document)])


def _claimed(document: AuditDocument) -> str:
    n, search = document.n_candidates, clean(document.search, 60)
    compared = f"compared {n} settings and chose" if n > 1 else "tried one setting,"
    return (
        f"A {search} {compared} {document.setting}, with {document.scale.of(document.loss)} "
        f"{number(document.claimed.value)} by the very scores that it chose by."
    )


def _how(document: AuditDocument) -> str:
    honest = document.honest
    if honest is None or honest.value is None or document.is_rough:
        return ""
    found = f"{number(honest.value)}{_interval(document)}"
    if document.mixes:
        return _kept_apart(document, found)
    if document.level == "bbc":
        return (
            "The predictions of every setting for rows left out were made again on the splits of "
            "the search; on rows drawn with replacement the setting was chosen anew and tested on "
            f"the rows not drawn (bootstrap bias corrected cross-validation), which gave {found}."
        )
    how = clean(honest.method, 80)
    return (
        "The whole search was repeated on training sets and tested on rows that took no part in "
        f"it ({how}), which gave {found}."
    )


def _kept_apart(document: AuditDocument, found: str) -> str:
    assert document.honest is not None
    alone = document.choosing
    said = f"Its splits tested models that saw {MODELS_SAW[document.mixes]}"
    if alone is not None:
        said += f"; corrected for the choice alone ({clean(alone.method, 80)}) its "
        said += f"{document.scale.noun} would be {number(alone.value)}"
    how = clean(document.honest.method, 80)
    return f"{said}. Tested by models without these rows ({how}) it was {found}."


def _interval(document: AuditDocument) -> str:
    interval = None if document.honest is None else document.honest.interval
    if interval is None:
        return " (no interval)"
    level = f"{100 * interval.confidence_level:g} %"
    low, high = number(interval.low), number(interval.high)
    return f" ({level} interval {low} to {high}, {clean(interval.method, 40)})"


def _rough(document: AuditDocument) -> str:
    if document.rough is None:
        return ""
    return (
        "The correction of Tibshirani and Tibshirani, from the scores of the splits alone, gave "
        f"{number(document.rough.value)}."
    )


def _verdict(document: AuditDocument) -> str:
    if document.refuted is None:
        return ""
    return f"The claim lies {'outside' if document.refuted else 'inside'} the interval."


def _computed(document: AuditDocument) -> str:
    version = clean(document.versions.get("truerisk", "of unknown version"), 40)
    learn = clean(document.versions.get("sklearn", ""), 40)
    return f"Computed with truerisk {version}{f' and scikit-learn {learn}' if learn else ''}."


def audited_on(document: AuditDocument) -> list[str]:
    """What the paragraph rests on."""
    level = document.level if document.level != "bbc" or not document.mixes else "mixed"
    found = {"bbc": [reference_of("bbc")], "nested": [REFERENCES["nested"]]}.get(level, [])
    if document.choosing is not None:
        found.append(reference_of(document.choosing.method))
    interval = None if document.honest is None else document.honest.interval
    if interval is not None:
        found.append(reference_of(interval.method))
    found = [reference for reference in dict.fromkeys(found) if reference]
    return [*found, *([ROUGH] if document.rough is not None else [])]


def audited_again(document: AuditDocument) -> Repeat:
    """The command or call, the seed, the fingerprint and the versions."""
    call = "\n".join(clean(line, 1000) for line in document.command.splitlines())
    word = {"time": "time", "space": "block", "groups": "groups"}.get(document.mixes)
    known = "" if word is None else f"{word}={word}, "
    rows = "" if document.level == "scores" else "X, y, "
    usual = (
        f"tr.audit(search, {rows}{known}level={document.level!r}, "
        f"confidence_level={document.confidence:g})"
    )
    facts = () if document.honest is None else document.honest.facts
    return Repeat(
        call or clean(usual, 1000),
        (
            *((clean(name, 40), clean(value, 80)) for name, value in facts),
            *((clean(name, 40), clean(v, 40)) for name, v in document.versions.items()),
        ),
    )
