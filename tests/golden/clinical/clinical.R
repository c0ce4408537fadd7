# Writes the files of this folder; README.md explains them. SAheart.csv has the 462 rows of SAheart
# in ElemStatLearn 2015.6.26 (columns id, sbp, tobacco, ..., age, chd).
#   Rscript clinical.R SAheart.csv .
suppressMessages({library(survival); library(rms); library(pROC); library(riskRegression)})
given <- commandArgs(TRUE)
z <- qnorm(.975)

ratio_of <- function(observed, expected, se_log) {  # O/E with limits on the log scale
  ratio <- observed / expected
  list(value = ratio, se_log = se_log, low = ratio * exp(-z * se_log), high = ratio * exp(z * se_log))
}
sandwich <- function(X, score, bread, n) {          # times n/(n - 1), n the rows of positive weight
  s <- X * score
  sqrt(diag(bread %*% crossprod(s) %*% bread) * n / (n - 1))
}
line_of <- function(event, p, w = rep(1, length(p))) { # recalibration by (weighted) logistic regression
  lp <- qlogis(p)
  both <- suppressWarnings(glm(event ~ lp, binomial, weights = w, epsilon = 1e-14, maxit = 100))
  large <- suppressWarnings(glm(event ~ offset(lp), binomial, weights = w, epsilon = 1e-14))
  bread <- function(X, q) solve(t(X) %*% (X * (w * q * (1 - q))))
  X <- model.matrix(both); one <- model.matrix(large)
  list(intercept = coef(both)[[1]], slope = coef(both)[[2]], in_the_large = coef(large)[[1]],
       sandwich_se = unname(c(sandwich(X, w * (event - fitted(both)), bread(X, fitted(both)), sum(w > 0)),
                              sandwich(one, w * (event - fitted(large)), bread(one, fitted(large)), sum(w > 0)))),
       model_se = unname(sqrt(c(diag(bread(X, fitted(both))), diag(bread(one, fitted(large)))))))
}
benefit_of <- function(event, p, t, w = rep(1, length(p))) {
  kept <- w > 0; event <- event[kept]; p <- p[kept] # the weights sum to the number of these rows
  w <- w[kept] * sum(kept) / sum(w)
  gain <- event - (1 - event) * t / (1 - t)
  treated <- p >= t
  wald <- function(values) {
    m <- mean(w * values)
    se <- sd(w * (values - m)) / sqrt(length(values))
    list(value = m, se = se, low = m - z * se, high = m + z * se)
  }
  list(threshold = t, model = wald(gain * treated), all = wald(gain),
       minus_all = wald(gain * (treated - 1)), minus_none = wald(gain * treated))
}
write_json <- function(numbers, name)
  jsonlite::write_json(numbers, file.path(given[2], name), auto_unbox = TRUE, digits = NA, pretty = TRUE)
exact <- function(x) format(x, digits = 17, trim = TRUE, scientific = FALSE)

# ---- sa_heart: a logistic regression of every other row, validated on the others ----
heart <- read.csv(given[1])
develop <- seq_len(nrow(heart)) %% 2 == 1
model <- glm(chd ~ tobacco + ldl + famhist + typea + age, binomial, heart[develop, ], epsilon = 1e-14)
rows <- heart[!develop, ]
rows$p <- unname(predict(model, rows, type = "response"))
write.csv(data.frame(chd = rows$chd, famhist = rows$famhist, p = exact(rows$p)),
          file.path(given[2], "sa_heart.csv"), row.names = FALSE, quote = FALSE)
n <- nrow(rows); events <- sum(rows$chd); expected <- sum(rows$p)
drawn <- val.prob(rows$p, rows$chd, pl = FALSE)
area <- roc(rows$chd, rows$p, levels = c(0, 1), direction = "<", quiet = TRUE)
scored <- Score(list(m = rows$p), chd ~ 1, rows, metrics = c("auc", "brier"), summary = "ipa",
                null.model = TRUE, conservative = TRUE)
exact_share <- binom.test(events, n)$conf.int
set.seed(1)
draws <- replicate(4000, { b <- sample(n, replace = TRUE); sapply(c(.2, .3, .5), function(t) {
  found <- benefit_of(rows$chd[b], rows$p[b], t)
  c(found$minus_all$value, found$minus_none$value) }) })
