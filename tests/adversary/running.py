"""Sides of a case in a process of their own, which is ended and replaced when its time is over."""

import multiprocessing
import time
import traceback
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tests.adversary.cases import Case
from tests.adversary.pasted import seen

__all__ = ["Here", "Outcome", "Worker", "one_side", "prepared"]


@dataclass(frozen=True)
class Outcome:
    """What one side said: numbers by name, or how it failed; and what it warned of."""

    numbers: dict[str, Any] = field(default_factory=dict)
    error: str = ""  # the class
    message: str = ""
    worded: bool = False  # whether the error is truerisk's own
    warned: dict[str, str] = field(default_factory=dict)  # by category, one text
    engine: str = ""
    seconds: float = 0.0
    late: bool = False


class Here:
    """Makes sides in this process, however long they take."""

    def outcomes(self, case: Case) -> dict[str, Outcome]:
        """Every side of a case."""
        try:
            space = prepared(case.script)
        except Exception as error:  # noqa: BLE001  a case made too small, as a rule
            return {name: _no_script(error) for name in case.sides}
        return {name: one_side(space, call) for name, call in case.sides.items()}


def _no_script(error: Exception) -> Outcome:
    """What is said of every side of a script that cannot be run."""
    return Outcome(error="NoScript", message=repr(error), worded=True)


def prepared(script: str) -> dict[str, Any]:
    """The names that a script defines."""
    space: dict[str, Any] = {"__name__": "case"}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(script, "<case>", "exec"), space)
    return space


def one_side(space: dict[str, Any], call: str) -> Outcome:
    """What one call says."""
    from truerisk.exceptions import TrueRiskError

    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = eval(call, space)
            made: dict[str, Any] = {"numbers": _plain(result), "engine": _engine(result)}
        except TrueRiskError as error:
            made = {"error": type(error).__name__, "message": str(error), "worded": True}
        except Exception as error:  # noqa: BLE001  what is looked for
            made = {"error": type(error).__name__, "message": traceback.format_exc(limit=-4)}
    warned = {w.category.__name__: str(w.message)[:300] for w in caught}
    return Outcome(**made, warned=warned, seconds=time.perf_counter() - started)


def _plain(result: Any) -> dict[str, Any]:
    return result if isinstance(result, dict) else seen(result)


def _engine(result: Any) -> str:
    return (
        "by hand"
        if isinstance(result, dict)
        else getattr(result, "common", result).__dict__.get("engine", "")
    )


class Worker:
    """A process that makes sides one after the other, each within a limit of seconds."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, there = context.Pipe()
        self.process = context.Process(target=_serve, args=(there,))  # which may have children
        self.process.start()
        self.pipe.recv()  # it has imported all it needs

    def outcomes(self, case: Case) -> dict[str, Outcome]:
        """Every side; one that is late or ends the process is said to be so."""
        found: dict[str, Outcome] = {}
        for name, call in case.sides.items():
            self.pipe.send((case.script, call))
            try:
                if self.pipe.poll(self.limit):
                    found[name] = self.pipe.recv()
                    continue
                found[name] = Outcome(error="OutOfTime", late=True, seconds=self.limit)
            except EOFError:
                found[name] = Outcome(error="Died", message="the process ended")
            self.close()
            self._start()
        return found

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _serve(pipe: Any) -> None:
    import truerisk
    from truerisk.engines import generic

    pipe.send((truerisk.__version__, generic.__name__))
    script, space = "", {}
    while True:
        try:
            asked, call = pipe.recv()
        except EOFError:
            return
        try:
            if asked != script:
                script, space = asked, prepared(asked)
            pipe.send(one_side(space, call))
        except Exception as error:  # noqa: BLE001
            script = ""
            pipe.send(_no_script(error))
