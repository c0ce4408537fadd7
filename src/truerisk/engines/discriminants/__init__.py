"""Parts of the engines of linear, quadratic and Fisher's discriminants."""
