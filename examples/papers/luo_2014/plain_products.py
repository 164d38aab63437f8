"""Products of a vector with ten others by plain sums, beside which exact ones are timed."""

from pathlib import Path

from taskflow.flow.models.artificial_compressibility.implicit.krylov import READ_ROWS, VALUES, VECTOR
from taskflow.runtime.tasks import Reduce, task


@task(kernel=Path(__file__).with_name("plain_products.cu"))
def plain_products(
    vectors: READ_ROWS * VALUES, vector: VECTOR, *, along: Reduce["sum", 10], weight: float
) -> None:  # fmt: skip
    """along[n] = vectors[n] . vector"""
