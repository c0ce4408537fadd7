"""Support vector machines: every C and fold from one Gram matrix per kernel."""