write_json(list(
  n = n, events = events, expected = expected,
  observed_to_expected = ratio_of(events, expected, sqrt((1 - events / n) / events)),
  observed_to_expected_poisson = ratio_of(events, expected, sqrt(1 / events)),
  observed_to_expected_exact = list(low = exact_share[1] * n / expected, high = exact_share[2] * n / expected),
  brier = mean((rows$p - rows$chd)^2),
  scaled_brier = as.data.frame(scored$Brier$score)[2, "IPA"],
  auc = list(value = as.numeric(area$auc), se = sqrt(var(area)), interval = as.numeric(ci.auc(area))[c(1, 3)]),
  auc_logit_interval = { a <- as.numeric(area$auc); s <- sqrt(var(area)) / (a * (1 - a))
                         plogis(qlogis(a) + c(-1, 1) * z * s) },
  val_prob = as.list(drawn[c("C (ROC)", "R2", "D", "U", "Q", "Brier", "Intercept", "Slope", "Eavg")]),
  calibration = line_of(rows$chd, rows$p),
  by_famhist = lapply(split(rows, rows$famhist), function(r) c(
    list(n = nrow(r), events = sum(r$chd), expected = sum(r$p),
         observed_to_expected = ratio_of(sum(r$chd), sum(r$p), sqrt((1 - mean(r$chd)) / sum(r$chd))),
         auc = as.numeric(roc(r$chd, r$p, levels = c(0, 1), direction = "<", quiet = TRUE)$auc)),
    line_of(r$chd, r$p))),
  net_benefit = lapply(c(.2, .3, .5), function(t) benefit_of(rows$chd, rows$p, t)),
  net_benefit_bootstrap = list(thresholds = c(.2, .3, .5), replicates = 4000,
    minus_all = t(apply(draws[1, , ], 1, quantile, c(.025, .975), names = FALSE)),
    minus_none = t(apply(draws[2, , ], 1, quantile, c(.025, .975), names = FALSE)))
), "sa_heart.json")

