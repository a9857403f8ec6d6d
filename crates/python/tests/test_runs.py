"""Crawls and deduplication of files within Python."""

import json
import subprocess
import sys
from pathlib import Path

import ndcrawl
import pytest

WORDS = " ".join(f"word{number}" for number in range(100))


def rows(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "pages.jsonl").read_text().splitlines()]


def write_pages(path: Path) -> Path:
    pages = [{"id": "a", "text": WORDS}, {"id": "b", "text": WORDS + " zebra"}, {"id": "c", "text": WORDS[::-1]}]
    path.write_text("".join(json.dumps(page) + "\n" for page in pages))
    return path


def test_files_are_deduplicated(tmp_path: Path) -> None:
    pages = write_pages(tmp_path / "pages.jsonl")
    run = ndcrawl.dedup(pages, tmp_path / "out", threshold=0.9)
    counters = list(run)
    assert counters[-1]["stored"] == 2 and counters[-1]["near_duplicates"] == 1
    assert run.is_over
    summary = run.result()
    assert summary == run.result()
    assert [row["outcome"] for row in rows(tmp_path / "out")].count("near-duplicate") == 1


def test_a_site_is_crawled_to_its_limit(tmp_path: Path, site: str) -> None:
    with ndcrawl.Crawl(site, tmp_path / "out", max_pages=5, allow_private=True, delay=0) as crawl:
        last = {}
        for last in crawl:
            assert last["elapsed_seconds"] >= 0
    assert crawl.result()
    assert last["fetched"] == 5
    assert len([row for row in rows(tmp_path / "out") if row["outcome"] == "stored"]) == 5


def test_a_crawl_is_stopped_and_resumed(tmp_path: Path, site: str) -> None:
    options = {"allow_private": True, "delay": "50ms"}
    crawl = ndcrawl.Crawl([site], tmp_path / "out", **options)
    for counters in crawl:
        if counters["fetched"]:
            crawl.stop()
    crawl.result()
    before = len(rows(tmp_path / "out"))
    assert before
    again = ndcrawl.Crawl([site], tmp_path / "out", **options)
    for counters in again:
        if counters["fetched"] > before:
            again.stop()
            again.stop()
    again.result()
    assert len(rows(tmp_path / "out")) > before


def test_an_exception_in_the_block_stops_the_run(tmp_path: Path, site: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        with ndcrawl.Crawl(site, tmp_path / "out", allow_private=True) as crawl:
            raise KeyboardInterrupt
    assert crawl.is_over


def test_two_runs_at_once(tmp_path: Path) -> None:
    pages = write_pages(tmp_path / "pages.jsonl")
    runs = [ndcrawl.dedup([pages], tmp_path / f"out{n}", threshold=(0.9, 1.0)[n]) for n in range(2)]
    for run in runs:
        run.result()
    counts = [[row["outcome"] for row in rows(tmp_path / f"out{n}")].count("near-duplicate") for n in range(2)]
    assert counts == [1, 0]


def test_errors_are_those_of_the_program(tmp_path: Path) -> None:
    with pytest.raises(ndcrawl.ProgramError, match="unexpected argument '--no-such-option'") as error:
        ndcrawl.dedup("x", tmp_path / "out", no_such_option=1).result()
    assert error.value.exit_code == 2 and error.value.hint
    with pytest.raises(ndcrawl.ProgramError, match="none"):
        ndcrawl.dedup(tmp_path / "none", tmp_path / "out").result()
    with pytest.raises(ndcrawl.ProgramError, match="threshold"):
        ndcrawl.dedup(write_pages(tmp_path / "pages.jsonl"), tmp_path / "out", threshold=7).result()
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(ndcrawl.ProgramError, match="no input gave a page") as error:
        ndcrawl.dedup(tmp_path / "empty.jsonl", tmp_path / "out").result()
    assert error.value.exit_code == 1 and error.value.summary is not None


def test_what_still_runs_is_stopped_when_python_ends(tmp_path: Path, site: str) -> None:
    script = f"import ndcrawl; run = ndcrawl.Crawl({site!r}, {str(tmp_path / 'out')!r}, allow_private=True); next(iter(run))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out" / "status.json").read_text())["state"] == "stopped"
