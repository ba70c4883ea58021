"""The same study on several data sets: run or resumed, and compared over data sets."""

from holdfast.benchmarking.result import BenchmarkResult, BenchmarkTradeoff
from holdfast.benchmarking.running import benchmark, load_benchmark

__all__ = ["BenchmarkResult", "BenchmarkTradeoff", "benchmark", "load_benchmark"]
