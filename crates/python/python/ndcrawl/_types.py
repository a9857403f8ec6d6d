"""What the detector takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, Union

Key = Union[str, int]
"""What names a document: a text, or an integer of 64 bits."""

WeightedTerms = Union["Mapping[str, float]", "Iterable[tuple[str, float]]"]
"""Terms and their weights, each from 0 to 40 million. Only shares of the total count."""

Document = Union[str, WeightedTerms]

class ArrowStream(Protocol):
    """A column that hands out its values by the Arrow C data interface, such as a polars Series."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object: ...

class ArrowArray(Protocol):
    """An array that hands out its values by the Arrow C data interface, such as a pyarrow Array."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[object, object]: ...

Documents = Union["Iterable[Document]", ArrowStream, ArrowArray]
"""Several documents: an iterable, or a column of texts of pyarrow, polars or pandas.

The texts of an Arrow column are read where they lie; those of other iterables are copied.
"""
