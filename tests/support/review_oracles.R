# The numbers of tests/support/review_oracles.json, by the sources of two R packages:
#   git clone https://github.com/stephenrho/pminternal   (read at f56dc51f)
#   git clone https://github.com/bommert/stabm           (read at 72f17a66)
#   Rscript tests/support/review_oracles.R pminternal stabm
folders <- commandArgs(trailingOnly = TRUE)
options(digits = 12)
n <- 120; B <- 15
state <- 12345                                   # rows and samples of rms_validate.R
draw <- function(k) sapply(seq_len(k), function(i) {
  state <<- (state * 16807) %% 2147483647; state / 2147483647 })
x1 <- qnorm(draw(n)); x2 <- qnorm(draw(n)); x3 <- qnorm(draw(n))
y <- as.numeric(draw(n) < plogis(-0.5 + x1 + 0.5 * x2))
S <- matrix(floor(draw(n * B) * n) + 1, nrow = n)
d <- data.frame(x1, x2, x3, y)

pm <- new.env()
for (file in c("util.R", "boot_optimism.R", "stability_plot.R"))
  sys.source(file.path(folders[1], "R", file), pm)
given <- 0
pm$sample <- function(x, replace) { given <<- given + 1; S[, given] }
exact <- function(formula, data)
  glm(formula, binomial, data, control = glm.control(1e-14, 100))
score <- function(y, p, ...) {
  line <- coef(exact(y ~ qlogis(p), data.frame(y, p)))
  ranks <- rank(p); m <- sum(y)
  c(C = (sum(ranks[y == 1]) - m * (m + 1) / 2) / (m * (length(y) - m)),
    Brier = mean((y - p)^2), Intercept = unname(line[1]), Slope = unname(line[2]))
}
found <- pm$boot_optimism(d, "y", function(data, ...) exact(y ~ x1 + x2 + x3, data),
  function(model, data, ...) predict(model, newdata = data, type = "response"), score,
  method = "boot", B = B)
pm$get_stability <- function(x) list(stability = x$stability, y = y)
mape <- pm$mape_stability(found, plot = FALSE)
cii <- pm$classification_stability(found, threshold = 0.5, plot = FALSE)
bounds <- pm$prediction_stability(found, plot = FALSE)
limits <- t(apply(bounds[, -1], 1, quantile, probs = c(.025, .975)))

sm <- new.env()
for (file in list.files(file.path(folders[2], "R"), full.names = TRUE))
  if (!grepl("documentation|bibentries|zzz|plot", file)) sys.source(file, sm)
sets <- list(list(1:3, 1:4, 1:5), list(c(1, 2, 5), 1:3, c(1, 3, 6), 1:2, 1:4), list(1:7, 3:9, 2:6, 7))
of <- c(10, 6, 12)
index <- mapply(function(features, p) sm$nogueira$scoreFun(features, p), sets, of)

suppressMessages(library(rms))                   # 6.5 of Debian, with the samples as in rms_validate.R
given <- 0
own <- rms::predab.resample
environment(own) <- list2env(list(sample = function(x, size, replace = FALSE, ...) {
  if (!replace) return(base::sample(x))
  given <<- given %% B + 1; S[, given] }), parent = asNamespace("rms"))
assignInNamespace("predab.resample", own, "rms")
d$amount <- x1 + x2^2 / 2 + sin(5 * x3)
v <- validate(ols(amount ~ x1 + x2 + x3, data = d, x = TRUE, y = TRUE), B = B)
ols_rows <- v[c("R-square", "MSE", "Intercept", "Slope"), ]

show <- function(values) paste(sprintf("%.12f", values), collapse = ", ")
cat('{"apparent": [', show(found$apparent), '],\n"optimism": [', show(found$optimism),
  '],\n"corrected": [', show(found$corrected), '],\n"mape": [',
  show(c(mape$average_mape, mape$individual_mape)), '],\n"cii": [', show(cii),
  '],\n"width": ', show(mean(limits[, 2] - limits[, 1])), ',\n"nogueira": [', show(index), '],\n"ols": [[', show(ols_rows[1, ]), '], [', show(ols_rows[2, ]),
  '], [', show(ols_rows[3, ]), '], [', show(ols_rows[4, ]), ']]}\n', sep = "")
