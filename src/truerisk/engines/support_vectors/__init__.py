"""Support vector machines: every C and fold from one Gram matrix per kernel.

| file | what it holds |
|---|---|
| `svm.py` | the engine |
| `setting.py` | which settings of SVC it serves |
| `tables.py` | tables as SVC takes them, dense or sparse, and its gamma |
| `gram.py` | inner products of all rows by SVC's arithmetic, Gram matrices from them |
| `stepping.py` | where libsvm itself stops, pair by pair, and the votes |
| `agreement.py` | whether its steps are those of the installed release |
"""