# ---- gbsg and lung: a Cox regression of every other row, validated on the others ----
survival_numbers <- function(d, formula, subgroup, horizon, taus, name, thresholds) {
  environment(formula) <- environment()
  develop <- seq_len(nrow(d)) %% 2 == 1
  at <- function(fit, rows, t) {                     # risks by time t from lp (not centred) and H0
    lp <- predict(fit, rows, type = "lp", reference = "zero")
    H <- basehaz(fit, centered = FALSE)
    list(lp = unname(lp), risk = 1 - exp(-c(0, H$hazard)[findInterval(t, H$time) + 1] * exp(unname(lp))))
  }
  fits <- lapply(c(efron = "efron", breslow = "breslow"), function(ties)
    coxph(formula, d[develop, ], ties = ties, control = coxph.control(eps = 1e-11, iter.max = 100)))
  fit <- fits$efron
  models <- lapply(fits, function(f) {
    H <- basehaz(f, centered = FALSE)
    pick <- unique(round(seq(1, nrow(H), length.out = 8)))
    list(coef = as.list(coef(f)), se = as.list(sqrt(diag(vcov(f)))),
         baseline_time = H$time[pick], baseline_hazard = H$hazard[pick],
         baseline_hazard_at_horizon = H$hazard[findInterval(horizon, H$time)])
  })
  rows <- d[!develop, ]
  rows$lp <- at(fit, rows, horizon)$lp; rows$p <- at(fit, rows, horizon)$risk
  n <- nrow(rows); lp <- rows$lp
  kept <- unique(c("time", "event", all.vars(formula)[-(1:2)]))
  write.csv(cbind(d[kept], part = ifelse(develop, "development", "validation")),
            file.path(given[2], paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
  write.csv(data.frame(time = rows$time, event = rows$event, subgroup = rows[[subgroup]],
                       lp = exact(lp), p = exact(rows$p)),
            file.path(given[2], paste0(name, "_predictions.csv")), row.names = FALSE, quote = FALSE)

  # G, the probability of not being censored by t; an event comes before a censoring of the same time
  times <- sort(unique(rows$time))
  ended <- function(what) sapply(times, function(t) sum(rows$time == t & rows$event == what))
  followed <- sapply(times, function(t) sum(rows$time >= t)) - ended(1)
  G <- cumprod(1 - ended(0) / pmax(followed, 1))
  at_or_before <- function(t) c(1, G)[findInterval(t, times) + 1]
  before <- function(t) c(1, G)[findInterval(t, times, left.open = TRUE) + 1]

  harrell <- concordance(Surv(time, event) ~ lp, rows, reverse = TRUE)
  uno <- function(tau) {
    found <- if (is.null(tau)) concordance(Surv(time, event) ~ lp, rows, reverse = TRUE, timewt = "n/G2")
             else concordance(Surv(time, event) ~ lp, rows, reverse = TRUE, timewt = "n/G2", ymax = tau)
    list(tau = if (is.null(tau)) max(rows$time) else tau, value = found$concordance[[1]], se = sqrt(found$var[[1]]))
  }
  uno_by_hand <- function(tau) {                     # pairs whose first event is before tau, weighted 1/G(t-)^2
    top <- bottom <- 0
    for (i in which(rows$event == 1 & rows$time < tau)) {
      later <- rows$time > rows$time[i] | (rows$time == rows$time[i] & rows$event == 0)
      w <- before(rows$time[i])^-2
      bottom <- bottom + w * sum(later)
      top <- top + w * sum((lp[i] > lp[later]) + (lp[i] == lp[later]) / 2)
    }
    top / bottom
  }
  for (tau in taus) stopifnot(all.equal(uno_by_hand(tau), uno(tau)$value, tolerance = 1e-12))

  # Kaplan-Meier and censoring weights at the horizon
  km <- summary(survfit(Surv(time, event) ~ 1, rows), times = horizon, extend = TRUE)
  observed <- 1 - km$surv
  had <- as.numeric(rows$time <= horizon & rows$event == 1)
  w <- ifelse(had == 1, 1 / before(rows$time), ifelse(rows$time > horizon, 1 / at_or_before(horizon), 0))
  scored <- Score(list(m = matrix(rows$p)), Surv(time, event) ~ 1, rows, times = horizon,
                  metrics = c("auc", "brier"), cens.model = "km", summary = "ipa", conservative = FALSE)
  brier <- as.data.frame(scored$Brier$score)

  # integrated Brier: trapezoid rule in 50 steps up to a time, and the exact integral of the steps
  probability_at <- function(t) at(fit, rows, t)$risk
  brier_at <- function(t) {
    had <- rows$time <= t & rows$event == 1
    mean(ifelse(had, (1 - probability_at(t))^2 / before(rows$time),
                ifelse(rows$time > t, probability_at(t)^2 / at_or_before(t), 0)))
  }
  until <- sort(rows$time[rows$time < max(rows$time)])
  until <- until[floor(.9 * (length(until) - 1)) + 1]
  integrated <- function(end) {
    grid <- end * (1:50) / 50
    steps <- sort(unique(c(0, rows$time, basehaz(fit)$time))); steps <- c(steps[steps < end], end)
    b <- sapply(steps[-length(steps)], brier_at)
    list(until = end, trapezoid_50 = sum(sapply(grid, brier_at) * c(rep(1, 49), .5)) / 50,
         exact = sum(b * diff(steps)) / end)
  }
  by_riskRegression <- {
    grid <- until * (1:50) / 50
    s <- Score(list(m = sapply(grid, probability_at)), Surv(time, event) ~ 1, rows, times = grid, metrics = "brier",
               cens.model = "km", se.fit = FALSE, null.model = FALSE)
    sum(s$Brier$score$Brier * c(rep(1, 49), .5)) / 50
  }

  # calibration over all follow-up
  slope <- coxph(Surv(time, event) ~ lp, rows, control = coxph.control(eps = 1e-11, iter.max = 100))
  slope_breslow <- coxph(Surv(time, event) ~ lp, rows, ties = "breslow",
                         control = coxph.control(eps = 1e-11, iter.max = 100))
  robust <- coxph(Surv(time, event) ~ lp, rows, robust = TRUE)
  H <- basehaz(fit, centered = FALSE)
  hazard <- c(0, H$hazard)[findInterval(rows$time, H$time) + 1] * exp(lp)
  large <- glm(event ~ offset(log(hazard)), poisson, rows, subset = hazard > 0, epsilon = 1e-14)
  part <- function(r, weights) {
    k <- summary(survfit(Surv(time, event) ~ 1, r), times = horizon, extend = TRUE)
    o <- 1 - k$surv
    s <- coxph(Surv(time, event) ~ lp, r, control = coxph.control(eps = 1e-11, iter.max = 100))
    list(n = nrow(r), events = sum(r$event), observed = o, expected = mean(r$p),
         observed_to_expected = ratio_of(o, mean(r$p), k$std.err / o),
         harrell = concordance(Surv(time, event) ~ lp, r, reverse = TRUE)$concordance[[1]],
         cox_slope = coef(s)[[1]], cox_slope_se = sqrt(vcov(s)[1]),
         at_horizon = line_of(as.numeric(r$time <= horizon & r$event == 1), r$p, weights))
  }
  curve_by_km <- lapply(thresholds, function(t) {    # as dcurves does
    high <- rows$p >= t
    risk <- function(r) 1 - summary(survfit(Surv(time, event) ~ 1, r), times = horizon, extend = TRUE)$surv
    nb <- function(share, risk) share * (risk - (1 - risk) * t / (1 - t))
    list(threshold = t, model = if (any(high)) nb(mean(high), risk(rows[high, ])) else 0, all = nb(1, risk(rows)))
  })
  line_of_poisson <- list(value = coef(large)[[1]], se = sqrt(vcov(large)[1]))
  write_json(list(
    models = models, n = n, events = sum(rows$event), horizon = horizon,
    n_events_by_horizon = sum(had), n_censored_before_horizon = sum(rows$time < horizon & rows$event == 0),
    n_censored_by_horizon = sum(rows$time <= horizon & rows$event == 0),
    concordance = list(value = harrell$concordance[[1]], se = sqrt(harrell$var[[1]])),
    uno = c(list(uno(NULL)), lapply(taus, uno)),
    at_horizon = list(
      observed = observed, observed_se = km$std.err, observed_weighted = sum(w * had) / sum(w),
      expected = mean(rows$p), observed_to_expected = ratio_of(observed, mean(rows$p), km$std.err / observed),
      auc = as.data.frame(scored$AUC$score)[1, c("AUC", "se")],
      brier = brier[brier$model == "m", c("Brier", "se")], null_brier = brier[brier$model != "m", "Brier"],
      scaled_brier = brier[brier$model == "m", "IPA"],
      calibration = line_of(had, rows$p, w)),
    integrated_brier = c(integrated(until), riskRegression = by_riskRegression),
    integrated_brier_to_horizon = integrated(horizon),
    cox_slope = list(value = coef(slope)[[1]], se = sqrt(vcov(slope)[1]), robust_se = sqrt(vcov(robust)[1]),
                     breslow = coef(slope_breslow)[[1]], breslow_se = sqrt(vcov(slope_breslow)[1])),
    observed_to_expected_all_follow_up = c(list(observed = sum(rows$event), expected = sum(hazard),
      log_ratio = line_of_poisson), ratio_of(sum(rows$event), sum(hazard), sqrt(1 / sum(rows$event)))),
    net_benefit_weighted = lapply(thresholds, function(t) benefit_of(had, rows$p, t, w)),
    net_benefit_kaplan_meier = curve_by_km,
    subgroups = { parts <- split(seq_len(n), rows[[subgroup]])
                  lapply(parts, function(i) part(rows[i, ], w[i])) }
  ), paste0(name, ".json"))
}
g <- gbsg; g$time <- g$rfstime; g$event <- g$status
survival_numbers(g, Surv(time, event) ~ age + meno + size + grade + nodes + pgr + er + hormon, "hormon", 1825,
                 c(1095, 1825), "gbsg", c(.3, .5, .7))
l <- lung[!is.na(lung$ph.ecog), ]; l$event <- l$status - 1; l$ph_ecog <- l$ph.ecog
survival_numbers(l, Surv(time, event) ~ age + sex + ph_ecog, "sex", 365, c(365, 700), "lung", c(.4, .5, .7))
