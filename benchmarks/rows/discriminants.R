# One core of R: leave-one-out by MASS, lda or qda; prints the seconds of
# a run, a mean of many, and the rows it errs in.
suppressMessages(library(MASS))
arguments <- commandArgs(trailingOnly = TRUE)
n <- as.integer(arguments[3])
numbers <- readBin(arguments[2], "double", file.size(arguments[2]) / 8)
x <- matrix(numbers[-(1:n)], n)
y <- factor(numbers[1:n])
method <- get(arguments[1])
run <- function() method(x, y, CV = TRUE)$class
wrong <- which(run() != y) - 1
times <- as.integer(arguments[4])
spent <- system.time(for (i in seq_len(times)) run())[["elapsed"]]
cat(spent / times, wrong)
