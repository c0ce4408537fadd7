"""What `permutation_test` is made of.

| file | what it holds |
|---|---|
| `asked.py` | the tuned procedure and its data, of a search or of a model |
| `orders.py` | which labels change places: those of rows, of groups, of equal groups |
| `null.py` | risks of the procedure on permuted labels, here or on workers |
| `result.py` | `PermutationTest`: the p-value with what made it |
"""
