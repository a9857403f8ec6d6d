from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, Literal, final

from ._types import Document, Documents, Key

__version__: str

__all__ = [
    "Deduplicator",
    "Explanation",
    "Link",
    "Match",
    "NativeRun",
    "Page",
    "PairVerdict",
    "TermShare",
    "Verdict",
    "__version__",
    "extract",
    "main",
]

@final
class Deduplicator:
    """An incremental index of documents.

    A text is a near-duplicate of a kept one if it says for itself what that one says for itself, as in a crawl, and the
    similarity of their weights reaches the threshold. What several different documents say (a licence, a form, the frame
    of a page) is nobody's own; it is learned from the documents that are taken in.

    The similarity is minimum weight overlapping: the sum, over all terms, of the smaller of the two documents' shares.
    It is a number from 0 to 1. With ``own_words=False`` it decides alone, and verdicts are those of a comparison with
    every kept document. Weighted terms have no words in order: their weights decide alone, from 0.8 on, or from the
    threshold if that is higher.

    Threads share it. They count terms side by side, and Python's lock is released meanwhile; decisions wait for each
    other. Verdicts are those of the order in which the documents are taken in, that of `keys`. A batch is
    taken in without others between.

    Args:
        threshold: The similarity of weights that a near-duplicate needs, from 0 to 1, rounded to millionths. ``None``
            for 0.3, since own words decide, and for 0.8 without them.
        own_words: Whether texts are also compared by what each says for itself.
        lose_at_most: The most words of a document that may stand in no run of four words that the kept one has: a number,
            or a share of its words such as ``"1%"``. One that would lose more is unique; with 0, only what a kept document
            contains is dropped. ``None`` for what own words allow. Weighted terms are exact duplicates or unique then.
        min_terms: Distinct terms that a document needs to be compared by similarity. Shorter ones are exact
            duplicates or unique: short texts resemble each other by chance.
        language: The language whose stemmer and stop words apply, as a primary BCP 47 subtag. ``None`` keeps words as
            they are. ``en`` also serves collections in several languages.
        threads: Threads that work at once in one call; ``None`` for one on each core. Verdicts do not depend on it.

    Raises:
        ValueError: For a threshold outside of 0 to 1, a bound that is none, a language without rules, or no threads.
    """

    def __new__(
        cls,
        threshold: float | None = None,
        *,
        own_words: bool = True,
        lose_at_most: int | str | None = None,
        min_terms: int = 20,
        language: str | None = "en",
        threads: int | None = None,
    ) -> Deduplicator: ...
    def insert(self, document: Document, key: Key | None = None) -> Verdict:
        """Takes a document in and returns its verdict.

        Args:
            document: A text, or weighted terms as a dict or pairs.
            key: Names the document. Without, the first number from ``len()`` on that names none: its place, unless
                documents were removed.

        Raises:
            ValueError: If the key was inserted before, or a weight is not from 0 to 40 million. Nothing is taken in.
        """

    def insert_many(self, documents: Documents, keys: Iterable[Key] | None = None) -> list[Verdict]:
        """Takes documents in, in order, and returns their verdicts, one each.

        Verdicts are those of one `insert` each. Terms are counted on several threads.

        Raises:
            ValueError: As `insert`; for a missing value; for more or fewer keys than documents. None of the documents
                is taken in.
        """

    def matches(self, document: Document, threshold: float | None = None) -> list[Match]:
        """Returns the kept documents similar to this one, most similar first. The document is not taken in.

        Args:
            threshold: The least similarity, from 0 to 1; without, that of the verdicts.
        """

    def matches_many(self, documents: Documents, threshold: float | None = None) -> list[list[Match]]:
        """Returns `matches` for each of the documents, in order; on several threads."""

    def judge(self, pairs: Iterable[Iterable[Any]], *, by_key: bool = False) -> list[PairVerdict]:
        """Decides about the second document of each pair as if the first one were the only kept one.

        For candidate pairs of another tool. Nothing is taken in. Common text is what the documents say that were taken
        in; without any, all words are a document's own.

        Args:
            pairs: Pairs of documents, the kept one first.
            by_key: Whether they are keys of documents that were inserted.

        Raises:
            KeyError: If no document has one of the keys.
            ValueError: For a missing value, or a weight that is none.
        """

    def remove(self, key: Key) -> dict[Key, Verdict]:
        """Removes a document, and returns the new verdicts of others, by key.

        See `remove_many`.

        Raises:
            KeyError: If no document has the key.
        """

    def remove_many(self, keys: Iterable[Key]) -> dict[Key, Verdict]:
        """Removes documents, and returns the new verdicts of others, by key.

        All is then as if they had never been inserted: all others are decided again from what is kept of them. The first
        duplicate of a removed document is unique, and later ones name that one. What `save` writes has nothing of the
        removed ones but what others say, too. That takes the time of inserting all others without counting their
        terms, so remove many at once.

        Raises:
            KeyError: If no document has one of the keys. None is removed.
        """

    def rethreshold(self, threshold: float) -> Deduplicator:
        """Returns a deduplicator that has taken in the same documents at another threshold.

        All are decided again, in their order, from what is kept of them: no text is read or counted again. So it may be
        lower or higher.

        Raises:
            ValueError: For a threshold outside of 0 to 1.
        """

    def explain(self, first: Key, second: Key) -> Explanation:
        """Explains how two documents compare, kept or not, term by term.

        Raises:
            KeyError: If no document has one of the keys.
        """

    def verdict(self, key: Key) -> Verdict:
        """Returns the verdict on a document that was inserted.

        Raises:
            KeyError: If no document has the key.
        """

    def keys(self) -> list[Key]:
        """Returns the keys of all documents in the order of insertion, duplicates included."""

    def save(self, path: str | PathLike[str]) -> None:
        """Writes everything to a file, with a checksum. A file that is there is replaced when all is written."""

    @classmethod
    def load(cls, path: str | PathLike[str], *, threads: int | None = None) -> Deduplicator:
        """Reads what `save` wrote, settings included.

        Raises:
            OSError: If the file cannot be read.
            ValueError: If it is damaged, or another version has written it.
        """

    @property
    def threshold(self) -> float:
        """The similarity of weights that a near-duplicate needs."""

    def __len__(self) -> int:
        """Returns the number of documents that were inserted, duplicates included."""

    def __contains__(self, key: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    @classmethod
    def _from_bytes(cls, bytes: bytes) -> Deduplicator: ...

@final
class Verdict:
    """The decision about one document."""

    def __new__(
        cls,
        kind: str,
        of: Key | None = None,
        score: float | None = None,
        adds_words: int | None = None,
        lacks_words: int | None = None,
        words: int | None = None,
        loses_words: int | None = None,
    ) -> Verdict: ...
    @property
    def kind(self) -> Literal["unique", "near-duplicate", "exact-duplicate"]:
        """``unique``: kept, and later documents are compared with it."""

    @property
    def of(self) -> Key | None:
        """The key of the kept document that this one repeats: the most similar one, of equals the first."""

    @property
    def score(self) -> float | None:
        """The similarity, from 0 to 1, rounded down to millionths; 1 for an exact duplicate, ``None`` for a unique."""

    @property
    def adds_words(self) -> int | None:
        """Words that the document says for itself and the kept one does not; ``None`` unless own words were compared."""

    @property
    def lacks_words(self) -> int | None:
        """Words that the kept document says for itself and this one does not; ``None`` unless own words were compared."""

    @property
    def words(self) -> int | None:
        """All words of the document, its own or common; ``None`` unless own words were compared."""

    @property
    def loses_words(self) -> int | None:
        """Those of `words` that stand in no run of four words that the kept document has: what is lost if this one is
        dropped.
        """

    @property
    def is_unique(self) -> bool:
        """Whether the document is kept."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[str, Key | None, float | None, int | None, int | None, int | None, int | None]: ...
    __hash__: None  # type: ignore[assignment]

@final
class PairVerdict:
    """The decision about a document, given one that is kept."""

    def __new__(
        cls,
        kind: str,
        score: float,
        adds_words: int | None = None,
        lacks_words: int | None = None,
        words: int | None = None,
        loses_words: int | None = None,
    ) -> PairVerdict: ...
    @property
    def kind(self) -> Literal["unique", "near-duplicate", "exact-duplicate"]:
        """``unique``: both are kept."""

    @property
    def score(self) -> float:
        """The similarity of weights, from 0 to 1, rounded down to millionths, whatever the threshold."""

    @property
    def adds_words(self) -> int | None:
        """Words that the document says for itself and the kept one does not; ``None`` unless own words are compared."""

    @property
    def lacks_words(self) -> int | None:
        """Words that the kept document says for itself and this one does not; ``None`` unless own words are compared."""

    @property
    def words(self) -> int | None:
        """All words of the document, its own or common; ``None`` unless own words are compared."""

    @property
    def loses_words(self) -> int | None:
        """Those of `words` that stand in no run of four words that the kept document has."""

    @property
    def contained(self) -> float | None:
        """The share of `words` that stand in a run of four words that the kept document has, from 0 to 1; ``None`` without
        words.
        """

    @property
    def is_duplicate(self) -> bool:
        """Whether the document is a duplicate of the kept one."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[str, float, int | None, int | None, int | None, int | None]: ...
    __hash__: None  # type: ignore[assignment]

@final
class Match:
    """A kept document that is similar to a query."""

    def __new__(cls, key: Key, score: float) -> Match: ...
    @property
    def key(self) -> Key:
        """The key of the kept document."""

    @property
    def score(self) -> float:
        """The similarity, from 0 to 1, rounded down to millionths."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __getnewargs__(self) -> tuple[Key, float]: ...
    __hash__: None  # type: ignore[assignment]

@final
class Explanation:
    """How two documents compare, term by term."""

    @property
    def score(self) -> float:
        """The similarity, from 0 to 1: the sum of `TermShare.shared` over all terms, rounded down to millionths."""

    @property
    def is_exact(self) -> bool:
        """Whether the two have the same text, white space folded, or the same weighted terms."""

    @property
    def terms(self) -> list[TermShare]:
        """All terms of both: first those that add most to the score, then those that differ most."""

@final
class TermShare:
    """The share that one term has of each document's weight."""

    @property
    def term(self) -> str:
        """The term: stemmed, if it comes from a text."""

    @property
    def first(self) -> float:
        """Its share of the first document's weight, from 0 to 1."""

    @property
    def second(self) -> float:
        """Its share of the second document's weight, from 0 to 1."""

    @property
    def shared(self) -> float:
        """What it adds to the score: the smaller share."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

@final
class Page:
    """What stands on a page."""

    @property
    def url(self) -> str:
        """The page's URL in its canonical spelling."""

    @property
    def text(self) -> str:
        """The main text: without navigation, advertisements and the like. Empty if it is no text.

        A block is a line, a list item begins with a dash, and the cells of a row are separated by tabs. Lines of code
        stay as they are.
        """

    @property
    def full_text(self) -> str:
        """All visible text, in the same shape."""

    @property
    def markdown(self) -> str:
        """The main text as Markdown: links are absolute, code is fenced, tables are tables."""

    @property
    def title(self) -> str | None: ...
    @property
    def language(self) -> str | None:
        """The declared language, or else the detected one, as a BCP 47 tag."""

    @property
    def detected_language(self) -> str | None:
        """The language of the main text by its letters, whatever is declared; ``None`` below 200 letters."""

    @property
    def language_confidence(self) -> float | None:
        """How certain the detected language is, from 0 to 1."""

    @property
    def license(self) -> str | None:
        """The license that the page names: an address or a name."""

    @property
    def charset(self) -> str:
        """The character encoding by its WHATWG name."""

    @property
    def canonical(self) -> str | None:
        """The URL that the page names as its canonical one."""

    @property
    def robots(self) -> list[str]:
        """What the page asks of robots: ``noindex``, ``nofollow``, ``noarchive``."""

    @property
    def links(self) -> list[Link]:
        """The links, each URL once, absolute and in canonical spelling, in the order of the page."""

    @property
    def metadata(self) -> dict[str, str]:
        """Who, when, where, why and how: the fields of ``provenance`` in ``pages.jsonl``."""

@final
class Link:
    """A link of a page."""

    @property
    def url(self) -> str: ...
    @property
    def nofollow(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

def extract(html: bytes | str, url: str | None = None, *, content_type: str | None = None) -> Page:
    """Reads a page: its main text, title, links and metadata.

    A bad page is never an error: what cannot be read is left out.

    Args:
        html: The page's bytes, or its text if it is decoded already.
        url: The page's URL, to resolve its links. Without, ``http://localhost/``.
        content_type: The value of its ``Content-Type`` header, which says what it is and how it is encoded.

    Raises:
        ValueError: If the URL is not one of the web.
    """

def main(arguments: Sequence[str]) -> int: ...

@final
class NativeRun:
    def __new__(cls, arguments: Sequence[str]) -> NativeRun: ...
    def stop(self) -> None: ...
    def next_counters(self, seconds: float) -> str | None: ...
    def is_over(self) -> bool: ...
    def join(self) -> tuple[int, str | None, str | None, str | None] | None: ...
