"""no_rows.py FILE.parquet READER...: reads a table without rows with each reader, and prints its columns as each sees them."""
import json
import sys

file, *readers = sys.argv[1:]
found = {}
if "pyarrow" in readers:
    import pyarrow.parquet
    table = pyarrow.parquet.read_table(file)
    assert table.num_rows == 0
    found["pyarrow"] = table.column_names
if "pandas" in readers:
    import pandas
    frame = pandas.read_parquet(file)
    assert len(frame) == 0
    found["pandas"] = list(frame.columns)
if "polars" in readers:
    import polars
    frame = polars.read_parquet(file)
    assert frame.height == 0
    found["polars"] = frame.columns
if "duckdb" in readers:
    import duckdb
    relation = duckdb.sql(f"select * from '{file}'")
    assert relation.fetchall() == []
    found["duckdb"] = relation.columns
print(json.dumps(found))
