"""A whole set at once."""

import pickle
import random
import threading

import ndcrawl
import pytest

from test_deduplicator import DAWN, RAIN, SUN, texts

ROWS = [
    {"id": 7, "title": "Sun", "text": SUN},
    {"id": 8, "title": None, "text": RAIN},
    {"id": 9, "title": "Dawn", "text": DAWN},
    {"id": 10, "title": "Sun", "text": SUN},
]


def test_texts_are_kept_or_dropped_with_their_verdicts() -> None:
    result = ndcrawl.deduplicate(iter([SUN, RAIN, DAWN, SUN]), min_terms=5)
    assert result.kept == [SUN, RAIN] and result.kept_places == [0, 1]
    near, exact = result.dropped
    assert (near.record, near.place, near.kept, near.verdict.of) == (DAWN, 2, SUN, 0)
    assert near.score == near.verdict.score and near.loses_words == near.verdict.loses_words and near.loses_words
    assert (exact.verdict.kind, exact.score, exact.loses_words) == ("exact-duplicate", 1.0, 0)
    (sun,) = result.with_duplicates
    assert (sun.record, sun.place, [duplicate.place for duplicate in sun.duplicates]) == (SUN, 0, [2, 3])
    assert (len(result), result.duplicate_ratio, result.loses_words) == (4, 0.5, near.loses_words)
    assert repr(result) == "DeduplicationResult(threshold=0.3, kept=2, dropped=2)"
    assert result.documents.explain(0, 2).score == near.score
    empty = ndcrawl.deduplicate([])
    assert (empty.kept, empty.dropped, empty.with_duplicates, empty.duplicate_ratio) == ([], [], [], 0.0)


def test_rows_are_compared_by_columns() -> None:
    result = ndcrawl.deduplicate(ROWS, "text", min_terms=5)
    assert [row["id"] for row in result.kept] == [7, 8]
    assert [(it.record["id"], it.kept["id"]) for it in result.dropped] == [(9, 7), (10, 7)]
    both = ndcrawl.deduplicate(ROWS, columns=["title", "text"], min_terms=5)
    assert [row["id"] for row in both.kept] == [7, 8]
    joined = ndcrawl.deduplicate(["\n".join(filter(None, [row["title"], row["text"]])) for row in ROWS], min_terms=5)
    assert both.verdicts == joined.verdicts


@pytest.mark.parametrize("columns", ["text", ["title", "text"]])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "datasets"])
def test_tables_stay_what_they_are(library: str, columns) -> None:
    module = pytest.importorskip(library)
    names = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    make = {
        "pandas": lambda: module.DataFrame(names, index=list("wxyz")),
        "polars": lambda: module.DataFrame(names),
        "pyarrow": lambda: module.table(names),
        "datasets": lambda: module.Dataset.from_dict(names),
    }
    table = make[library]()
    result = ndcrawl.deduplicate(table, columns, min_terms=5)
    assert [row["id"] for row in result.kept] == [7, 8]
    assert [(it.record["id"], it.kept["text"]) for it in result.dropped] == [(9, SUN), (10, SUN)]
    selected = result.select(table)
    assert type(selected) is type(table) and len(selected) == 2 and len(result.select(table["id"])) == 2
    assert [int(str(number)) for number in selected["id"]] == [7, 8]
    assert result.select(["a", "b", "c", "d"]) == ["a", "b"]
    nothing = ndcrawl.deduplicate(make[library]()[:0] if library != "datasets" else table.select([]), columns)
    assert (nothing.kept, len(nothing.select(table.select([]) if library == "datasets" else table[:0]))) == ([], 0)
    with pytest.raises(ValueError, match="name those that are compared"):
        ndcrawl.deduplicate(table)


def test_columns_of_tables_are_texts() -> None:
    for library, make in [("pandas", "Series"), ("polars", "Series"), ("pyarrow", "array"), ("numpy", "array")]:
        column = getattr(pytest.importorskip(library), make)([SUN, RAIN, DAWN])
        result = ndcrawl.deduplicate(column, min_terms=5)
        assert result.kept == [SUN, RAIN] and result.dropped[0].kept == SUN
        assert len(result.select(column)) == 2


def test_records_that_cannot_be_compared_are_errors() -> None:
    pd = pytest.importorskip("pandas")
    for error, message, call in [
        (ValueError, r"document 1 is missing \(null\)", lambda: ndcrawl.deduplicate([{"a": "x"}, {"b": "y"}], "a")),
        (ValueError, "no record has the column 'c'", lambda: ndcrawl.deduplicate(ROWS, ["text", "c"])),
        (ValueError, "columns: name at least one", lambda: ndcrawl.deduplicate(ROWS, [])),
        (TypeError, "record 1: columns are those of a dict, not of str", lambda: ndcrawl.deduplicate([ROWS[0], "x"], "text")),
        (TypeError, "holds str, not int", lambda: ndcrawl.deduplicate(ROWS, ["id", "text"])),
        (ValueError, "document 0 is missing", lambda: ndcrawl.deduplicate(pd.DataFrame({"a": [None], "b": [pd.NA]}), ["a", "b"])),
        (ValueError, "3 rows and 4 records", lambda: ndcrawl.deduplicate(ROWS, "text").select([1, 2, 3])),
        (ValueError, "1.5 is not a threshold", lambda: ndcrawl.deduplicate(ROWS, "text", threshold=1.5)),
    ]:
        with pytest.raises(error, match=message):
            call()


def test_another_threshold_is_the_result_of_a_fresh_run() -> None:
    chance, changed = random.Random(3), 0
    for seed in range(12):
        given = texts(120, seed)
        settings = {"own_words": seed % 2 == 0, "min_terms": chance.choice([1, 20])}
        result = ndcrawl.deduplicate(given, threshold=chance.random(), **settings)
        for _ in range(3):
            threshold = chance.random()
            again, fresh = result.rethreshold(threshold), ndcrawl.deduplicate(given, threshold=threshold, **settings)
            assert again.threshold == fresh.threshold
            assert (again.verdicts, again.kept, again.dropped) == (fresh.verdicts, fresh.kept, fresh.dropped)
            changed += again.verdicts != result.verdicts
            result = again
    assert changed > 10


def test_results_survive_pickling() -> None:
    result = ndcrawl.deduplicate(ROWS, "text", min_terms=5)
    again = pickle.loads(pickle.dumps(result))
    assert (again.kept, again.dropped, again.with_duplicates) == (result.kept, result.dropped, result.with_duplicates)
    assert again.rethreshold(0.99).kept == result.rethreshold(0.99).kept == [ROWS[0], ROWS[1], ROWS[2]]


def test_what_comes_later_is_no_record() -> None:
    result = ndcrawl.deduplicate([SUN, RAIN], min_terms=5)
    assert result.documents.insert(DAWN, "later").of == 0
    assert result.documents.insert(RAIN).of == 1
    again = result.rethreshold(0.99)
    assert (again.kept, again.documents.verdict("later").kind, len(again)) == ([SUN, RAIN], "unique", 2)


def test_threads_share_a_result() -> None:
    given = texts(200)
    result = ndcrawl.deduplicate(given)
    found: list[object] = []

    def work(threshold: float) -> None:
        again = result.rethreshold(threshold)
        found.append((again.verdicts == ndcrawl.deduplicate(given, threshold=threshold).verdicts, len(result.dropped)))

    threads = [threading.Thread(target=work, args=(threshold,)) for threshold in (0.9, 0.95)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(True, len(result.dropped))] * 2
