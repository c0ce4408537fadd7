"""What a reviewer asks of a model: parts of a `Validation`, from arrays alone.

| file | what it holds |
|---|---|
| `validation.py` | `Validation`: all parts, and why some are missing |
| `held_out.py` | `HeldOut`: answers about rows that the models had not seen |
"""
