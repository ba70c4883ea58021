skip_without_python <- function() {
  skip_if_not(holdfast_available(), "the Python package holdfast; HOLDFAST_PYTHON names its Python")
}

# What Python itself computes, printed with all digits.
python_numbers <- function(...) {
  code <- paste(c("import holdfast as hf", ...), collapse = "\n")
  out <- reticulate::py_run_string(code, convert = FALSE)
  as.numeric(reticulate::py_to_r(out["answer"]))
}

lists <- list(c("a", "b", "c"), c("a", "b", "d"), c("a", "c", "d", "e"), c("a", "b", "c"), c("b", "c"))

patients <- function(n = 60, d = 8) {
  set.seed(1)
  x <- matrix(rnorm(n * d), n, dimnames = list(NULL, paste0("f", seq_len(d))))
  kind <- rep(c("ill", "well"), length.out = n)
  x[, 1:2] <- x[, 1:2] + 2 * (kind == "ill")
  list(x = x, y = factor(kind))
}
