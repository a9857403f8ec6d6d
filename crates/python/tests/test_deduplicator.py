"""Verdicts, queries, explanations, saving, and threads."""

import ast
import inspect
import pickle
import random
import threading
from pathlib import Path

import ndcrawl
import pytest

SUN = "The sun rose over the hills, and birds began to sing in every old tree."
DAWN = "The sun rose over the hills, and birds began to call in every old tree."
RAIN = "Rain fell on the town all day and nobody went out to the market at noon."


def texts(count: int, seed: int = 1) -> list[str]:
    """Texts of which about a third repeat an earlier one with some words changed."""
    chance = random.Random(seed)
    words = [f"word{number}" for number in range(3000)]
    made: list[list[str]] = []
    for _ in range(count):
        if made and chance.random() < 0.33:
            text = list(chance.choice(made))
            for _ in range(chance.randrange(4)):
                text[chance.randrange(len(text))] = chance.choice(words)
        else:
            text = chance.choices(words, k=40)
        made.append(text)
    return [" ".join(text) for text in made]


def test_verdicts_name_the_kept_document() -> None:
    documents = ndcrawl.Deduplicator(0.8, min_terms=5)
    assert documents.insert(SUN, "sun").is_unique
    near = documents.insert(DAWN, "dawn")
    assert (near.kind, near.of) == ("near-duplicate", "sun")
    assert near.score is not None and 0.8 <= near.score < 1
    exact = documents.insert("  " + SUN.replace(" ", "\n"), "again")
    assert exact == ndcrawl.Verdict("exact-duplicate", "sun") and exact.score == 1
    assert documents.insert(RAIN, 7).kind == "unique"
    assert documents.verdict("dawn") == near
    assert (len(documents), documents.keys()) == (4, ["sun", "dawn", "again", 7])
    assert "dawn" in documents and 7 in documents and "rain" not in documents and None not in documents
    assert documents.threshold == 0.8


def test_without_key_a_document_is_named_by_its_number() -> None:
    documents = ndcrawl.Deduplicator(min_terms=5)
    assert documents.insert(SUN).is_unique
    assert documents.insert_many([RAIN, DAWN])[1].of == 0
    assert documents.keys() == [0, 1, 2]


def test_matches_and_explanations() -> None:
    documents = ndcrawl.Deduplicator(min_terms=5)
    documents.insert_many([SUN, RAIN], ["sun", "rain"])
    (match,) = documents.matches(DAWN)
    assert match.key == "sun" and match.score == documents.insert(DAWN, "dawn").score
    assert documents.matches(DAWN, 0.99) == []
    assert documents.matches_many([DAWN, RAIN, ""], 0.5) == [[match], [ndcrawl.Match("rain", 1.0)], []]
    explanation = documents.explain("sun", "dawn")
    assert (explanation.score, explanation.is_exact) == (match.score, False)
    assert sum(term.shared for term in explanation.terms) == pytest.approx(match.score, abs=1e-5)
    assert {term.term for term in explanation.terms if not term.shared} == {"sing", "call"}


def test_forms_that_are_filled_in_otherwise_are_other_documents() -> None:
    form = " ".join(f"form{number}" for number in range(300))
    forms = [f"{form} " + " ".join(f"own{number}x{word}" for word in range(60)) for number in range(40)]
    documents, weights = ndcrawl.Deduplicator(), ndcrawl.Deduplicator(own_words=False)
    assert (documents.threshold, weights.threshold) == (0.3, 0.8)
    assert all(verdict.is_unique for verdict in documents.insert_many(forms)[16:])
    assert sum(verdict.is_unique for verdict in weights.insert_many(forms)) == 1
    edited = documents.insert(forms[39] + " a few more words")
    assert (edited.kind, edited.of, edited.lacks_words) == ("near-duplicate", 39, 0)
    assert edited.adds_words is not None and 1 <= edited.adds_words <= 4
    assert repr(edited).endswith(f"adds_words={edited.adds_words}, lacks_words=0, words=364, loses_words={edited.loses_words})")
    assert documents.verdict(0).adds_words is None


