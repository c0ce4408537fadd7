# One core of R: the .632+ bootstrap of ipred with given samples; prints the median seconds and the estimate.
suppressMessages({library(ipred); library(MASS); library(rpart)})
arguments <- commandArgs(trailingOnly = TRUE)
n <- as.integer(arguments[3]); replicates <- as.integer(arguments[4])
numbers <- readBin(arguments[2], "double", file.size(arguments[2]) / 8)
samples <- matrix(numbers[1:(n * replicates)], n)
rest <- numbers[-(1:(n * replicates))]
data <- data.frame(y = factor(rest[1:n]), matrix(rest[-(1:n)], n))
class_of <- function(object, newdata) predict(object, newdata = newdata)$class
kinds <- list(
  lda = list(model = lda, predict = class_of),
  knn = list(model = function(formula, data) ipredknn(formula, data, k = 5),
             predict = function(object, newdata) predict(object, newdata, type = "class")),
  logistic = list(model = function(formula, data) glm(formula, data = data, family = binomial),
                  predict = function(object, newdata) factor(as.integer(predict(object, newdata) > 0), levels = 0:1)),
  tree = list(model = rpart, predict = function(object, newdata) predict(object, newdata, type = "class")))
kind <- kinds[[arguments[1]]]
given <- control.errorest(nboot = replicates, list.tindx = lapply(1:replicates, function(b) samples[, b] + 1))
run <- function() errorest(y ~ ., data = data, model = kind$model, predict = kind$predict,
                           estimator = "632plus", est.para = given)$error
value <- run()
seconds <- median(replicate(as.integer(arguments[5]), system.time(run())[["elapsed"]]))
cat(seconds, format(value, digits = 16))
