#' A selector with its parameters
#'
#' @param name Name of a selector, as `holdfast selectors` lists them: "anova", "lasso", "mrmr", "relieff", ...
#' @param ... Its parameters; several values make several candidates, and `k` is the number of features.
#' @return A selector for [study()].
#' @examples
#' selector("anova", k = c(5, 10))
#' @export
selector <- function(name, ...) structure(list(name = name, parameters = list(...)), class = "holdfast_selector")

# "anova:k=5|10" is short for selector("anova", k = c(5, 10)).
parse_selector <- function(text) {
  parts <- strsplit(text, ":", fixed = TRUE)[[1]]
  given <- if (length(parts) > 1L) strsplit(strsplit(parts[2], ",")[[1]], "=") else list()
  values <- lapply(given, function(pair) utils::type.convert(strsplit(pair[2], "|", fixed = TRUE)[[1]], as.is = TRUE))
  do.call(selector, c(list(parts[1]), stats::setNames(values, vapply(given, `[`, character(1), 1L))))
}

as_parameters <- function(parameters) {
  whole <- lapply(parameters, function(values) {
    if (is.numeric(values) && all(values == round(values))) values <- as.integer(values)
    if (length(values) > 1L) as.list(values) else values
  })
  reticulate::r_to_py(if (length(whole)) whole else reticulate::dict())
}

#' Run a study: selectors on resamples of a data set
#'
#' @param x Samples in rows and features in columns: a matrix, data.frame or sparse matrix; or a SummarizedExperiment.
#' @param y The target: a factor or texts for classes, numbers for regression; of a SummarizedExperiment, also the name of
#'   a column of `colData`.
#' @param selectors Selectors: texts such as "anova:k=10", or a list of [selector()]s, which may be named.
#' @param perturbation How resamples are made: "bootstrap", "subsample", "pairs", "folds", ...
#' @param n Number of resamples.
#' @param estimator Model that is trained on the selected features and scored: "linear", "knn", "forest", ...; none by
#'   default.
#' @param groups Rows of one group, such as a patient, are never divided; as `y`.
#' @param store File to keep the study in, from which it is resumed.
#' @param seed Seed of all that is random.
#' @param jobs Number of processes.
#' @param assay Which assay of a SummarizedExperiment.
#' @return A study; `summary()` gives one row per candidate.
#' @examples
#' if (holdfast_available()) {
#'   found <- study(as.matrix(iris[, 1:4]), iris$Species, "anova:k=2", n = 20)
#'   summary(found)
#' }
#' @export
study <- function(x, y, selectors, perturbation = "bootstrap", n = 100, estimator = NULL, groups = NULL, store = NULL,
                  seed = 0, jobs = 1, assay = 1L) {
  data <- as_data(x, y, groups, assay)
  planned <- call_python(
    module("holdfast")$Study, make_selectors(selectors, data$task),
    named("named_perturbation", perturbation, as.integer(n)), task = data$task, random_state = as.integer(seed),
    estimator = if (is.null(estimator)) NULL else named("named_estimator", estimator, data$task)
  )
  found <- call_python(
    planned$run, data$X, data$y, groups = data$groups, store = if (is.null(store)) NULL else path.expand(store),
    n_jobs = as.integer(jobs)
  )
  structure(list(python = found, planned = planned, data = data), class = "holdfast_study")
}

named <- function(maker, text, last) {
  parsed <- parse_selector(text)
  call_python(module("holdfast.study.named")[[maker]], parsed$name, as_parameters(parsed$parameters), last)
}

make_selectors <- function(selectors, task) {
  if (inherits(selectors, "holdfast_selector")) selectors <- list(selectors)
  made <- module("builtins")$dict()
  for (place in seq_along(selectors)) {
    given <- selectors[[place]]
    if (is.character(given)) given <- parse_selector(given)
    label <- names(selectors)[place]
    if (is.null(label) || !nzchar(label)) label <- given$name
    made$update(call_python(
      module("holdfast.study.named")$named_selectors, label, given$name, as_parameters(given$parameters), task
    ))
  }
  made
}

#' @export
summary.holdfast_study <- function(object, ...) as_frame(object$python$to_frame()$reset_index())

#' @export
print.holdfast_study <- function(x, ...) {
  cat(as_vector(module("builtins")$repr(x$python)), "\n")
  invisible(x)
}

#' @export
plot.holdfast_study <- function(x, ...) {
  table <- summary(x)
  plot_intervals(table$candidate, table$stability, table$low, table$high, "stability", ...)
  invisible(x)
}

#' Features of a study
#'
#' @param study What [study()] returned.
#' @param candidate A candidate of the study; by default the one that its report shows.
#' @return A data.frame with frequency, interval, verdict, direction and effect of each feature that was ever selected.
#' @examples
#' if (holdfast_available()) {
#'   features(study(as.matrix(iris[, 1:4]), iris$Species, "anova:k=2", n = 20))
#' }
#' @export
features <- function(study, candidate = NULL) {
  as_frame(call_python(study$python$features, candidate = candidate)$frame)
}

#' Would a new study select the same features?
#'
#' @param study What [study()] returned.
#' @param candidate A candidate, where the study has several.
#' @param n_pairs Number of random divisions of the rows into halves.
#' @param level Confidence level.
#' @return An object with a `sentence`, the `agreement` of two studies with `low` and `high`, and `features` with their
#'   probabilities.
#' @examples
#' \donttest{
#' if (holdfast_available()) {
#'   replicability(study(as.matrix(iris[, 1:4]), iris$Species, "anova:k=2", n = 20), n_pairs = 20)
#' }
#' }
#' @export
replicability <- function(study, candidate = NULL, n_pairs = 100, level = 0.95) {
  data <- study$data
  found <- call_python(
    module("holdfast")$replicability, study$planned, data$X, data$y, groups = data$groups, candidate = candidate,
    n_pairs = as.integer(n_pairs), level = level
  )
  interval <- as_vector(module("builtins")$list(found$interval))
  structure(
    list(
      sentence = as_vector(found$sentence), agreement = as_vector(found$agreement), low = interval[1],
      high = interval[2], cautions = as_vector(module("builtins")$list(found$cautions)),
      features = as_frame(found$frame), python = found
    ),
    class = "holdfast_replicability"
  )
}

#' @export
print.holdfast_replicability <- function(x, ...) {
  cat(x$sentence, "\n")
  for (caution in x$cautions) cat("Caution:", caution, "\n")
  invisible(x)
}

#' @export
as.data.frame.holdfast_replicability <- function(x, ...) x$features

#' @export
summary.holdfast_replicability <- function(object, ...) object$features

#' @export
plot.holdfast_replicability <- function(x, ...) {
  none <- rep(NA_real_, nrow(x$features))
  plot_intervals(as.character(x$features$feature), x$features$probability, none, none, "probability in a new study",
                 xlim = c(0, 1), ...)
  invisible(x)
}

#' Write the report of a study
#'
#' @param study What [study()] returned.
#' @param file File that ends in .html, .md or .json.
#' @param ... Further arguments of the Python method, such as `candidate` or `title`.
#' @return The file, invisibly.
#' @examples
#' \donttest{
#' if (holdfast_available()) {
#'   report(study(as.matrix(iris[, 1:4]), iris$Species, "anova:k=2", n = 20), tempfile(fileext = ".md"))
#' }
#' }
#' @export
report <- function(study, file, ...) {
  call_python(study$python$report, path.expand(file), ...)
  invisible(file)
}
