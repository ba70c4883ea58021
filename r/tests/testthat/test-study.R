test_that("a study from R is the study of Python, to the last digit", {
  skip_without_python()
  data <- patients()
  found <- study(data$x, data$y, c("anova:k=2|3", lasso = "lasso:k=2"), n = 10, estimator = "knn", seed = 3)
  table <- summary(found)
  expect_identical(table$candidate, c("anova(n_features=2)", "anova(n_features=3)", "lasso"))
  file <- tempfile(fileext = ".csv")
  write.csv(data.frame(format(data$x, digits = 17), y = data$y), file, row.names = FALSE, quote = FALSE)
  python <- python_numbers(
    sprintf("t = hf.read_table(r'%s', 'y')", file),
    "from holdfast.study.named import named_estimator, named_selectors",
    "s = named_selectors('anova', 'anova', {'k': [2, 3]}, 'classification')",
    "s |= named_selectors('lasso', 'lasso', {'k': 2}, 'classification')",
    "r = hf.Study(s, hf.Bootstrap(10), estimator=named_estimator('knn', {}, 'classification'), random_state=3)",
    "f = r.run(t).to_frame()", "answer = [*f['stability'], *f['low'], *f['accuracy']]"
  )
  expect_identical(c(table$stability, table$low, table$accuracy), python)
})

test_that("matrix, data.frame and sparse matrix give the same study", {
  skip_without_python()
  skip_if_not_installed("Matrix")
  data <- patients()
  tables <- list(data$x, as.data.frame(data$x), Matrix::Matrix(data$x, sparse = TRUE))
  found <- lapply(tables, function(x) summary(study(x, data$y, "anova:k=2", n = 8))$stability)
  expect_identical(found[[2]], found[[1]])
  expect_identical(found[[3]], found[[1]])
})

test_that("a SummarizedExperiment brings target and groups", {
  skip_without_python()
  skip_if_not_installed("SummarizedExperiment")
  data <- patients()
  about <- S4Vectors::DataFrame(kind = data$y, donor = rep(1:20, each = 3))
  experiment <- SummarizedExperiment::SummarizedExperiment(list(counts = t(data$x)), colData = about)
  found <- study(experiment, "kind", "anova:k=2", groups = "donor", n = 8)
  by_hand <- study(data$x, data$y, "anova:k=2", groups = rep(1:20, each = 3), n = 8)
  expect_identical(summary(found)$stability, summary(by_hand)$stability)
  expect_identical(features(found)$feature, features(by_hand)$feature)
  expect_error(study(experiment, "knd", "anova:k=2"), "column of colData as y, got 'knd'")
})

test_that("features, replicability and the report come back", {
  skip_without_python()
  data <- patients()
  found <- study(data$x, data$y, selector("anova", k = 2), n = 10)
  table <- features(found)
  expect_true(all(c("f1", "f2") %in% table$feature[table$frequency > 0.5]))
  expect_true(all(table$low <= table$frequency & table$frequency <= table$high))
  again <- replicability(found, n_pairs = 15)
  expect_match(again$sentence, "new study")
  expect_true(all(as.data.frame(again)$probability >= 0))
  expect_output(print(again), "new study")
  file <- tempfile(fileext = ".md")
  report(found, file)
  expect_match(readLines(file)[1], "^# ")
  pdf <- tempfile(fileext = ".pdf")
  grDevices::pdf(pdf)
  plot(found)
  plot(again)
  grDevices::dev.off()
  expect_output(print(found), "Study of 1 candidate on 10 splits")
})

test_that("a study is stored and resumed", {
  skip_without_python()
  data <- patients()
  store <- tempfile(fileext = ".db")
  first <- study(data$x, data$y, "anova:k=2", n = 5, store = store)
  more <- study(data$x, data$y, "anova:k=2", n = 9, store = store)
  expect_identical(summary(more)$runs, 9L)
})

test_that("numbers to predict, and what is refused", {
  skip_without_python()
  data <- patients()
  found <- study(data$x, rowSums(data$x), "correlation:k=3", n = 6, estimator = "linear")
  expect_true("r2" %in% names(summary(found)))
  expect_error(study(list(1), data$y, "anova"), "Expected a matrix")
  expect_error(study(data$x, data$y, "anove:k=2"), "anova")
  expect_error(study(data$x, c(NA, data$y[-1]), "anova:k=2"), "missing|NaN|NA")
})

test_that("survival times of Surv are a target where the Python package takes them", {
  skip_without_python()
  skip_if_not_installed("survival")
  data <- patients()
  event <- rep(c(1, 0, 1), 20)
  times <- survival::Surv(round(seq_len(60) * exp(-data$x[, 1]), 6), event)
  if (!reticulate::py_has_attr(reticulate::import("holdfast", convert = FALSE), "survival")) {
    expect_error(study(data$x, times, "anova:k=2"), "Expected classes or numbers as target, got survival times")
    skip("the Python package takes no survival times")
  }
  found <- study(data$x, times, "cox_score:k=2", n = 8)
  expect_true("f1" %in% features(found)$feature)
  expect_identical(summary(found)$runs, 8L)
  expect_error(study(data$x, survival::Surv(seq_len(60), seq_len(60) + 1, event), "cox_score:k=2"), "got type counting")
})
