"""What `permutation_test` is made of.

| file | what it holds |
|---|---|
| `orders.py` | which labels change places, and the risks of a procedure on them |
| `result.py` | `PermutationTest`: the p-value with what made it |
"""
