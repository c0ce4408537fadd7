"""How the generic engine asks fitted models what a plan asks besides answers about rows."""
