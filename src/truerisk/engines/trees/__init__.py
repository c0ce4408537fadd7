"""Parts of the engines of trees and of ensembles."""
