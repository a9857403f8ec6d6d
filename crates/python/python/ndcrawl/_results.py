"""A whole set at once: which records are kept, and pairs that another tool has found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar, overload

from ._native import Deduplicator, PairVerdict, Verdict
from ._types import Document, Key

Record = TypeVar("Record")
Row = TypeVar("Row", bound="Mapping[str, Any]")
Table = TypeVar("Table")


@dataclass(frozen=True)
class Duplicate(Generic[Record]):
    """A record that is dropped."""

    record: Record
    #: Its place among the records.
    place: int
    #: Why: `Verdict.of` is the place of the kept record.
    verdict: Verdict
    #: The kept record that it repeats.
    kept: Record

    @property
    def score(self) -> float:
        """The similarity to the kept record, from 0 to 1."""
        return self.verdict.score or 0.0

    @property
    def loses_words(self) -> int | None:
        """Words that are lost with it: 0 for an exact duplicate, ``None`` where weights alone were compared."""
        return 0 if self.verdict.kind == "exact-duplicate" else self.verdict.loses_words


@dataclass(frozen=True)
class KeptRecord(Generic[Record]):
    """A record that is kept, with those that repeat it."""

    record: Record
    #: Its place among the records.
    place: int
    duplicates: list[Duplicate[Record]]


class DeduplicationResult(Generic[Record]):
    """Which of some records are kept, and why the others are not.

    It holds the records themselves, and all that is needed to decide again.
    """

    def __init__(self, records: Any, documents: Deduplicator) -> None:
        self._records = records
        #: The index of all records, each under its place: ask it, save it, or insert what comes later.
        self.documents = documents
        #: The verdict on each record, in order.
        self.verdicts: list[Verdict] = [documents.verdict(place) for place in range(len(records))]

    @property
    def threshold(self) -> float:
        """The similarity of weights that a near-duplicate needs."""
        return self.documents.threshold

    @cached_property
    def kept_places(self) -> list[int]:
        """The places of the kept records, ascending."""
        return [place for place, verdict in enumerate(self.verdicts) if verdict.is_unique]

    @property
    def kept(self) -> list[Record]:
        """The kept records, in order. Rows of a table are dicts."""
        return self._rows(self.kept_places)

    @property
    def dropped(self) -> list[Duplicate[Record]]:
        """The other records, in order, each with its verdict and the kept record that it repeats."""
        places = [place for place, verdict in enumerate(self.verdicts) if not verdict.is_unique]
        kept = [_place(self.verdicts[place].of) for place in places]
        rows = zip(self._rows(places), places, self._rows(kept))
        return [Duplicate(record, place, self.verdicts[place], of) for record, place, of in rows]

    @property
    def with_duplicates(self) -> list[KeptRecord[Record]]:
        """The kept records that others repeat, in order, with those."""
        of: dict[int, list[Duplicate[Record]]] = {}
        for duplicate in self.dropped:
            of.setdefault(_place(duplicate.verdict.of), []).append(duplicate)
        return [KeptRecord(duplicates[0].kept, place, duplicates) for place, duplicates in sorted(of.items())]

    @property
    def duplicate_ratio(self) -> float:
        """The share of the records that is dropped."""
        return 1 - len(self.kept_places) / len(self) if len(self) else 0.0

    @property
    def loses_words(self) -> int:
        """Words that are lost with all dropped records, each compared with the record that is kept for it."""
        return sum(verdict.loses_words or 0 for verdict in self.verdicts)

    def select(self, table: Table) -> Table:
        """Returns the rows that are kept, of a table or column that has one row for each record.

        It may be a pandas, polars, pyarrow or datasets one, a NumPy array or a list, and stays what it is.
        """
        rows = len(table)  # type: ignore[arg-type]
        if rows != len(self):
            raise ValueError(f"{rows} rows and {len(self)} records: give a table with one row for each record")
        selected: Table = _take(table, self.kept_places)
        return selected

    def rethreshold(self, threshold: float) -> DeduplicationResult[Record]:
        """Returns the result at another threshold, lower or higher: the same as if it had been the first one.

        No record is read again. All are decided again from what was counted, since a record that is kept now may have
        duplicates of its own.
        """
        return DeduplicationResult(self._records, self.documents.rethreshold(threshold))

    def __len__(self) -> int:
        """Returns the number of records, dropped ones included."""
        return len(self.verdicts)

    def __repr__(self) -> str:
        kept = len(self.kept_places)
        return f"DeduplicationResult(threshold={self.threshold}, kept={kept}, dropped={len(self) - kept})"

    def _rows(self, places: list[int]) -> list[Record]:
        return _values(_take(self._records, places))


@overload
def deduplicate(
    records: Iterable[str],
    columns: None = None,
    *,
    threshold: float | None = None,
    own_words: bool = True,
    lose_at_most: int | str | None = None,
    min_terms: int = 20,
    language: str | None = "en",
    threads: int | None = None,
) -> DeduplicationResult[str]: ...
@overload
def deduplicate(
    records: Iterable[Row],
    columns: str | Sequence[str],
    *,
    threshold: float | None = None,
    own_words: bool = True,
    lose_at_most: int | str | None = None,
    min_terms: int = 20,
    language: str | None = "en",
    threads: int | None = None,
) -> DeduplicationResult[Row]: ...
@overload
def deduplicate(
    records: Any,
    columns: str | Sequence[str] | None = None,
    *,
    threshold: float | None = None,
    own_words: bool = True,
    lose_at_most: int | str | None = None,
    min_terms: int = 20,
    language: str | None = "en",
    threads: int | None = None,
) -> DeduplicationResult[Any]: ...
def deduplicate(
    records: Any,
    columns: str | Sequence[str] | None = None,
    *,
    threshold: float | None = None,
    own_words: bool = True,
    lose_at_most: int | str | None = None,
    min_terms: int = 20,
    language: str | None = "en",
    threads: int | None = None,
) -> DeduplicationResult[Any]:
    """Decides which of some records are kept.

    Verdicts are those of a `Deduplicator` with these settings that takes the records in, in order.

    Args:
        records: Texts; or rows, as dicts or as a table of pandas, polars, pyarrow or datasets.
        columns: The columns of a row that are compared. Several are joined by line breaks, without those that are missing.

    Raises:
        ValueError: If a record has no text, or no record has one of the columns.
    """
    documents = Deduplicator(
        threshold,
        own_words=own_words,
        lose_at_most=lose_at_most,
        min_terms=min_terms,
        language=language,
        threads=threads,
    )
    if not _is_table(records):
        records = list(records)
    elif columns is None and (hasattr(records, "columns") or hasattr(records, "column_names")):
        raise ValueError("a table has columns: name those that are compared, such as columns='text'")
    texts = records if columns is None else _texts(records, [columns] if isinstance(columns, str) else list(columns))
    documents.insert_many(texts, range(len(records)))
    return DeduplicationResult(records, documents)


def judge(
    pairs: Iterable[tuple[Any, Any]],
    texts: Mapping[Key, Document] | None = None,
    *,
    threshold: float | None = None,
    own_words: bool = True,
    lose_at_most: int | str | None = None,
    min_terms: int = 20,
    language: str | None = "en",
    threads: int | None = None,
) -> list[PairVerdict]:
    """Decides about the second document of each pair as if the first one were the only kept one.

    For candidate pairs of another tool. No index is built, and all words are a document's own. To judge by what is common
    text in a collection, use `Deduplicator.judge` of one that has taken the collection, or a part of it, in.

    Args:
        pairs: Pairs of documents, the kept one first.
        texts: The documents by key. The pairs are keys then.

    Raises:
        KeyError: If there is no document of a key.
        ValueError: For a missing value, or a weight that is none.
    """
    documents = Deduplicator(
        threshold,
        own_words=own_words,
        lose_at_most=lose_at_most,
        min_terms=min_terms,
        language=language,
        threads=threads,
    )
    return documents.judge(pairs if texts is None else ((texts[kept], texts[other]) for kept, other in pairs))


_TABLES = ("pandas", "polars", "pyarrow", "datasets", "numpy")


def _library(table: object) -> str:
    return type(table).__module__.partition(".")[0]


def _is_table(records: object) -> bool:
    return _library(records) in _TABLES and hasattr(records, "__len__")


def _place(key: Key | None) -> int:
    """Records are named by their places."""
    assert isinstance(key, int), key
    return key


def _take(table: Any, places: list[int]) -> Any:
    library = _library(table)
    if library == "pandas":
        return table.iloc[places]
    if library == "datasets" and hasattr(table, "select"):
        return table.select(places)
    if library in _TABLES and not places:
        return table[:0]
    if library == "pyarrow":
        return table.take(places)
    if library in ("polars", "numpy"):
        return table[places]
    return [table[place] for place in places]


def _values(rows: Any) -> list[Any]:
    """The rows of a table as dicts, the values of a column."""
    for name in ("to_dicts", "to_pylist", "to_list", "tolist"):
        if hasattr(rows, name):
            return list(getattr(rows, name)())
    return list(rows.to_dict("records") if _library(rows) == "pandas" else rows)


def _texts(records: Any, columns: list[str]) -> Any:
    if not columns:
        raise ValueError("columns: name at least one")
    values = [records[column] if _is_table(records) else _column(records, column) for column in columns]
    if len(values) == 1:
        return values[0]
    return [_joined(row) for row in zip(*map(_values, values))]


def _column(records: list[Any], column: str) -> list[Any]:
    for place, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise TypeError(f"record {place}: columns are those of a dict, not of {type(record).__name__}")
    values = [record.get(column) for record in records]
    if records and all(value is None for value in values):
        raise ValueError(f"no record has the column '{column}'")
    return values


def _joined(values: Sequence[Any]) -> str | None:
    present = [value for value in values if not _is_missing(value)]
    for value in present:
        if not isinstance(value, str):
            raise TypeError(f"a column that is compared holds str, not {type(value).__name__}")
    return "\n".join(present) if present else None


def _is_missing(value: object) -> bool:
    """``None``, and the NaN and NA of pandas."""
    is_nan = isinstance(value, float) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")
