"""Results: numbers with errors and intervals, and curves, as text, JSON and data frames."""