def test_a_document_that_would_lose_more_words_is_kept() -> None:
    words = [f"word{number}" for number in range(200)]
    texts = [" ".join(words), " ".join(words[:190]), " ".join([*words[:190], "another"])]

    def kept(most: int | str | None) -> int:
        return sum(verdict.is_unique for verdict in ndcrawl.Deduplicator(lose_at_most=most).insert_many(texts))

    assert [kept(most) for most in [0, 1, "0.5%", "1%", None]] == [2, 1, 2, 1, 1]
    for wrong in [-1, "1.5", "200%", ""]:
        with pytest.raises((ValueError, OverflowError, TypeError)):
            ndcrawl.Deduplicator(lose_at_most=wrong)
    with pytest.raises(ValueError, match="own_words"):
        ndcrawl.Deduplicator(own_words=False, lose_at_most=0)


def test_weighted_terms_are_a_dict_or_pairs() -> None:
    documents = ndcrawl.Deduplicator(0.5, own_words=False, min_terms=1)
    documents.insert({"a": 3, "b": 1.0}, "first")
    assert documents.insert([("b", 1), ("a", 3)], "second") == ndcrawl.Verdict("exact-duplicate", "first")
    assert documents.insert((("a", 6.0),), "third") == ndcrawl.Verdict("near-duplicate", "first", 0.75)


def test_a_batch_has_the_verdicts_of_single_insertions() -> None:
    given = texts(3000)
    one, many = ndcrawl.Deduplicator(), ndcrawl.Deduplicator(threads=3)
    verdicts = [one.insert(text) for text in given]
    assert many.insert_many(given) == verdicts
    assert 500 < sum(not verdict.is_unique for verdict in verdicts) < 1500


def test_what_is_saved_goes_on_as_before(tmp_path) -> None:
    given = texts(400)
    documents = ndcrawl.Deduplicator(0.7, min_terms=3)
    documents.insert_many(given[:200])
    path = tmp_path / "index.ndc"
    documents.save(path)
    loaded = [ndcrawl.Deduplicator.load(path, threads=1), pickle.loads(pickle.dumps(documents))]
    expected = documents.insert_many(given[200:])
    for other in loaded:
        assert (len(other), other.threshold) == (200, 0.7)
        assert other.insert_many(given[200:]) == expected
    assert [entry.name for entry in tmp_path.iterdir()] == ["index.ndc"]


def test_values_survive_pickling() -> None:
    for value in [
        ndcrawl.Verdict("unique"),
        ndcrawl.Verdict("near-duplicate", 3, 0.912345),
        ndcrawl.Verdict("near-duplicate", 3, 0.912345, adds_words=3, lacks_words=0, words=40, loses_words=4),
        ndcrawl.Verdict("exact-duplicate", "a"),
        ndcrawl.Match("a", 0.5),
        ndcrawl.PairVerdict("unique", 0.25),
        ndcrawl.PairVerdict("near-duplicate", 0.912345, adds_words=3, lacks_words=0, words=40, loses_words=4),
        ndcrawl.PairVerdict("exact-duplicate", 1.0),
    ]:
        assert pickle.loads(pickle.dumps(value)) == value
    error = pickle.loads(pickle.dumps(ndcrawl.ProgramError("out: in use", 6, "wait")))
    assert (str(error), error.exit_code) == ("out: in use (hint: wait)", 6)


