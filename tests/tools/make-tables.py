"""Writes one table in the formats and types of a maker, into a folder. The first argument names the maker."""

import datetime
import os
import sys

MAKER, FOLDER = sys.argv[1:3]
TEXTS = [" ".join(f"{word}{row}" for word in "amber brook cedar delta ember frost grove haven".split() * 6) for row in range(4)]
URLS = [f"http://t.test/{row}" for row in range(4)]
IDS = list(range(4))
TIMES = [datetime.datetime(2016, 9, 19, 17, 20, 24 + row) for row in range(4)]
COLUMNS = {"url": URLS, "id": IDS, "text": TEXTS, "fetched_at": TIMES}


def path(name):
    return os.path.join(FOLDER, name)


def pyarrow():
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(COLUMNS)
    for codec in ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]:
        pq.write_table(table, path(f"{codec}.parquet"), compression=codec)
    types = {
        "large-string": pa.table({"url": pa.array(URLS, pa.large_string()), "text": pa.array(TEXTS, pa.large_binary())}),
        "dictionary": pa.table({"url": URLS, "text": pa.array(TEXTS).dictionary_encode()}),
        "null-column": pa.table({**COLUMNS, "html": pa.nulls(4)}),
        "list-beside": pa.table({**COLUMNS, "html": pa.array([["a"], [], None, ["b", "c"]])}),
        "map-beside": pa.table({**COLUMNS, "m": pa.array([[("k", 1)]] * 4, pa.map_(pa.string(), pa.int32()))}),
        "struct": pa.table({"text": TEXTS, "metadata": [{"url": url, "date": None} for url in URLS]}),
        "date": pa.table({**COLUMNS, "fetched_at": [time.date() for time in TIMES]}),
        "time-text": pa.table({**COLUMNS, "fetched_at": [f"{time:%Y-%m-%dT%H:%M:%SZ}" for time in TIMES]}),
    }
    if hasattr(pa, "string_view"):
        types["string-view"] = pa.table({"url": URLS, "text": pa.array(TEXTS).cast(pa.string_view())})
    for name, table in types.items():
        pq.write_table(table, path(f"{name}.parquet"))
    pq.write_table(pa.table(COLUMNS), path("int96.parquet"), use_deprecated_int96_timestamps=True)
    pq.write_table(pa.table(COLUMNS), path("pages-v2.parquet"), data_page_version="2.0", row_group_size=1, use_dictionary=False,
                   column_encoding={"text": "DELTA_LENGTH_BYTE_ARRAY", "url": "DELTA_BYTE_ARRAY"})


def pandas():
    import pandas as pd

    frame = pd.DataFrame(COLUMNS)
    frame.to_parquet(path("frame.parquet"))
    frame.set_index("url").to_parquet(path("index.parquet"))
    frame.to_csv(path("frame.csv"), index=False)
    frame.to_csv(path("excel.csv"), index=False, encoding="utf-8-sig", sep=";")
    frame.to_csv(path("frame.tsv"), sep="\t")
    frame.to_json(path("lines.jsonl"), orient="records", lines=True)
    frame.to_json(path("records.json"), orient="records", indent=2)


def polars():
    import polars as pl

    frame = pl.DataFrame(COLUMNS)
    for codec in ["lz4", "uncompressed", "snappy", "gzip", "brotli", "zstd"]:
        frame.write_parquet(path(f"{codec}.parquet"), compression=codec)
    frame.write_csv(path("frame.csv"))
    frame.write_ndjson(path("lines.jsonl"))
    frame.write_json(path("frame.json"))


def duckdb():
    import duckdb

    connection = duckdb.connect()
    rows = list(zip(URLS, IDS, TEXTS, TIMES))
    connection.execute("create table t (url varchar, id integer, text varchar, fetched_at timestamp)")
    connection.executemany("insert into t values (?, ?, ?, ?)", rows)
    for codec in ["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"]:
        connection.execute(f"copy t to '{path(codec + '.parquet')}' (format parquet, codec '{codec}')")
    connection.execute(f"copy t to '{path('table.csv')}' (header, delimiter '|')")
    connection.execute(f"copy t to '{path('lines.json')}' (format json)")
    connection.execute(f"copy t to '{path('array.json')}' (format json, array true)")


globals()[MAKER]()
