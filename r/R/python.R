# From R to Python and back. Values travel as raw bytes and plain lists: reticulate before 1.40 refuses NumPy 2, and bytes
# keep every digit.

modules <- new.env(parent = emptyenv())

.onLoad <- function(libname, pkgname) {
  python <- Sys.getenv("HOLDFAST_PYTHON")
  if (nzchar(python)) {
    reticulate::use_python(python, required = TRUE)
  } else if (exists("py_require", asNamespace("reticulate"))) {
    get("py_require", asNamespace("reticulate"))("holdfast[app]")
  }
}

#' Whether Python and the package holdfast can be used
#'
#' The Python is that of the environment variable `HOLDFAST_PYTHON` if it is set when the package is loaded; else the one
#' that reticulate uses, such as after `reticulate::use_virtualenv()`. Newer versions of reticulate install what is
#' missing by themselves; otherwise `pip install 'holdfast[app]'` does.
#'
#' @return `TRUE` or `FALSE`.
#' @examples
#' holdfast_available()
#' @export
holdfast_available <- function() {
  tryCatch({
    module("holdfast")
    TRUE
  }, error = function(error) FALSE)
}

module <- function(name) {
  if (is.null(modules[[name]])) {
    modules[[name]] <- tryCatch(
      reticulate::import(name, convert = FALSE),
      error = function(error) {
        stop(
          "Expected the Python package ", name, ", got none: pip install 'holdfast[app]' into the Python that ",
          "HOLDFAST_PYTHON or reticulate::use_virtualenv() names. (", conditionMessage(error), ")", call. = FALSE
        )
      }
    )
  }
  modules[[name]]
}

# Call a Python function; what it raises is an error of R with the same words.
call_python <- function(fun, ...) {
  tryCatch(
    do.call(fun, drop_null(list(...))),
    error = function(error) {
      words <- sub("^[A-Za-z.]*(Error|Warning): ", "", strsplit(conditionMessage(error), "\n")[[1]])
      words <- words[!grepl("reticulate::py_last_error|^Run |^.{0,3}See ", words)]
      stop(paste(words[nzchar(words)], collapse = "\n"), call. = FALSE)
    }
  )
}

drop_null <- function(values) values[!vapply(values, is.null, logical(1))]

as_array <- function(values, shape = NULL) {
  bytes <- writeBin(as.double(values), raw(), endian = "little")
  array <- module("numpy")$frombuffer(reticulate::r_to_py(bytes), dtype = "<f8")
  if (is.null(shape)) array else array$reshape(reticulate::tuple(as.list(as.integer(shape))), order = "F")
}

as_texts <- function(values) {
  values <- as.character(values)
  if (anyNA(values)) {
    stop("Expected no missing values, got NA at position ", which(is.na(values))[1], ".", call. = FALSE)
  }
  module("numpy")$array(reticulate::r_to_py(as.list(values)))
}

# The target that the Python function survival() makes of right-censored times.
as_survival <- function(times) {
  if (!reticulate::py_has_attr(module("holdfast"), "survival")) {
    stop(
      "Expected classes or numbers as target, got survival times; the Python package holdfast that is installed ",
      "selects features for classes and numbers only.", call. = FALSE
    )
  }
  if (attr(times, "type") != "right") {
    stop("Expected survival times censored on the right, as Surv(time, event) makes them, got type ",
         attr(times, "type"), ".", call. = FALSE)
  }
  parts <- unclass(times)
  call_python(module("holdfast")$survival, as_array(parts[, "time"]), as_array(parts[, "status"]))
}

as_column <- function(values) {
  if (inherits(values, "Surv")) return(as_survival(values))
  if (is.factor(values) || is.character(values)) return(as_texts(values))
  if (is.logical(values)) return(as_array(values)$astype("bool"))
  if (is.integer(values)) {
    if (anyNA(values)) stop("Expected no missing values, got NA.", call. = FALSE)
    return(as_array(values)$astype("int64"))
  }
  as_array(values)
}

# Samples in rows, features in columns, with names where there are any.
as_features <- function(x) {
  if (methods::is(x, "sparseMatrix")) {
    x <- methods::as(methods::as(x, "CsparseMatrix"), "generalMatrix")
    numbers <- lapply(list(x@i, x@p), function(part) as_array(part)$astype("int32"))
    parts <- reticulate::tuple(as_array(x@x), numbers[[1]], numbers[[2]])
    return(module("scipy.sparse")$csc_matrix(parts, shape = reticulate::tuple(as.list(dim(x)))))
  }
  if (is.data.frame(x)) {
    columns <- lapply(x, function(column) if (is.numeric(column)) as_array(column) else as_column(column))
    names <- colnames(x)
    frame <- module("pandas")$DataFrame(reticulate::py_dict(as.list(seq_along(columns)), unname(columns)))
    return(frame$set_axis(reticulate::r_to_py(as.list(names)), axis = 1L))
  }
  if (!is.matrix(x) || !(is.numeric(x) || is.logical(x))) {
    stop(
      "Expected a matrix, data.frame, sparse matrix or SummarizedExperiment with samples in rows, got ",
      class(x)[1], ".", call. = FALSE
    )
  }
  array <- as_array(x, dim(x))
  if (is.null(colnames(x))) return(array)
  module("pandas")$DataFrame(array, columns = reticulate::r_to_py(as.list(colnames(x))))
}

# Features, target and groups; of a SummarizedExperiment, the last two are names of columns of its colData.
as_data <- function(x, y, groups = NULL, assay = 1L) {
  if (inherits(x, "SummarizedExperiment")) {
    about <- SummarizedExperiment::colData(x)
    column <- function(name, role) {
      if (is.null(name) || length(name) != 1L || !is.character(name)) return(name)
      if (!name %in% names(about)) {
        stop("Expected a column of colData as ", role, ", got '", name, "'; there are: ",
             paste(names(about), collapse = ", "), ".", call. = FALSE)
      }
      about[[name]]
    }
    y <- column(y, "y")
    groups <- column(groups, "groups")
    values <- SummarizedExperiment::assay(x, assay)
    x <- if (methods::is(values, "sparseMatrix")) Matrix::t(values) else t(as.matrix(values))
  }
  list(
    X = as_features(x), y = as_column(y), groups = if (is.null(groups)) NULL else as_column(groups),
    task = if (inherits(y, "Surv")) "survival" else if (is.numeric(y) && !is.integer(y)) "regression" else "classification"
  )
}

# A value, or values, of Python; None is NA, lists in a cell are joined.
as_vector <- function(values) {
  values <- reticulate::py_to_r(values)
  if (!is.list(values)) return(values)
  single <- lapply(values, function(value) {
    if (is.null(value)) NA else if (length(value) == 1L) value else paste(unlist(value), collapse = ", ")
  })
  unlist(single)
}

as_frame <- function(frame) {
  names <- as_vector(frame$columns$tolist())
  columns <- lapply(seq_along(names) - 1L, function(place) {
    column <- frame$iloc$`__getitem__`(reticulate::tuple(module("builtins")$slice(NULL), place))
    as_vector(column$astype("object")$where(column$notna(), NULL)$tolist())
  })
  rows <- reticulate::py_to_r(frame$shape[0])
  columns <- lapply(columns, function(column) if (length(column)) column else rep(NA, rows))
  data.frame(stats::setNames(columns, names), check.names = FALSE)
}
