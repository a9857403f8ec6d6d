"""What several workers have kept, as an index for Python."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ndcrawl

from test_program import run


def has_postgresql() -> bool:
    return shutil.which("initdb") is not None or any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a database cluster on loopback."""
    if not has_postgresql():
        pytest.skip("needs postgresql")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        # As root the servers run as another user, who has to reach the folder.
        os.chmod(folder, 0o755)
        started = run("cluster", "local", "start", f"{folder}/pg")
        assert started.returncode == 0, started.stderr
        yield started.stdout.split()[-1]
        stopped = run("cluster", "local", "stop", f"{folder}/pg")
        assert stopped.returncode == 0, stopped.stderr


def words(first: int) -> str:
    return " ".join(f"word{(first * 7919 + n * n) % 100_003}" for n in range(60))


def saved_index(tables: list[Path], key: str, path: Path) -> ndcrawl.Deduplicator:
    """The recipe of the guide: kept pages into an index, which others load."""
    earlier = ndcrawl.Deduplicator(threshold=0.8)
    for table in tables:
        rows = pq.read_table(table, columns=[key, "text"]).drop_null()
        earlier.insert_many(rows["text"], rows[key].to_pylist())
    earlier.save(path)
    return ndcrawl.Deduplicator.load(path, threads=1)


def test_what_dedup_has_kept_names_what_new_texts_repeat(tmp_path: Path, cluster: str) -> None:
    for number in range(3):
        rows = [{"url": f"http://h{number}.test/{n}", "text": words(n + 10 * number)} for n in range(12)]
        (tmp_path / f"in{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "manifest").write_text("in0.jsonl\nin1.jsonl\nin2.jsonl\n")
    flags = ["--cluster-name", "texts", "--workers", "2", "--kept", "parquet", "--out", "kept"]
    done = run("dedup", "--cluster", cluster, "manifest", *flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    index = saved_index(sorted((tmp_path / "kept").glob("*.kept.parquet")), "url", tmp_path / "earlier.ndc")
    # Of each two inputs two texts are the same: the first one is kept.
    verdicts = [pq.read_table(file).to_pylist() for file in sorted((tmp_path / "kept").glob("*.verdicts.parquet"))]
    outcomes = [line["outcome"] for lines in verdicts for line in lines]
    assert (outcomes.count("stored"), outcomes.count("exact-duplicate")) == (32, 4)
    assert len(index) == 32
    known, new = index.matches_many([words(11) + " more", words(500)])
    assert [match.key for match in known] == ["http://h0.test/11"] and new == []


def test_a_gathered_crawl_names_what_new_texts_repeat(tmp_path: Path, cluster: str, site: str) -> None:
    flags = ["--cluster-name", "site", "--max-pages", "12", "--delay", "0", "--ip-delay", "0", "--allow-private"]
    crawled = run("crawl", site, "--cluster", cluster, *flags, "--out", str(tmp_path / "archive"))
    assert crawled.returncode == 0, crawled.stderr
    gathered, table = str(tmp_path / "gathered"), tmp_path / "pages.parquet"
    assert run("gather", cluster, "--cluster-name", "site", "--out", gathered).returncode == 0
    exported = run("export", gathered, "--format", "parquet", "--out", str(table))
    assert exported.returncode == 0, exported.stderr
    index = saved_index([table], "url", tmp_path / "earlier.ndc")
    assert len(index) == 12
    known, new = index.matches_many([words(2) + " more", words(500)])
    assert [match.key for match in known] == [f"{site}page-2.html"] and new == []
