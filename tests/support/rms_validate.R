# The numbers of tests/support/rms.json: Rscript tests/support/rms_validate.R
suppressMessages(library(rms))
options(digits = 12)
n <- 120; B <- 15
state <- 12345                                   # a linear congruential generator, as in the test
draw <- function(k) sapply(seq_len(k), function(i) {
  state <<- (state * 16807) %% 2147483647; state / 2147483647 })
x1 <- qnorm(draw(n)); x2 <- qnorm(draw(n)); x3 <- qnorm(draw(n))
y <- as.numeric(draw(n) < plogis(-0.5 + x1 + 0.5 * x2))
S <- matrix(floor(draw(n * B) * n) + 1, nrow = n) # column b holds the rows of sample b
given <- 0
own <- rms::predab.resample                       # rms draws by sample(): here the columns of S
environment(own) <- list2env(list(sample = function(x, size, replace = FALSE, ...) {
  if (!replace) return(base::sample(x))
  given <<- given %% B + 1; S[, given] }), parent = asNamespace("rms"))
assignInNamespace("predab.resample", own, "rms")
d <- data.frame(x1, x2, x3, y)
fit <- lrm(y ~ x1 + x2 + x3, data = d, x = TRUE, y = TRUE, tol = 1e-13, maxit = 50)
v <- validate(fit, B = B, tol = 1e-13, maxit = 50)
cat('{"validate": {\n')
rows <- c("Dxy", "R2", "Intercept", "Slope", "D", "U", "Q", "B")
cat(paste(sprintf('"%s": [%s]', rows,
  apply(v[rows, ], 1, function(r) paste(sprintf("%.10f", r), collapse = ", "))), collapse = ",\n"))
given_p <- plogis(-0.2 + 1.4 * x1 + 0.9 * x2)      # probabilities that are not fitted to y
w <- val.prob(given_p, y, pl = FALSE)
names <- c("C (ROC)", "U", "Brier", "Intercept", "Slope")
cat('},\n"val.prob": {\n')
cat(paste(sprintf('"%s": %.10f', names, w[names]), collapse = ",\n"))
lp <- qlogis(given_p)
large <- glm(y ~ offset(lp), family = binomial, epsilon = 1e-14)
knots <- quantile(lp, c(.05, .35, .65, .95))
basis <- rcspline.eval(lp, knots = knots, inclx = TRUE)
curve <- glm(y ~ basis, family = binomial, epsilon = 1e-14)
off <- abs(given_p - fitted(curve))
more <- c(large = unname(coef(large)), ici = mean(off), e50 = median(off),
          e90 = unname(quantile(off, .9)), emax = max(off))
line <- glm(y ~ lp, family = binomial, epsilon = 1e-14)
X <- model.matrix(line); h <- solve(t(X) %*% (X * fitted(line) * (1 - fitted(line))))
s <- X * (y - fitted(line)); V <- h %*% t(s) %*% s %*% h * n / (n - 1)
more <- c(more, se = sqrt(diag(V)))
cat('},\n"by hand": {\n')
cat(paste(sprintf('"%s": %.10f', names(more), more), collapse = ",\n"))
cat('}}\n')