def test_errors_say_what_is_wrong_and_take_nothing_in(tmp_path) -> None:
    documents = ndcrawl.Deduplicator(min_terms=5)
    documents.insert(SUN, "sun")
    damaged, missing = tmp_path / "damaged", tmp_path / "no" / "such"
    damaged.write_bytes(b"not an index")
    for error, message, call in [
        (ValueError, "1.5 is not a threshold: give a number from 0 to 1", lambda: ndcrawl.Deduplicator(1.5)),
        (ValueError, "nan is not a threshold|NaN is not a threshold", lambda: ndcrawl.Deduplicator(float("nan"))),
        (ValueError, "no rules for language 'xx'", lambda: ndcrawl.Deduplicator(language="xx")),
        (ValueError, "threads: give 1 or more", lambda: ndcrawl.Deduplicator(threads=0)),
        (ValueError, "key 'sun' was inserted before", lambda: documents.insert(RAIN, "sun")),
        (ValueError, "key 'sun' was inserted before", lambda: documents.insert_many([RAIN, DAWN], ["rain", "sun"])),
        (ValueError, "term 'a' weighs -1: give a number", lambda: documents.insert({"a": -1}, "new")),
        (ValueError, "document 1: term 'b' weighs inf", lambda: documents.insert_many([RAIN, {"b": float("inf")}])),
        (ValueError, r"document 1 is missing \(null\)", lambda: documents.insert_many([RAIN, None])),
        (ValueError, "2 documents and 1 keys", lambda: documents.insert_many([RAIN, DAWN], ["one"])),
        (TypeError, "a document is a str, or weighted terms", lambda: documents.insert(5)),
        (TypeError, "not bytes: decode it first", lambda: documents.insert(b"text")),
        (TypeError, "number 1: a document is a str", lambda: documents.insert_many([RAIN, 5])),
        (TypeError, "put it into a list", lambda: documents.insert_many(RAIN)),
        (TypeError, "a key is a str or an int, not float", lambda: documents.insert(RAIN, 1.5)),
        (OverflowError, "large", lambda: documents.insert(RAIN, 2**70)),
        (UnicodeEncodeError, "surrogates", lambda: documents.insert("\ud800")),
        (KeyError, "no document has the key 'rain'", lambda: documents.explain("sun", "rain")),
        (KeyError, "no document has the key 9", lambda: documents.verdict(9)),
        (KeyError, "no document has the key 'rain'", lambda: documents.remove_many(["sun", "rain"])),
        (ValueError, "2.0 is not a threshold|2 is not a threshold", lambda: documents.rethreshold(2)),
        (KeyError, "no document has the key 'rain'", lambda: documents.judge([("sun", "rain")], by_key=True)),
        (TypeError, "number 0: expected a pair, the kept one first", lambda: documents.judge([SUN])),
        (TypeError, "number 1: expected a pair", lambda: documents.judge([(SUN, DAWN), (SUN, DAWN, RAIN)])),
        (TypeError, "number 0: a document is a str", lambda: documents.judge([(SUN, 5)])),
        (ValueError, r"number 0: one of the pair is missing \(null\)", lambda: documents.judge([(SUN, None)])),
        (ValueError, "document 1: term 'a' weighs -1", lambda: documents.judge([(SUN, RAIN), (SUN, {"a": -1})])),
        (ValueError, "no verdict on a pair", lambda: ndcrawl.PairVerdict("unique", 0.5, adds_words=1)),
        (ValueError, "damaged: not a deduplicator", lambda: ndcrawl.Deduplicator.load(damaged)),
        (FileNotFoundError, "such", lambda: ndcrawl.Deduplicator.load(missing)),
        (FileNotFoundError, "such", lambda: documents.save(missing)),
    ]:
        with pytest.raises(error, match=message):
            call()
    assert documents.keys() == ["sun"]


def test_what_is_removed_was_never_there(tmp_path) -> None:
    documents = ndcrawl.Deduplicator(min_terms=5)
    documents.insert_many([SUN, RAIN, DAWN, DAWN + " Again."], ["sun", "rain", "dawn", "again"])
    assert documents.verdict("again").of == "sun"
    changed = documents.remove("sun")
    assert list(changed) == ["dawn", "again"]
    assert changed["dawn"].is_unique and changed["again"].of == "dawn"
    assert "sun" not in documents and documents.keys() == ["rain", "dawn", "again"]
    assert documents.insert(SUN, "sun").of == "dawn", "it may come back, as a later one"
    assert documents.remove_many(documents.keys()) == {} and len(documents) == 0
    path = tmp_path / "index.ndc"
    documents.save(path)
    assert not any(word in path.read_bytes() for word in [b"sun", b"hill", b"dawn"])


