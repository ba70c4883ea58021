from .result import BenchmarkResult as BenchmarkResult
from .result import BenchmarkTradeoff as BenchmarkTradeoff
from .running import benchmark as benchmark
from .running import load_benchmark as load_benchmark
