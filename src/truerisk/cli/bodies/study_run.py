"""Implementation of `truerisk study run` and `truerisk study resume`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from truerisk.cli.bodies.study import EXIT_INCOMPLETE
from truerisk.cli.output import print_stderr, print_warnings_at_end, show, show_progress
from truerisk.cli.signals import interruption_exit_code, interruption_message
from truerisk.core.errors import BadStore
from truerisk.study.status import Status
from truerisk.study.study import Study


def run(
    spec: Path | None, store: Path, as_json: bool, allow_import: bool, run_options: dict[str, Any]
) -> int:
    """Run a study, or continue it if `spec` is None; print the results, return the exit code."""
    current_folder = str(Path.cwd())
    if allow_import and current_folder not in sys.path:  # The study may import local modules.
        sys.path.insert(0, current_folder)
    study = Study(spec, store, allow_import=allow_import)
    try:
        with print_warnings_at_end(), show_progress():
            results = study.run(**run_options)
    except KeyboardInterrupt as interruption:
        try:
            status = study.status()
        except BadStore:  # The run was interrupted before the store existed.
            raise interruption from None
        print_stderr(
            f"truerisk: {interruption_message()}; {status.done} of {status.total} results are kept "
            f"in {store}. Go on with `truerisk study resume --store {store}`."
        )
        return interruption_exit_code()
    show(json.dumps(results.to_dict()) if as_json else str(results))
    return _report_completeness(study.status(), store)


def _report_completeness(status: Status, store: Path) -> int:
    n_without_result = status.failed + status.quarantined
    if status.complete:
        return 0
    print_stderr(
        f"truerisk: {n_without_result} of {status.total} replicates have no result "
        f"({status.failed} failed, "
        f"{status.quarantined} quarantined): see `truerisk study status --store {store}`, and "
        f"`truerisk study retry --failed --store {store}`."
    )
    return EXIT_INCOMPLETE
