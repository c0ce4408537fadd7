"""Results: risks, scores and curves with their uncertainty, as text, JSON and data frames."""
