"""An executor: the process pool of the standard library. Many clusters have a pool of this shape."""

from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from openbook.ingest.executor import Outcome
from openbook.ingest.preparation import FileJob, FilePreparer
from openbook.process_pool import apply_safely
from openbook.settings import Settings


class PoolExecutor:
    """Used as `OPENBOOK_EXECUTOR=pool:4`."""

    min_bytes = 0  # with less to read, Openbook prepares files itself

    def __init__(self, address: str) -> None:
        self.count = int(address)

    def run(self, files: FilePreparer, jobs: Sequence[FileJob], settings: Settings) -> Generator[Outcome, None, None]:
        """Yield each job with its result. `apply_safely` makes a result of an exception too."""
        pool = ProcessPoolExecutor(self.count, get_context("spawn"))
        try:
            yield from zip(jobs, pool.map(partial(apply_safely, files), jobs), strict=True)
        finally:
            pool.shutdown(cancel_futures=True)