def test_numbers_of_removed_documents_name_no_two() -> None:
    documents = ndcrawl.Deduplicator(min_terms=5)
    documents.insert_many([SUN, RAIN, DAWN])
    documents.remove(1)
    documents.insert_many([RAIN, RAIN])
    assert documents.keys() == [0, 2, 3, 4]


@pytest.mark.parametrize("own_words", [True, False])
def test_removal_and_thresholds_are_those_of_a_fresh_one(own_words: bool) -> None:
    chance = random.Random(7)
    for seed in range(6):
        given = texts(150, seed)
        threshold, another = chance.random(), chance.random()
        documents = ndcrawl.Deduplicator(threshold, own_words=own_words, threads=1)
        documents.insert_many(given)
        removed = chance.sample(range(len(given)), 20)
        documents.remove_many(removed)
        stay = [number for number in range(len(given)) if number not in removed]
        for again, limit in [(documents, threshold), (documents.rethreshold(another), another)]:
            fresh = ndcrawl.Deduplicator(limit, own_words=own_words)
            verdicts = fresh.insert_many([given[number] for number in stay], stay)
            assert [again.verdict(number) for number in stay] == verdicts
            assert again.matches_many(given, 0.2) == fresh.matches_many(given, 0.2)
            assert again.insert_many(given, map(str, range(150))) == fresh.insert_many(given, map(str, range(150)))


def test_pairs_are_judged_as_insertions_are() -> None:
    given = texts(300)
    documents = ndcrawl.Deduplicator()
    verdicts = documents.insert_many(given)
    pairs = [(verdict.of, number) for number, verdict in enumerate(verdicts) if verdict.kind == "near-duplicate"]
    assert len(pairs) > 50
    by_text = ndcrawl.judge((given[kept], given[number]) for kept, number in pairs)
    assert by_text == ndcrawl.judge(pairs, dict(enumerate(given)), threads=1)
    by_key = documents.judge(pairs, by_key=True)
    assert by_key == documents.judge((given[kept], given[number]) for kept, number in pairs)
    # What is common by now was nobody's knowledge then.
    assert [pair.score for pair in by_key] == [pair.score for pair in by_text]
    for (kept, number), pair in zip(pairs, by_text):
        verdict = verdicts[number]
        assert (pair.kind, pair.score) == (verdict.kind, verdict.score)
        assert (pair.words, pair.loses_words) == (verdict.words, verdict.loses_words)
        if number < 16:  # before anything is learned
            assert (pair.adds_words, pair.lacks_words) == (verdict.adds_words, verdict.lacks_words)
        assert pair.is_duplicate and pair.contained == 1 - verdict.loses_words / verdict.words
    different, same = ndcrawl.judge([(SUN, RAIN), (SUN, " " + SUN)], min_terms=5)
    assert (different.kind, different.is_duplicate, different.contained) == ("unique", False, 0.0)
    assert (same.kind, same.score, same.loses_words, same.contained) == ("exact-duplicate", 1.0, 0, 1.0)
    (weights,) = ndcrawl.judge([({"a": 1.0}, {"a": 3.0, "b": 1.0})], min_terms=1, threshold=0.7, own_words=False)
    assert (weights.kind, weights.score, weights.words, weights.contained) == ("near-duplicate", 0.75, None, None)
    assert len(documents) == 300 and ndcrawl.judge([]) == []


def test_what_is_common_is_nobodys_own_in_a_pair() -> None:
    form = " ".join(f"form{number}" for number in range(200))
    forms = [f"{form} " + " ".join(f"own{number}x{word}" for word in range(12)) for number in range(40)]
    documents = ndcrawl.Deduplicator()
    documents.insert_many(forms)
    pair = (forms[0], forms[1])
    assert ndcrawl.judge([pair])[0].kind == "near-duplicate"
    assert documents.judge([pair])[0].kind == "unique"


