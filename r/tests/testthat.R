library(testthat)
library(holdfast)

test_check("holdfast")
