# Writes tidymodels.csv and caret.csv (raw tables of out-of-fold predictions), and from them the
# tables for truerisk in docs/: Rscript tables.R ../../../docs/patients.csv ../../../docs
# (R 4.2.2, caret 6.0-93, rsample 1.1.1, rpart 4.1.19, dplyr 1.0.10, readr 2.1.4). The package tune
# could not be installed, so that `tuned` is a table with the columns of its collect_predictions().
suppressMessages({library(caret); library(rsample); library(dplyr)})
given <- commandArgs(TRUE)
here <- getwd()
patients <- na.omit(read.csv(given[1], stringsAsFactors = TRUE)[-1])

# ---- a tree of rpart, five folds of rsample, four depths and two leaf sizes ----
set.seed(1)
folds <- vfold_cv(patients, v = 5, strata = relapse)
grid <- expand.grid(tree_depth = c(1, 2, 3, 6), min_n = c(2, 12))
grid$.config <- sprintf("Preprocessor1_Model%d", seq_len(nrow(grid)))
tuned <- bind_rows(lapply(seq_len(nrow(folds)), function(k) bind_rows(lapply(seq_len(nrow(grid)), function(g) {
  split <- folds$splits[[k]]
  fit <- rpart::rpart(relapse ~ ., analysis(split), cp = 0, maxdepth = grid$tree_depth[g], minsplit = grid$min_n[g])
  yes <- round(predict(fit, assessment(split))[, "yes"], 4)
  data.frame(id = folds$id[k], .pred_no = round(1 - yes, 4), .pred_yes = yes, .row = complement(split),
             tree_depth = grid$tree_depth[g], min_n = grid$min_n[g], relapse = assessment(split)$relapse,
             .pred_class = ifelse(yes > .5, "yes", "no"), .config = grid$.config[g])
}))))
write.csv(tuned, "tidymodels.csv", row.names = FALSE, quote = FALSE)
collect_predictions <- identity
setwd(given[2])
collect_predictions(tuned) |>
  transmute(candidate = .config, row = .row, fold = id, y = relapse,
            probability_no = .pred_no, probability_yes = .pred_yes) |>
  readr::write_csv("tidymodels.csv")

# ---- caret ----
set.seed(1)
control <- trainControl("cv", 10, savePredictions = "all", classProbs = TRUE)
model <- train(relapse ~ ., data = patients, method = "knn", trControl = control, tuneLength = 6)
p <- model$pred
predictions <- data.frame(candidate = do.call(paste, p[names(model$bestTune)]),
                          row = p$rowIndex, fold = p$Resample, y = p$obs,
                          probability_no = p$no, probability_yes = p$yes)
write.csv(predictions, "caret.csv", row.names = FALSE)
setwd(here)
write.csv(p, "caret.csv", row.names = FALSE, quote = FALSE)
