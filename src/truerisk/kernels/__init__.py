"""Arrays in, arrays out: the loops that NumPy cannot take over, compiled.

========================  ==========================================================
file                      what it holds
========================  ==========================================================
``votes.py``              k-nearest-neighbour votes for every k from one sorted list
``neighbours.py``         the nearest rows of every query: one product and a selection
``walk.py``               lists of neighbours walked for every fit of a plan
``few_rows.py``           the nearest of a few rows, by sorting all distances (NumPy)
``intervals.py``          least errors with at most k intervals on the line, for every k
``logistic.py``           the path of penalised logistic regression, all penalties at once
``spectral.py``           penalised least squares in a diagonal basis, every penalty (NumPy)
``leverage.py``           every row left out of it (NumPy)
``lbfgs.py``              L-BFGS-B on logistic regression, step by step as SciPy takes them
``svm_steps.py``          support vectors on one Gram matrix by libsvm's own steps, to the last bit
``normal_equations.py``   least squares without blocks of rows, hundreds of fits at once
``descent.py``            the elastic net by scikit-learn's coordinate descent, all penalties
``trees.py``              scikit-learn's trees on many samples of one table
``row_sums.py``           checksums of rows, in one pass at the speed of memory
``cells.py``              delimited text cut into cells, numbers and distinct cells
``loading.py``            imports the compiled module, or says why it cannot
``_native.cpp``           the compiled loops, one Python caller each
``_native.pyi``           their types
========================  ==========================================================

The caller in Python checks shapes and bounds; the loop trusts them. Nothing here falls back on
NumPy in silence: without the compiled module `available` is False, `why_not` holds the reason, and
a kernel raises `truerisk.core.errors.Refusal`. An engine asks first and passes the reason on.
"""

from __future__ import annotations

from truerisk.kernels.loading import available, why_not

__all__ = ["available", "why_not"]
