"""Small pictures for notebooks: the same drawings, in the colours of the notebook."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from markupsafe import Markup

from truerisk.api.assessing.assessment import Assessment
from truerisk.core.present import setting_text
from truerisk.core.results import RiskCurve
from truerisk.report.curves import draw_lines
from truerisk.report.ladder import draw_ladder
from truerisk.report.svg import Drawing

MARKS = Path(__file__).parent / "marks.css"
LIGHT = "--ink:#1c2329;--muted:#56616b;--hair:#e8ebed;--line:#c3cad0;--s0:#1d5f96;--s1:#b4531c;"
DARK = "--ink:#e4e8eb;--muted:#a3aeb7;--hair:#272e34;--line:#46505a;--s0:#7db7e8;--s1:#f0a36b;"
NOTEBOOK = (
    "--paper:var(--jp-layout-color0,Canvas);--ink:var(--jp-content-font-color1,CanvasText);"
    "--hair:var(--jp-border-color3,#8883);max-width:560px;"
)


def ladder_picture(assessment: Assessment) -> str:
    """The optimism ladder of an assessment; nothing where there is no risk."""
    figure = draw_ladder(assessment)
    return "" if figure is None else _boxed(figure.drawing)


def curve_picture(curve: RiskCurve) -> str:
    """A risk curve with its band and the chosen setting; nothing where there is no curve."""
    if len(curve) < 2 or not np.isfinite(curve.values).any():
        return ""
    noun = curve.common.scale.noun.capitalize()
    chosen = setting_text(curve.best_params)
    about = f"{noun} of {len(curve)} settings; the ring is on {chosen}."
    drawing = draw_lines(f"{noun} curve", about, {curve.common.method: curve}, banded=curve)
    return "" if drawing is None else _boxed(drawing)


def _boxed(drawing: Drawing) -> str:
    """The drawing with its style; its name is its own, as a notebook shows many."""
    bare = drawing.svg("").encode("utf-8", "replace")
    word = f"truerisk-{hashlib.sha256(bare).hexdigest()[:10]}"
    style = (
        f".truerisk-picture{{{LIGHT}{NOTEBOOK}}}"
        f"@media (prefers-color-scheme:dark){{.truerisk-picture{{{DARK}}}}}"
        f".truerisk-picture{{{MARKS.read_text(encoding='utf-8')}}}"
    )
    return str(
        Markup('<div class="truerisk-picture"><style>{}</style>{}</div>').format(
            Markup(style), drawing.svg(word)
        )
    )
