"""Trees and ensembles: all sizes from the largest."""
