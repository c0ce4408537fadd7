# One core of R: Wallman's double cross-validation with class::knn, n_sets times; prints seconds.
suppressMessages(library(class))
n_sets <- as.integer(commandArgs(trailingOnly = TRUE)[1])
draw <- function(n) {
  x <- matrix(rnorm(4 * n), ncol = 2)
  x[(n + 1):(2 * n), 1] <- x[(n + 1):(2 * n), 1] + 2
  x
}
one <- function() {
  x <- draw(25); y <- factor(rep(0:1, each = 25))
  xt <- draw(5000); yt <- factor(rep(0:1, each = 5000))
  fold <- c(sample(rep_len(1:10, 25)), sample(rep_len(10:1, 25)))
  for (j in 1:10) {
    a <- x[fold != j, ]; b <- y[fold != j]
    errors <- sapply(1:(nrow(a) - 1), function(k) mean(knn.cv(a, b, k) != b))
    k <- which.min(errors)
    mean(knn(a, x[fold == j, , drop = FALSE], b, k) != y[fold == j])
    mean(knn(a, xt, b, k) != yt)
  }
}
set.seed(0)
one()
cat(system.time(for (i in seq_len(n_sets)) one())[["elapsed"]])
