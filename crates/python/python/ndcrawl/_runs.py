"""Runs of the program: ``crawl`` and ``dedup`` in a thread, with their counters as an iterator."""

from __future__ import annotations

import atexit
import json
import os
import threading
import weakref
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Dict, List, Optional, Tuple, Union

from ._native import NativeRun

Path = Union[str, "os.PathLike[str]"]
Option = Union[None, bool, int, float, str, "os.PathLike[str]", "Iterable[Union[int, float, str]]"]
Counters = Dict[str, Union[int, float, None]]
"""Counters of a run at one moment: pages, bytes, ``elapsed_seconds``."""

_WAIT = 0.2
"""Seconds between looks for Ctrl-C."""

_STOPPED = 130
_MEANINGS = {
    1: "no seed could be fetched, or no input gave a page",
    3: "more failures than fail_over allows",
    4: "the store is corrupt, or the folder is being reindexed",
    7: "the disk is full, or less than min_free is free; the same call resumes",
    8: "an input gave no page or was not read to its end, while others were read",
    143: "the shared run was stopped by `ndcrawl cluster stop`; the same call resumes",
}


class ProgramError(Exception):
    """The program could not do what it was asked to. The text is what the program would print.

    Attributes:
        exit_code: The program's exit code.
        hint: What to do next, or None.
        summary: The summary of the run, if it ended with one.
    """

    def __init__(
        self, message: str, exit_code: int, hint: str | None = None, summary: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.hint = hint
        self.summary = summary

    def __str__(self) -> str:
        message = str(self.args[0])
        return f"{message} (hint: {self.hint})" if self.hint else message

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.args[0], self.exit_code, self.hint, self.summary))


class Run:
    """A run of the program in a thread of its own.

    Iterating gives the counters about five times a second until the run is over. In a ``with`` block, leaving it waits
    for the end, and an exception stops the run first. A run that is stopped can be resumed by the same call.
    """

    def __init__(self, arguments: list[str]) -> None:
        self._arguments = arguments
        self._native = NativeRun(["ndcrawl", *arguments])
        self._joining = threading.Lock()
        self._ended: Optional[Tuple[int, Optional[str], Optional[str], Optional[str]]] = None
        _unfinished.add(self)

    def __iter__(self) -> Iterator[Counters]:
        while True:
            counters = self._native.next_counters(_WAIT)
            if counters is not None:
                yield json.loads(counters)
            elif self.is_over:
                return

    @property
    def is_over(self) -> bool:
        """Whether nothing runs any more."""
        return self._native.is_over()

    def stop(self) -> None:
        """Stops the run as Ctrl-C does: once lets fetches in flight end (at most 10 seconds), twice drops them.

        Returns at once. What has arrived is saved, and the same call resumes.
        """
        self._native.stop()

    def result(self) -> dict[str, Any]:
        """Waits for the end and returns the summary, as ``--json`` prints it.

        A run that `stop` has ended returns its summary too.

        Raises:
            ProgramError: If the program fails, or ends with another exit code than 0.
        """
        self._wait()
        with self._joining:
            self._ended = self._ended or self._native.join()
        if self._ended is None:
            raise ProgramError("internal error: the run has no end", 70)
        code, summary, message, hint = self._ended
        if message is not None:
            raise ProgramError(message, code, hint)
        parsed: dict[str, Any] = json.loads(summary) if summary else {}
        if code not in (0, _STOPPED):
            raise ProgramError(_MEANINGS.get(code, f"exit code {code}"), code, summary=parsed)
        return parsed

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.stop()
            self._wait()
        else:
            self.result()

    def _wait(self) -> None:
        while not self.is_over:
            self._native.next_counters(_WAIT)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {'over' if self.is_over else 'running'}: {' '.join(self._arguments)}>"


class Crawl(Run):
    """A crawl: ``ndcrawl crawl``, with its flags as options.

    Args:
        seeds: URLs to start from; with none, a crawl in `out` is resumed.
        out: The output folder.
        options: Flags of ``ndcrawl crawl`` with underscores: ``max_pages=100``, ``exclude=["*/tag/*"]``,
            ``recrawl=True``. ``None`` and ``False`` leave a flag out.
    """

    def __init__(self, seeds: str | Iterable[str], out: Path, **options: Option) -> None:
        urls = [seeds] if isinstance(seeds, str) else list(seeds)
        super().__init__(_arguments("crawl", urls, out, options))


def dedup(paths: Path | Iterable[Path], out: Path, **options: Option) -> Run:
    """Gives verdicts on pages in files: ``ndcrawl dedup``, with its flags as options.

    Args:
        paths: Files (WARC, WACZ, ARC, WET, Parquet, JSON, CSV, HTML, text), or folders of these.
        out: The output folder.
        options: Flags of ``ndcrawl dedup`` with underscores: ``threshold=0.9``, ``text_field="body"``.
    """
    inputs = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    return Run(_arguments("dedup", [os.fspath(path) for path in inputs], out, options))


def _arguments(command: str, positional: list[str], out: Path, options: dict[str, Option]) -> list[str]:
    arguments = [command, "--json", f"--out={os.fspath(out)}"]
    for name, value in options.items():
        arguments += _flag("--" + name.replace("_", "-"), value)
    return [*arguments, "--", *positional]


def _flag(flag: str, value: Option) -> List[str]:
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    if isinstance(value, (str, int, float, os.PathLike)):
        return [f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}"]
    return [f"{flag}={each}" for each in value]


_unfinished: weakref.WeakSet[Run] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    """Stops what still runs when Python ends, so that it ends cleanly."""
    running = [run for run in _unfinished if not run.is_over]
    for run in running:
        run.stop()
    for run in running:
        run._wait()
