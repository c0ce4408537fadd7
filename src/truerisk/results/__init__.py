"""Results that users hold: numbers with errors, intervals, curves; as text, JSON and frames."""
