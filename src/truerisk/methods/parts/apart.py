"""What is said of the distance between tested rows and those that their models saw."""

from __future__ import annotations

import numpy as np

from truerisk.core.plan.nearest_seen import distances_to_seen
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data

__all__ = ["apart_note"]


def apart_note(plan: Plan, data: Data) -> tuple[str, ...]:
    """At which distance from the training places the risk is one; nothing without places.

    >>> import numpy as np
    >>> from truerisk.core.plan.partitions import leave_out
    >>> places = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> data = Data.check(places, [0, 1, 0, 1], task="classification", block=places)
    >>> apart_note(leave_out(4, [np.array([0, 0, 1, 1])]), data)[0][:50]
    'the risk is that at places 2 to 3 (median 2.5) fro'
    """
    if data.places is None:
        return ()
    apart = distances_to_seen(plan, data.places)
    known = apart[np.isfinite(apart)]
    if not len(known):
        return ()
    least, middle, most = np.percentile(known, [0, 50, 100])
    said = (
        f"the risk is that at places {least:.3g} to {most:.3g} (median {middle:.3g}) from the "
        "nearest training row, Euclidean in the unit of block=: it says nothing of places further "
        "away."
    )
    return (said,)
