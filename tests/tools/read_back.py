"""Reads exports with the tools that people use, and holds them against pages.jsonl.

usage: read_back.py OUT EXPORTS TOOL...

OUT is the output folder of a crawl. EXPORTS has pages.parquet, pages.jsonl, pages.jsonl.gz,
pages.jsonl.zst, all.parquet (every outcome, with sources), pages.warc.gz and rates.csv of it.
"""

import collections
import gzip
import json
import pathlib
import subprocess
import sys
from datetime import datetime

OUT, EXPORTS = map(pathlib.Path, sys.argv[1:3])
LINES = [json.loads(line) for line in open(OUT / "pages.jsonl", encoding="utf-8")]
STORED = [line for line in LINES if line["outcome"] == "stored"]
PAGES = {line["url"] for line in LINES}
FIELDS = ["url", "status", "type", "charset", "lang", "title", "outcome", "duplicate_of", "score", "digest", "bytes"]
COMPARED = {"stored", "near-duplicate", "exact-duplicate"}


def file(name):
    return str(EXPORTS / name)


def check(rows, lines, what):
    """Rows, in whatever form, say what the lines say."""
    assert len(rows) == len(lines), f"{what}: {len(rows)} rows, {len(lines)} lines"
    for row, line in zip(rows, lines):
        for field in FIELDS:
            assert row[field] == line.get(field), f"{what}: {field} of {line['url']}: {row[field]!r}"


def pyarrow():
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(file("pages.parquet"))
    rows = table.to_pylist()
    check(rows, STORED, "pyarrow")
    assert str(table.schema.field("fetched_at").type) == "timestamp[ms, tz=UTC]", table.schema
    assert all(row["text"] for row in rows if row["bytes"] and row["title"] and row["bytes"] > 2000)
    for row, line in zip(rows, STORED):
        moment = datetime.fromisoformat(line["fetched_at"].replace("Z", "+00:00"))
        assert row["fetched_at"] == moment, line
        assert {key: value for key, value in row["provenance"].items() if value is not None} == line["provenance"]
    rows = pyarrow.parquet.read_table(file("all.parquet")).to_pylist()
    check(rows, LINES, "pyarrow, all outcomes")
    clusters = {row["url"]: row["cluster"] for row in rows if row["outcome"] == "stored"}
    assert len(set(clusters.values())) == len(STORED)
    assert all(row["cluster"] == clusters[row["duplicate_of"]] for row in rows if row["duplicate_of"])
    return len(rows)


def duckdb():
    import duckdb

    for name in ["pages.parquet", "pages.jsonl", "pages.jsonl.gz", "pages.jsonl.zst"]:
        found = duckdb.sql(f"select digest from '{file(name)}'").fetchall()
        assert [digest for (digest,) in found] == [line["digest"] for line in STORED], name
    query = f"select outcome, count(*), count(distinct cluster) from '{file('all.parquet')}' group by all"
    counts = {outcome: count for outcome, count, _ in duckdb.sql(query).fetchall()}
    assert counts == collections.Counter(line["outcome"] for line in LINES), counts
    return counts["stored"]


def pandas():
    import pandas

    frame = pandas.read_parquet(file("pages.parquet"))
    assert list(frame["digest"]) == [line["digest"] for line in STORED]
    for name in ["pages.jsonl", "pages.jsonl.gz", "pages.jsonl.zst"]:
        # Its reader of zst is an extra package.
        try:
            lines = pandas.read_json(file(name), lines=True)
        except ImportError as error:
            print(f"skipped: pandas, {name}: {error}")
            continue
        assert list(lines["digest"]) == list(frame["digest"]), name
        assert list(lines["text"].fillna("")) == list(frame["text"].fillna("")), name
    rates = pandas.read_csv(file("rates.csv"))
    compared = [line for line in LINES if line["outcome"] in COMPARED]
    assert rates["pages"].sum() == len(compared), rates
    assert rates["stored"].sum() == len(STORED), rates
    assert ((rates["pages"] - rates["stored"]) / rates["pages"] - rates["duplicate_rate"]).abs().max() < 1e-6
    return len(frame)


def datasets():
    import datasets

    for kind, name in [("parquet", "pages.parquet"), ("json", "pages.jsonl.gz")]:
        data = datasets.load_dataset(kind, data_files=file(name), split="train", cache_dir=file("cache"))
        assert data["digest"][:] == [line["digest"] for line in STORED], name
    return len(data)


def responses(read):
    """Digest by URL, once for each response."""
    found = collections.Counter(read)
    assert found == collections.Counter((line["url"], line["digest"]) for line in STORED if "warc_file" in line)
    return len(found)


def warcio():
    from warcio.archiveiterator import ArchiveIterator

    def read():
        for record in ArchiveIterator(open(file("pages.warc.gz"), "rb"), check_digests="raise"):
            if record.rec_type == "response":
                record.content_stream().read()
                headers = record.rec_headers
                yield headers["WARC-Target-URI"], headers["WARC-Payload-Digest"]

    subprocess.run(["warcio", "check", file("pages.warc.gz")], check=True)
    return responses(read())


def fastwarc():
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    def read():
        with open(file("pages.warc.gz"), "rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=False):
                assert record.verify_block_digest(), record.headers
                record.parse_http()
                assert record.verify_payload_digest(), record.headers
                yield record.headers["WARC-Target-URI"], record.headers["WARC-Payload-Digest"]

    done = subprocess.run(["fastwarc", "check", file("pages.warc.gz")], capture_output=True, text=True)
    assert done.returncode == 0, done
    return responses(read())


def cdxj_indexer():
    """The indexes are, byte for byte, those that the tool makes, of pages: robots.txt and the like have no page."""
    for index, archives in [("pages.cdxj", [file("pages.warc.gz")]), ("index.cdxj", sorted(map(str, OUT.glob("warc/*.gz"))))]:
        made = subprocess.run(["cdxj-indexer", "--sort", *archives], check=True, capture_output=True).stdout
        lines = [line for line in made.splitlines(keepends=True) if json.loads(line.split(b" ", 2)[2])["url"] in PAGES]
        assert (EXPORTS / index).read_bytes() == b"".join(lines), index
    return len(lines)


def surt():
    """Keys of URLs that no test site has."""
    import surt as keys

    lines = [line.split("\t") for line in sys.stdin.read().splitlines()]
    for url, key in lines:
        assert keys.surt(url) == key, (url, keys.surt(url), key)
    return len(lines)


for tool in sys.argv[3:]:
    print(f"{tool}: {globals()[tool]()}", flush=True)
