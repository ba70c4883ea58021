#' Stability of feature selection
#'
#' How far several runs of a feature selection agree, with an interval.
#'
#' @param features A list with the selected features of each run: names, or numbers from 1 as in the package stabm; or a
#'   0/1 matrix with one row per run.
#' @param p Number of all features to choose from, or their names; not needed for a matrix.
#' @param measure Name of a measure, or several; [measure_table()] lists them.
#' @param corrected Whether to correct the measure for chance.
#' @param level Confidence level.
#' @return An object with `value`, `low`, `high`, `measure`, `n_runs`, `n_features` and `reason` (why something is
#'   undefined); for several measures, a data.frame with one row for each.
#' @examples
#' if (holdfast_available()) {
#'   stability(list(c("a", "b"), c("a", "c"), c("a", "b")), p = 20)
#' }
#' @export
stability <- function(features, p = NULL, measure = "nogueira", corrected = FALSE, level = 0.95) {
  runs <- as_preferences(features, p)
  if (length(measure) > 1L) {
    rows <- lapply(measure, function(name) as.data.frame(estimate(runs, name, corrected, level)))
    return(do.call(rbind, rows))
  }
  estimate(runs, measure, corrected, level)
}

estimate <- function(runs, measure, corrected, level) {
  found <- call_python(module("holdfast")$stability, runs, measure, corrected = corrected)
  new_stability(found, level)
}

new_stability <- function(found, level) {
  interval <- as_vector(module("builtins")$list(found$ci(level)))
  structure(
    list(
      measure = as_vector(found$measure), value = as_vector(found$value), low = interval[1], high = interval[2],
      standard_error = as_vector(found$standard_error), n_runs = as_vector(found$n_runs),
      n_features = as_vector(found$n_features), level = level, reason = as_vector(found$reason), python = found
    ),
    class = "holdfast_stability"
  )
}

as_preferences <- function(features, p = NULL) {
  make <- module("holdfast")$Preferences
  if (is.matrix(features)) {
    names <- if (is.null(colnames(features))) NULL else reticulate::r_to_py(as.list(colnames(features)))
    return(call_python(make$from_matrix, as_array(features, dim(features)), features = names))
  }
  if (!is.list(features)) stop("Expected a list of selected features, or a 0/1 matrix.", call. = FALSE)
  if (is.null(p)) stop("Expected p=, the number of all features to choose from, or their names.", call. = FALSE)
  numbers <- all(vapply(features, is.numeric, logical(1)) | lengths(features) == 0L)
  sets <- reticulate::r_to_py(lapply(unname(features), function(set) {
    set <- if (numbers) as.integer(set) - 1L else as.character(set)
    if (length(set) > 1L) set else as.list(set) # which would be a single value in Python
  }))
  if (is.character(p)) call_python(make$from_sets, sets, features = reticulate::r_to_py(as.list(p)))
  else call_python(make$from_sets, sets, n_features = as.integer(p))
}

#' @export
print.holdfast_stability <- function(x, ...) {
  cat(sprintf("%s = %.3f [%.3f, %.3f] (%g%% interval, %d runs)\n", x$measure, x$value, x$low, x$high, 100 * x$level,
              x$n_runs))
  if (!is.na(x$reason) && length(x$reason)) cat(x$reason, "\n")
  invisible(x)
}

#' @export
as.data.frame.holdfast_stability <- function(x, ...) {
  as.data.frame(unclass(x)[c("measure", "value", "low", "high", "standard_error", "n_runs", "n_features", "level")])
}

#' @export
summary.holdfast_stability <- function(object, ...) as.data.frame(object)

#' @export
plot.holdfast_stability <- function(x, ...) {
  plot_intervals(x$measure, x$value, x$low, x$high, "stability", ...)
  invisible(x)
}

# Points with their intervals, one line each.
plot_intervals <- function(names, values, low, high, xlab, xlim = NULL, ...) {
  places <- rev(seq_along(names))
  if (is.null(xlim)) xlim <- range(c(0, 1, values, low, high), na.rm = TRUE)
  old <- graphics::par(mar = c(4, 2 + 0.55 * max(nchar(names)), 1, 1))
  on.exit(graphics::par(old))
  graphics::plot(values, places, xlim = xlim, ylim = c(0.5, length(names) + 0.5), yaxt = "n", ylab = "", xlab = xlab,
                 pch = 19, ...)
  graphics::axis(2, places, names, las = 1)
  known <- which(!is.na(low))
  graphics::segments(low[known], places[known], high[known], places[known])
}

#' Compare the stabilities of two selections
#'
#' @param first,second Selections as for [stability()].
#' @param p,measure,level As for [stability()].
#' @param paired Whether runs of the two belong together, as on the same resamples.
#' @return An object with `difference`, `low`, `high` and `p_value`.
#' @examples
#' if (holdfast_available()) {
#'   compare(list("a", "a", "b", "a"), list("c", "d", "e", "c"), p = 10, paired = FALSE)
#' }
#' @export
compare <- function(first, second, p = NULL, measure = "nogueira", paired = NULL, level = 0.95) {
  found <- call_python(
    module("holdfast")$compare, as_preferences(first, p), as_preferences(second, p), measure, paired = paired
  )
  interval <- as_vector(module("builtins")$list(found$ci(level)))
  structure(
    list(
      measure = as_vector(found$measure), first = new_stability(found$first, level),
      second = new_stability(found$second, level), difference = as_vector(found$difference), low = interval[1],
      high = interval[2], p_value = as_vector(found$p_value), design = as_vector(found$design), level = level,
      python = found
    ),
    class = "holdfast_comparison"
  )
}

#' @export
print.holdfast_comparison <- function(x, ...) {
  cat(sprintf("%s: %.3f - %.3f = %.3f [%.3f, %.3f] (%g%% interval, %s), p = %.3g\n", x$measure, x$first$value,
              x$second$value, x$difference, x$low, x$high, 100 * x$level, x$design, x$p_value))
  invisible(x)
}

#' @export
as.data.frame.holdfast_comparison <- function(x, ...) {
  as.data.frame(unclass(x)[c("measure", "difference", "low", "high", "p_value", "design", "level")])
}

#' @export
summary.holdfast_comparison <- function(object, ...) as.data.frame(object)

#' @export
plot.holdfast_comparison <- function(x, ...) {
  parts <- list(x$first, x$second)
  values <- lapply(c("value", "low", "high"), function(name) vapply(parts, `[[`, numeric(1), name))
  plot_intervals(c("first", "second"), values[[1]], values[[2]], values[[3]], x$measure, ...)
  invisible(x)
}

#' All measures of stability
#'
#' @return A data.frame with the name, the kind of preference, a summary and the reference of each measure.
#' @examples
#' if (holdfast_available()) head(measure_table())
#' @export
measure_table <- function() {
  measures <- reticulate::iterate(module("holdfast")$MEASURES$values(), simplify = FALSE)
  field <- function(name) vapply(measures, function(measure) as.character(as_vector(measure[[name]])), character(1))
  fields <- c("name", "kind", "summary", "reference")
  as.data.frame(stats::setNames(lapply(fields, field), fields))
}
