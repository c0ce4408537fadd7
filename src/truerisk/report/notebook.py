"""Small pictures for notebooks: the same drawings, in the colours of the notebook."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from markupsafe import Markup

from truerisk.report.record_figures import figure_of
from truerisk.report.svg import Drawing

MARKS = Path(__file__).parent / "marks.css"
LIGHT = (
    "--ink:#1c2329;--muted:#56616b;--hair:#e8ebed;--line:#c3cad0;--s0:#1d5f96;--s1:#b4531c;"
    "--s2:#2f7a55;--s3:#7a4a92;--s4:#8a6a10;--s5:#5b6770;"
)
DARK = (
    "--ink:#e4e8eb;--muted:#a3aeb7;--hair:#272e34;--line:#46505a;--s0:#7db7e8;--s1:#f0a36b;"
    "--s2:#7ccba2;--s3:#c79be0;--s4:#d9bd5e;--s5:#a9b4bd;"
)
NOTEBOOK = (
    "--paper:var(--jp-layout-color0,Canvas);--ink:var(--jp-content-font-color1,CanvasText);"
    "--hair:var(--jp-border-color3,#8883);max-width:560px;"
)


def picture(result: Any) -> str:
    """The drawing of a result; nothing where it has none."""
    figure = figure_of(result)
    return "" if figure is None else _boxed(figure.drawing)


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
