# What R says of the rows in survival_oracles.json, with the standard errors of C and Brier's score:
#   Rscript tests/support/survival_oracles.R tests/support/survival_oracles.json
# (survival 3.5-3, riskRegression 2022.11.28, jsonlite)
library(survival)
library(riskRegression)
options(digits = 12)
d <- as.data.frame(jsonlite::fromJSON(commandArgs(TRUE)[1])$rows)
for (weight in c("n", "n/G2")) {
  found <- concordance(Surv(time, event) ~ risk, d, reverse = TRUE, timewt = weight)
  print(c(found$concordance, sqrt(found$var)))
}
scored <- Score(
  list(m = cbind(d$p5, d$p10)), formula = Surv(time, event) ~ 1, data = d, times = c(5, 10),
  metrics = c("auc", "brier"), cens.model = "km", null.model = FALSE, conservative = FALSE
)
print(scored$Brier$score)
print(scored$AUC$score)
