"""Whatever Python passes in, the answer is a value or an ordinary exception, never a panic."""

import pickle
import threading

import ndcrawl
from hypothesis import given, settings
from hypothesis import strategies as st

ALL_TEXT = st.text(st.characters())  # lone surrogates too
KEYS = st.one_of(st.none(), st.integers(), ALL_TEXT, st.floats(), st.binary(), st.booleans())
WEIGHTS = st.one_of(st.floats(), st.integers(), st.none())
TERMS = st.one_of(st.dictionaries(ALL_TEXT, WEIGHTS), st.lists(st.tuples(ALL_TEXT, WEIGHTS)))
ANYTHING = st.one_of(st.none(), st.binary(), st.integers(), st.floats(), st.lists(st.integers()), st.tuples())
DOCUMENTS = st.one_of(ALL_TEXT, st.text("abc de\n"), TERMS, ANYTHING)
EXPECTED = (ValueError, TypeError, OverflowError, KeyError)


def ordinary(call, *arguments):
    """Calls; ordinary exceptions pass. A panic is no `Exception` and does not."""
    try:
        return call(*arguments)
    except EXPECTED:
        return None


@given(st.lists(st.tuples(DOCUMENTS, KEYS), max_size=8), st.floats(), st.integers(0, 5))
@settings(deadline=None)
def test_insertions_queries_and_pickling(pairs, threshold, min_terms) -> None:
    documents = ndcrawl.Deduplicator(0.5, min_terms=min_terms, threads=2)
    taken = 0
    for document, key in pairs:
        taken += ordinary(documents.insert, document, key) is not None
        ordinary(documents.matches, document, threshold)
        ordinary(documents.explain, key, key)
    assert len(documents) == taken
    batch = [document for document, _ in pairs]
    ordinary(documents.insert_many, batch, [key for _, key in pairs])
    ordinary(documents.insert_many, batch)
    ordinary(documents.matches_many, batch, threshold)
    assert pickle.loads(pickle.dumps(documents)).keys() == documents.keys()


@given(st.lists(st.tuples(DOCUMENTS, KEYS), max_size=8), st.lists(KEYS, max_size=4), st.floats())
@settings(deadline=None)
def test_removals_thresholds_and_pairs(pairs, removed, threshold) -> None:
    documents = ndcrawl.Deduplicator(0.5, min_terms=1, threads=2)
    for document, key in pairs:
        ordinary(documents.insert, document, key)
    ordinary(documents.judge, [(one, other) for one, _ in pairs for other, _ in pairs[:2]])
    ordinary(lambda: documents.judge([(key, key) for _, key in pairs], by_key=True))
    ordinary(documents.judge, removed)
    again = ordinary(documents.rethreshold, threshold)
    assert again is None or again.keys() == documents.keys()
    before = documents.keys()
    for key in removed:
        gone = ordinary(documents.remove, key) is not None
        assert len(documents) == len(before) - gone
        before = documents.keys()
    assert pickle.loads(pickle.dumps(documents)).keys() == before


ROWS = st.dictionaries(st.sampled_from(["a", "b"]), DOCUMENTS)


@given(st.lists(st.one_of(ROWS, DOCUMENTS), max_size=6), st.one_of(st.none(), st.sampled_from(["a", "c"]), st.lists(st.sampled_from(["a", "b"]))))
@settings(deadline=None)
def test_records(records, columns) -> None:
    result = ordinary(lambda: ndcrawl.deduplicate(records, columns, min_terms=1))
    if result is not None:
        assert len(result.kept) + len(result.dropped) == len(records)
        assert pickle.loads(pickle.dumps(result)).verdicts == result.verdicts


@given(st.floats(), st.integers(), st.one_of(st.none(), ALL_TEXT), st.integers())
@settings(deadline=None)
def test_settings(threshold, min_terms, language, threads) -> None:
    # Threads cost memory: more of them than this are refused by nobody.
    threads = min(threads, 64)
    ordinary(lambda: ndcrawl.Deduplicator(threshold, min_terms=min_terms, language=language, threads=threads))


@given(st.one_of(st.binary(), ALL_TEXT, ANYTHING), st.one_of(st.none(), ALL_TEXT), st.one_of(st.none(), ALL_TEXT))
@settings(deadline=None)
def test_pages(html, url, content_type) -> None:
    ordinary(lambda: ndcrawl.extract(html, url, content_type=content_type))
    page = ordinary(lambda: ndcrawl.extract(html))
    assert page is None or isinstance(page.text, str)


@given(st.binary(), st.integers(0, 200), st.integers(0, 255))
@settings(deadline=None)
def test_damaged_indexes(noise, place, value) -> None:
    documents = ndcrawl.Deduplicator(min_terms=1)
    documents.insert_many(["one two three", "four five six"])
    make, (saved,) = documents.__reduce__()
    damaged = bytearray(saved)
    damaged[place % len(damaged)] ^= value
    ordinary(make, bytes(damaged))
    ordinary(make, noise)
    ordinary(make, saved[: place % len(saved)])


@given(st.lists(st.text("abcd ", max_size=40), min_size=1, max_size=20))
@settings(deadline=None, max_examples=25)
def test_threads(texts) -> None:
    documents = ndcrawl.Deduplicator(0.5, min_terms=1)
    failed: list[BaseException] = []

    def work() -> None:
        try:
            for text in texts:
                ordinary(documents.insert, text, text)
                documents.matches_many(texts)
                pickle.dumps(documents)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and len(documents) == len(set(texts))
