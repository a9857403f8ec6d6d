"""A polite web crawler that keeps each page once, and its exact near-duplicate detector.

>>> import ndcrawl
>>> documents = ndcrawl.Deduplicator(min_terms=5)
>>> documents.insert("The sun rose over the hills, and birds began to sing in every old tree.", "sun")
Verdict('unique')
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence

from ._native import (
    Deduplicator,
    Explanation,
    Link,
    Match,
    Page,
    PairVerdict,
    TermShare,
    Verdict,
    __version__,
    extract,
)
from ._native import main as _main
from ._results import DeduplicationResult, Duplicate, KeptRecord, deduplicate, judge
from ._runs import Counters, Crawl, ProgramError, Run, dedup
from ._types import Document, Documents, Key

__all__ = [
    "Counters",
    "Crawl",
    "DeduplicationResult",
    "Deduplicator",
    "Document",
    "Documents",
    "Duplicate",
    "Explanation",
    "KeptRecord",
    "Key",
    "Link",
    "Match",
    "Page",
    "PairVerdict",
    "ProgramError",
    "Run",
    "TermShare",
    "Verdict",
    "__version__",
    "dedup",
    "deduplicate",
    "extract",
    "judge",
    "main",
]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program ``ndcrawl`` with these arguments and returns its exit code.

    Without arguments it takes those of the process. It takes the process over, as the program does: it writes to the
    file descriptors of standard output and error, and handles signals by itself, so that Ctrl-C stops a crawl cleanly.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    if threading.current_thread() is not threading.main_thread():
        return _main(["ndcrawl", *given])
    # Python's handler only takes a note; commands that need no clean stop are to end at once.
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return _main(["ndcrawl", *given])
    finally:
        signal.signal(signal.SIGINT, before)


def _console_script() -> int:
    return main()
