"""Tables of a risk curve: all settings, or the best ones if there are many."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from truerisk.core import formats, tables
from truerisk.results.results import RiskCurve
from truerisk.results.sentences import finding_lines

MAX_SHOWN_SETTINGS = 20  # A printed curve of more settings shows the best ones only.
N_BEST_SETTINGS = 10
CHOSEN_MARK, RIVAL_MARK = "chosen", "may be best (95 %)"


def curve_text(curve: RiskCurve) -> str:
    """Return the table and the findings that are printed for a risk curve."""
    candidates = _shown_candidates(curve)
    header = [*_header(curve), f"{curve.common.method}, rule {curve.rule}"]
    table = tables.text_table(header, _rows(curve, candidates, f"<- {CHOSEN_MARK}"))
    lines = [*_left_out(curve, candidates), *finding_lines(curve.findings)]
    return "\n".join([table, *lines])


def curve_blocks(curve: RiskCurve) -> list[tables.Block]:
    """Return the table of a risk curve, and a sentence if settings are left out."""
    candidates = _shown_candidates(curve)
    notes = [tables.Block("", [""], [[line]]) for line in _left_out(curve, candidates)]
    return [_block(curve, candidates), *notes]


def whole_table(curve: RiskCurve) -> tables.Block:
    """Return the table of all settings, in the order of the grid."""
    return _block(curve, range(len(curve)))


def _block(curve: RiskCurve, candidates: Iterable[int]) -> tables.Block:
    title = f"Risk curve ({curve.common.method})"
    return tables.Block(title, [*_header(curve), ""], _rows(curve, candidates, CHOSEN_MARK))


def _shown_candidates(curve: RiskCurve) -> list[int]:
    """Return the candidates to show: all in the order of the grid, or the best ones first.

    The chosen candidate is always among them.
    """
    if len(curve) <= MAX_SHOWN_SETTINGS:
        return list(range(len(curve)))
    losses = -curve.values if curve.greater_is_better else curve.values
    best_first = np.argsort(losses, kind="stable").tolist()
    shown = set(best_first[:N_BEST_SETTINGS])
    if curve.best not in shown:
        shown = {*best_first[: N_BEST_SETTINGS - 1], curve.best}
    return [candidate for candidate in best_first if candidate in shown]


def _left_out(curve: RiskCurve, candidates: list[int]) -> list[str]:
    """Return a line that says how many settings are not shown, and how to see them, if any."""
    n_left_out = len(curve) - len(candidates)
    n_rivals = len(curve.rivals or ())
    rivals = f", best_set() the {n_rivals} that may be best" if n_rivals else ""
    sentence = (
        f"Of the {len(curve)} settings, {n_left_out} are left out: to_frame() has all{rivals}."
    )
    return [sentence] if n_left_out else []


def _header(curve: RiskCurve) -> list[str]:
    heading = curve.common.scale.column_heading(curve.common.named_scoring)
    return ["candidate", heading, "std. error"]


def _rows(curve: RiskCurve, candidates: Iterable[int], chosen_mark: str) -> list[list[str]]:
    marks = {**dict.fromkeys(curve.rivals or (), RIVAL_MARK), curve.best: chosen_mark}
    return [
        [
            formats.format_params(estimate.params),
            formats.format_risk(estimate.value),
            formats.format_risk(estimate.std_error),
            marks.get(candidate, ""),
        ]
        for candidate in candidates
        for estimate in [curve[candidate]]
    ]
