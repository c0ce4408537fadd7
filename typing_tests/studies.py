"""`Study` and the conformance kit as a type checker sees them; nothing here is run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, assert_type

import truerisk as tr
from truerisk.study.results import StudyResults
from truerisk.study.status import Status


def a_study() -> None:
    study = tr.Study("study.toml", "runs.db")
    assert_type(study.store, Path)
    assert_type(study.run(4, limit_seconds=60.0), StudyResults)
    assert_type(study.results().rows, tuple[Mapping[str, Any], ...])
    assert_type(study.results().compare("learner", size=50, rope=0.02), tr.ManyComparison)
    assert_type(study.status(), Status)
    assert_type(study.retry(), int)
    study.run(limit="60")  # type: ignore[call-arg]


def the_conformance_kit() -> None:
    tr.testing.check_method(tr.methods.KFold(5))
    tr.testing.check_engine(tr.methods.KFold(5))  # type: ignore[arg-type]
    tr.testing.method_chekcs  # type: ignore[attr-defined]
