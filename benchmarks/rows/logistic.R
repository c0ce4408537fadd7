# Rscript logistic.R FOLDER rows columns classes repeats: seconds of one path and of one 5-fold
# cv.glmnet, medians over repeats; FOLDER holds X, y, fold, lambda, and gets the coefficients.
suppressMessages(library(glmnet))
given <- commandArgs(trailingOnly = TRUE)
folder <- given[1]
n <- as.integer(given[2]); p <- as.integer(given[3]); k <- as.integer(given[4])
repeats <- as.integer(given[5])
numbers <- function(name, size) readBin(file.path(folder, name), "double", size)
x <- matrix(numbers("X", n * p), n, p)
y <- factor(numbers("y", n))
fold <- as.integer(numbers("fold", n)) + 1L
lambda <- numbers("lambda", 100)
family <- if (k == 2) "binomial" else "multinomial"
glmnet.control(fdev = 0, devmax = 1)  # the whole path, as truerisk gives it
clock <- function(work) median(sapply(seq_len(repeats), function(i) system.time(work())[["elapsed"]]))
inner <- if (n * p * k < 1e5) 10 else 1
path <- function() for (i in seq_len(inner)) fit <<- glmnet(x, y, family = family, lambda = lambda)
cross <- function() for (i in seq_len(inner))
  cv.glmnet(x, y, family = family, lambda = lambda, foldid = fold, type.measure = "class")
path()
cat(clock(path) / inner, clock(cross) / inner, length(fit$lambda), "\n")
b <- if (k == 2) list(fit$beta) else fit$beta
a <- if (k == 2) matrix(fit$a0, 1) else fit$a0
out <- file(file.path(folder, "solution"), "wb")
writeBin(as.double(a), out)
for (part in b) writeBin(as.double(as.matrix(part)), out)
close(out)
