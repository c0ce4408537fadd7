"""The random numbers of replicates."""

from __future__ import annotations

from truerisk.papers.experiment import stream


def test_a_stream_depends_on_name_seed_and_number():
    """Each of the three gives other numbers, and the same three the same ones."""
    first = stream("a", 0, 0).random(3).tolist()
    assert stream("a", 0, 0).random(3).tolist() == first
    others = [stream("b", 0, 0), stream("a", 1, 0), stream("a", 0, 1)]
    assert all(rng.random(3).tolist() != first for rng in others)
