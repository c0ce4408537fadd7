"""Run or continue a study."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from truerisk.cli.bodies.study import INCOMPLETE
from truerisk.cli.output import say, show, shown_progress, worded_warnings
from truerisk.cli.signals import interrupted_code, interruption_message
from truerisk.core.errors import BadStore
from truerisk.study.status import Status
from truerisk.study.study import Study


def run(
    spec: Path | None, store: Path, as_json: bool, allow_import: bool, options: dict[str, Any]
) -> int:
    """Run or continue a study, and return the exit code."""
    here = str(Path.cwd())
    if allow_import and here not in sys.path:  # modules beside the specification
        sys.path.insert(0, here)
    made = Study(spec, store, allow_import=allow_import)
    try:
        with worded_warnings(), shown_progress():
            results = made.run(**options)
    except KeyboardInterrupt as stopped:
        try:
            status = made.status()
        except BadStore:  # The store does not exist yet.
            raise stopped from None
        say(
            f"truerisk: {interruption_message()}; {status.done} of {status.total} results are kept "
            f"in {store}. Go on with `truerisk study resume --store {store}`."
        )
        return interrupted_code()
    show(json.dumps(results.to_dict()) if as_json else str(results))
    return _judged(made.status(), store)


def _judged(status: Status, store: Path) -> int:
    lost = status.failed + status.quarantined
    if status.complete:
        return 0
    say(
        f"truerisk: {lost} of {status.total} replicates have no result ({status.failed} failed, "
        f"{status.quarantined} quarantined): see `truerisk study status --store {store}`, and "
        f"`truerisk study retry --failed --store {store}`."
    )
    return INCOMPLETE
