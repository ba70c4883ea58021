test_that("lists are measured as by formula and as by Python, to the last digit", {
  skip_without_python()
  found <- stability(lists, p = 10)
  k <- sapply(letters[1:10], function(name) mean(sapply(lists, function(set) name %in% set)))
  m <- length(lists)
  q <- mean(lengths(lists))
  by_formula <- 1 - mean(m / (m - 1) * k * (1 - k)) / (q / 10 * (1 - q / 10))
  expect_equal(found$value, by_formula, tolerance = 1e-14)
  python <- python_numbers(
    "s = hf.stability(hf.Preferences.from_sets([['a','b','c'],['a','b','d'],['a','c','d','e'],['a','b','c'],['b','c']],",
    "                 n_features=10))", "answer = [s.value, *s.ci(), s.standard_error]"
  )
  expect_identical(c(found$value, found$low, found$high, found$standard_error), python)
  expect_identical(c(found$n_runs, found$n_features), c(5L, 10L))
})

test_that("numbers from 1, names, and matrices mean the same", {
  skip_without_python()
  names <- stability(lists, p = letters[1:10])
  numbers <- stability(lapply(lists, match, letters), p = 10)
  matrix <- t(sapply(lists, function(set) as.numeric(letters[1:10] %in% set)))
  expect_identical(numbers$value, names$value)
  expect_identical(stability(matrix)$value, names$value)
  colnames(matrix) <- letters[1:10]
  expect_identical(stability(matrix)$low, names$low)
})

test_that("measures have the values that the documentation of stabm 1.1.3 prints", {
  skip_without_python()
  sets <- list(1:3, 1:4, 1:5)
  printed <- c(jaccard = 0.7166667, dice = 0.8320106, ochiai = 0.8450164, hamming = 0.8666667, nogueira = 0.7222222,
               lustgarten = 0.5333333, novovicova = 0.855155, unadjusted = 0.7453833, wald = 1, kappa = 0.7275362,
               pearson = 0.7576447, cw_rel = 0.8)
  found <- stability(sets, 10, names(printed))
  expect_identical(found$measure, names(printed))
  expect_equal(signif(found$value, 7), unname(printed))
})

test_that("several measures are rows, and what is undefined is NaN with a reason", {
  skip_without_python()
  table <- stability(lists, 10, c("nogueira", "jaccard"))
  expect_s3_class(table, "data.frame")
  expect_identical(table$measure, c("nogueira", "jaccard"))
  one <- suppressWarnings(stability(list("a"), 10))
  expect_true(is.nan(one$value))
  expect_true(nzchar(one$reason))
})

test_that("100 sets take at most 50 ms of processor time after start", {
  skip_without_python()
  sets <- lapply(1:100, function(run) sample(1000, 20))
  stability(sets, 1000)
  seconds <- min(replicate(9, sum(system.time(stability(sets, 1000))[c("user.self", "sys.self")])))
  expect_lte(seconds, 0.05) # of the processor, so that a busy machine does not matter
})

test_that("selections are compared", {
  skip_without_python()
  other <- list(c("a", "b"), c("c", "d"), c("e", "f"), c("a", "f"), c("b", "c"))
  found <- compare(lists, other, p = 10, paired = TRUE)
  expect_equal(found$difference, stability(lists, 10)$value - stability(other, 10)$value, tolerance = 1e-14)
  expect_true(found$low < found$difference && found$difference < found$high)
  expect_identical(found$design, "paired")
  expect_output(print(found), "p = ")
  expect_identical(as.data.frame(found)$p_value, found$p_value)
})

test_that("measures are listed, and objects print and draw", {
  skip_without_python()
  expect_true(all(c("nogueira", "jaccard", "spearman") %in% measure_table()$name))
  found <- stability(lists, 10)
  expect_output(print(found), "nogueira = 0\\.\\d{3} \\[")
  expect_identical(summary(found)$value, found$value)
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  plot(found)
  plot(compare(lists, rev(lists), 10, paired = FALSE))
  grDevices::dev.off()
  expect_gt(file.size(file), 1000)
})

test_that("errors say what to do, in the words of Python", {
  skip_without_python()
  expect_error(stability(lists), "p=, the number of all features")
  expect_error(stability(lists, 3), "Expected|features")
  expect_error(stability(lists, 10, "nogeira"), "nogueira")
  expect_error(stability("a", 10), "list of selected features")
})
