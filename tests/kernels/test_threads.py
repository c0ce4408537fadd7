"""Compiled functions release the GIL, and share nothing between threads."""

import sys
import sysconfig
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.kernels import native_module

# One compiled function that each of the searches calls.
FUNCTIONS = (
    "walk_plan",
    "grow_trees",
    "svm_steps_of_each",
    "logistic_lbfgs",
    "solve_without",
    "descend",
)
SEARCHES = (
    (KNeighborsClassifier(), {"n_neighbors": range(1, 20)}),
    (DecisionTreeClassifier(random_state=0), {"min_samples_leaf": [1, 5, 10]}),
    (SVC(), {"C": [0.1, 1, 10]}),
    (
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [0.01, 0.1, 1, 10]},
    ),
    (Ridge(), {"alpha": [0.1, 1, 10]}),
    (ElasticNet(), {"alpha": [0.01, 0.1, 1]}),
)


def test_searches_in_threads_give_the_risks_of_searches_in_turn():
    X, y = tr.datasets.make_simple(120, random_state=1)

    def risk(number):
        model, grid = SEARCHES[number % len(SEARCHES)]
        search = tr.HonestSearchCV(model, grid, cv="5-fold").fit(X, y.astype(int))
        return number % len(SEARCHES), search.risk_.value, search.risk_.interval.low

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(risk, range(8 * len(SEARCHES))))
    assert found == [risk(number) for number in range(len(SEARCHES))] * 8


def copy_arrays(arguments):
    return [
        value.copy(order="K") if isinstance(value, np.ndarray) else value for value in arguments
    ]


@pytest.fixture
def recorded_calls(monkeypatch):
    """Return the calls of compiled functions by the searches: arguments before and after."""
    X, y = tr.datasets.make_simple(120, random_state=1)
    native, calls = native_module(), defaultdict(list)

    def recorder(name, function):
        def record(*positional, **named):
            values = [*positional, *named.values()]
            before = copy_arrays(values)
            result = function(*positional, **named)
            calls[name].append((len(positional), tuple(named), before, copy_arrays(values)))
            return result

        return record

    with monkeypatch.context() as patched:
        for name, function in vars(native).items():
            if callable(function) and not isinstance(function, type):
                patched.setattr(native, name, recorder(name, function))
        for model, grid in SEARCHES:
            tr.HonestSearchCV(model, grid, cv="5-fold").fit(X, y.astype(int))
    return calls


def test_compiled_functions_write_the_same_arrays_in_four_threads(recorded_calls):
    """Repeat calls without any Python code between them, so that they overlap in time.

    Searches in threads hardly overlap in compiled functions, which take microseconds.
    """
    assert recorded_calls.keys() >= set(FUNCTIONS)
    n_threads, n_calls, n_rounds = 4, 50, 10
    barrier = Barrier(n_threads)

    def count_differences(name, thread):
        calls, n_different = recorded_calls[name], 0
        function = getattr(native_module(), name)
        first = thread * len(calls) // n_threads
        own_calls = [calls[(first + i) % len(calls)] for i in range(n_calls)]
        for _ in range(n_rounds):
            values = [copy_arrays(before) for _, _, before, _ in own_calls]
            ready = [
                (call_values[:n], dict(zip(names, call_values[n:], strict=True)))
                for call_values, (n, names, _, _) in zip(values, own_calls, strict=True)
            ]
            barrier.wait(60)
            for positional, named in ready:
                function(*positional, **named)
            for call_values, (_, _, _, after) in zip(values, own_calls, strict=True):
                n_different += any(
                    isinstance(value, np.ndarray) and value.tobytes("K") != expected.tobytes("K")
                    for value, expected in zip(call_values, after, strict=True)
                )
        return n_different

    with ThreadPoolExecutor(n_threads) as threads:
        different = {
            name: sum(threads.map(count_differences, [name] * n_threads, range(n_threads)))
            for name in recorded_calls
        }
    assert different == dict.fromkeys(recorded_calls, 0)


def test_native_module_leaves_the_gil_disabled():
    """A free-threaded Python enables the GIL if it imports a module that needs it."""
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    assert has_gil == (not sysconfig.get_config_var("Py_GIL_DISABLED"))