def test_threads_remove_and_insert_side_by_side() -> None:
    given = texts(400)
    documents = ndcrawl.Deduplicator(threads=1)
    failed: list[BaseException] = []

    def work(first: int) -> None:
        try:
            for begin in range(first, len(given), 100):
                keys = [f"{begin + n}" for n in range(50)]
                documents.insert_many(given[begin : begin + 50], keys)
                documents.remove_many(keys[:10])
                documents.judge([(given[begin], given[begin + 1])])
                documents.rethreshold(0.9)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and len(documents) == 320
    order = documents.keys()
    fresh = ndcrawl.Deduplicator()
    verdicts = fresh.insert_many([given[int(key)] for key in order], order)
    assert [documents.verdict(key) for key in order] == verdicts


def test_threads_share_a_deduplicator() -> None:
    given = texts(2000)
    documents = ndcrawl.Deduplicator(own_words=False, threads=1)
    failed: list[BaseException] = []

    def work(first: int) -> None:
        try:
            for begin in range(first, len(given), 100):
                batch = given[begin : begin + 50]
                documents.insert_many(batch, [f"{begin + n}" for n in range(len(batch))])
                documents.matches_many(batch[:5])
                documents.matches(batch[0])
                len(documents), repr(documents), documents.verdict(f"{begin}")
                pickle.dumps(documents) if begin % 500 == 0 else None
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    # Whatever the order was: no two kept documents are similar, and each duplicate names a kept one.
    kept = {key for key in documents.keys() if documents.verdict(key).is_unique}
    for key in documents.keys():
        found = [match.key for match in documents.matches(given[int(key)])]
        assert found == [key] if key in kept else documents.verdict(key).of in found
    assert len(documents) == 2000


@pytest.mark.parametrize("own_words", [True, False])
@pytest.mark.parametrize("size", [1, 40, 1500])
def test_threads_decide_as_one_does_in_their_order(size: int, own_words: bool) -> None:
    given = texts(3000)
    documents = ndcrawl.Deduplicator(0.6, own_words=own_words, threads=1)
    batches = [range(begin, min(begin + size, len(given))) for begin in range(0, len(given), size)]
    waiting, failed, told = iter(batches), [], {}

    def work() -> None:
        try:
            for batch in waiting:
                if size == 1:
                    told[batch[0]] = documents.insert(given[batch[0]], batch[0])
                else:
                    told.update(zip(batch, documents.insert_many([given[n] for n in batch], list(batch))))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
    assert not failed and not any(thread.is_alive() for thread in threads)
    order = documents.keys()
    assert sorted(order) == list(range(len(given)))
    starts = [order.index(batch[0]) for batch in batches]
    assert all(order[start : start + len(batch)] == list(batch) for start, batch in zip(starts, batches))
    alone = ndcrawl.Deduplicator(0.6, own_words=own_words, threads=1)
    assert alone.insert_many([given[number] for number in order], order) == [told[number] for number in order]
    assert all(documents.verdict(number) == verdict for number, verdict in told.items())
    assert documents.matches_many(given[:200]) == alone.matches_many(given[:200])


def test_help_says_what_the_stubs_say() -> None:
    stubs = ast.parse(Path(ndcrawl.__file__).with_name("_native.pyi").read_text())
    documented = 0
    for node in ast.walk(stubs):
        owner = node if isinstance(node, ast.ClassDef) else None
        for item in [node, *owner.body] if owner else [node]:
            if not isinstance(item, (ast.ClassDef, ast.FunctionDef)) or not ast.get_docstring(item):
                continue
            if owner is None and not hasattr(ndcrawl._native, item.name):
                continue
            holder = getattr(ndcrawl._native, owner.name) if owner and item is not owner else ndcrawl._native
            if item.name != "__len__":
                assert inspect.getdoc(getattr(holder, item.name)) == ast.get_docstring(item), item.name
                documented += 1
    assert documented > 35
