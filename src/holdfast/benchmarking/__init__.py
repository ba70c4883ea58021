"""The same study on several data sets: run or resumed, and compared over data sets."""

from holdfast.benchmarking.result import BenchmarkResult
from holdfast.benchmarking.running import benchmark, load_benchmark
from holdfast.benchmarking.tradeoffs import BenchmarkTradeoff

__all__ = ["BenchmarkResult", "BenchmarkTradeoff", "benchmark", "load_benchmark"]
