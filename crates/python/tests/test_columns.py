"""Columns of pyarrow, polars, pandas and numpy."""

import ndcrawl
import pytest

TEXTS = [
    "The sun rose over the hills, and birds began to sing in every old tree.",
    "Räin fell on the töwn all day and nobody went out to the market at noon.",
    "The sun rose over the hills, and birds began to call in every old tree.",
    "",
]
EXPECTED = ["unique", "unique", "near-duplicate", "unique"]


def kinds(documents, keys=None) -> list[str]:
    return [verdict.kind for verdict in ndcrawl.Deduplicator(min_terms=5).insert_many(documents, keys)]


@pytest.mark.parametrize("make", [list, tuple, iter, lambda texts: (text for text in texts)])
def test_iterables(make) -> None:
    assert kinds(make(TEXTS)) == EXPECTED


@pytest.mark.parametrize("name", ["string", "large_string", "string_view"])
def test_arrays_of_pyarrow(name: str) -> None:
    pa = pytest.importorskip("pyarrow")
    array = pa.array(TEXTS, getattr(pa, name)())
    assert kinds(array, pa.array([5, 6, 7, 8])) == EXPECTED
    assert kinds(array.slice(1, 2)) == ["unique", "unique"]
    assert kinds(pa.chunked_array([array.slice(0, 1), array.slice(1)]), pa.array(list("abcd"))) == EXPECTED
    found = ndcrawl.Deduplicator(min_terms=5)
    found.insert_many(array)
    assert [len(matches) for matches in found.matches_many(array)] == [1, 1, 1, 0]


def test_arrays_of_other_types_are_refused() -> None:
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match="a document is a str"):
        kinds(pa.array([1, 2]))
    with pytest.raises(TypeError, match="not bytes"):
        kinds(pa.array([b"text"]))
    with pytest.raises(ValueError, match=r"document 1 is missing \(null\)"):
        kinds(pa.array(["text", None]))
    assert kinds(pa.array(TEXTS).dictionary_encode()) == EXPECTED


def test_series_of_polars() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"id": ["a", "b", "c", "d"], "text": TEXTS})
    assert kinds(frame["text"], frame["id"]) == EXPECTED
    with pytest.raises(ValueError, match="document 1 is missing"):
        kinds(pl.Series(["text", None]))


@pytest.mark.parametrize("dtype", [object, "string", "string[pyarrow]", "str"])
def test_series_of_pandas(dtype) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": [4, 5, 6, 7], "text": pd.Series(TEXTS, dtype=dtype)}).set_index(pd.Index(list("wxyz")))
    assert kinds(frame["text"], frame["id"]) == EXPECTED
    with pytest.raises(ValueError, match="document 1 is missing"):
        kinds(pd.Series(["text", None], dtype=dtype))


def test_series_of_weighted_terms() -> None:
    pd = pytest.importorskip("pandas")
    documents = ndcrawl.Deduplicator(0.5, min_terms=1)
    verdicts = documents.insert_many(pd.Series([{"a": 1.0}, {"a": 2.0, "b": 0.0}, {"c": 1.0}]))
    assert [verdict.kind for verdict in verdicts] == ["unique", "near-duplicate", "unique"]


def test_arrays_of_numpy() -> None:
    np = pytest.importorskip("numpy")
    assert kinds(np.array(TEXTS), np.arange(4)) == EXPECTED
    assert kinds(np.array(TEXTS, dtype=object), np.array(list("abcd"))) == EXPECTED
