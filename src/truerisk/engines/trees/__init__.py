"""Engines for trees and ensembles, which predict for every size from the largest fitted model."""
