"""Work for workers: small, deterministic, and some that misbehaves. Found by its place."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from truerisk.extend import BadData
from truerisk.study.driving import run_cells
from truerisk.study.queue import StudyRunOptions
from truerisk.study.store import Store
from truerisk.study.values import derive_seed, hash_plain_value

CELLS = ({"a": 1}, {"a": 2}, {"a": 3})


def numbers(content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]) -> dict:
    """Three normal numbers and a text, from the content and the number alone."""
    rng = np.random.default_rng(derive_seed(hash_plain_value(content), number))
    return {"x": rng.standard_normal(3), "mean": float(rng.random()), "text": f"{number}"}


def napping(content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]) -> dict:
    """The same, after a nap."""
    time.sleep(content.get("nap", 0.01))
    return numbers(content, number, arrays)


def moody(content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]) -> dict:
    """Raises at every fifth number."""
    if number % 5 == 3:
        raise ValueError(f"number {number} is one too many")
    return numbers(content, number, arrays)


def poisonous(content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]) -> dict:
    """Ends its process at one number of one cell."""
    if content.get("a") == 2 and number == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return napping(content, number, arrays)


def killed_once(content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]) -> dict:
    """Ends its process the first time that a number is tried; a file remembers."""
    mark = Path(content["folder"], "tried")
    if number == 5 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return napping(content, number, arrays)


def greedy(content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]) -> dict:
    """Number 1 wants 3 GB, number 2 never ends, number 3 ends its process badly."""
    if number == 1:
        np.ones(400_000_000).sum()
    if number == 2:
        time.sleep(600)
    if number == 3:
        ctypes.string_at(0)
    return numbers(content, number, arrays)


def summing(content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray]) -> dict:
    """The sum of the large array, and whether it could be written to."""
    (large,) = arrays
    return {"sum": float(large.sum()), "writable": bool(large.flags.writeable), "at": os.getpid()}


def run(path: Any, work: Callable, executor: Any = None, wanted: int = 10, **options: Any) -> None:
    """Drive a store to its end: three cells unless `cells` says otherwise."""
    cells = options.pop("cells", CELLS)
    arrays = options.pop("arrays", ())
    with Store.open_for_writing(path) as store:
        store.note({"kind": "test", "name": "test"})
        rules = StudyRunOptions(**{"patience": 20.0, **options})
        wants = store.request_replicates(cells, wanted)
        run_cells(store, wants, work, executor, arrays=arrays, rules=rules)


def found(path: Any) -> dict:
    """Every result by key and number, as bytes and text, to the last bit."""
    with Store.open_for_reading(path) as store:
        return {
            (cell.key, number): {
                k: v.tobytes() if isinstance(v, np.ndarray) else v for k, v in content.items()
            }
            for cell in store.cells()
            for number, _, _, content in store.results(cell)
        }


def once_begun(path: Any, act: Callable[[], None]) -> None:
    """Act as soon as the store holds a result, however long the first one takes."""

    def wait() -> None:
        begun = False
        while not begun:
            time.sleep(0.02)
            with suppress(BadData):  # there is no store yet
                begun = len(found(path)) > 0
        act()

    Thread(target=wait, daemon=True).start()
