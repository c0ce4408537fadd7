"""Support vector machines: every C and fold from one Gram matrix per kernel.

| file | what it holds |
|---|---|
| `svm.py` | the engine, and what it is given: settings, tables |
| `gram.py` | inner products of all rows by SVC's arithmetic, Gram matrices from them |
| `stepping.py` | where libsvm itself stops, pair by pair, and whether it agrees |
| `svm_steps.py`, `_svm_steps.*` | libsvm's own steps on one Gram matrix, to the last bit |
"""
