"""What a GGUF file says of itself: metadata and the shapes of its tensors, read without loading it
(llama.cpp's docs/gguf.md, version 3).

llama.cpp says of a bad file only that it could not be loaded, so files that people name are looked
at here first.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from simcounsel.errors import ModelError

NUMBERS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
STRING, ARRAY = 8, 9
BYTES = {0: 4, 1: 2, 30: 2}
"""Of one number, by tensor type: float32, float16, bfloat16. Others are quantised in blocks."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """What is at the beginning of a GGUF file."""

    metadata: Mapping[str, Any]
    """By key; lists are left out."""
    shapes: Mapping[str, tuple[int, ...]]
    """Of the tensors by name, the fastest dimension first, as llama.cpp has them."""

    @property
    def architecture(self) -> str:
        """Of the model: 'llama'; '' where nothing is said."""
        return str(self.metadata.get("general.architecture", ""))

    def number(self, key: str) -> int | None:
        """A whole number of this architecture, such as 'attention.head_count'; None where it is not
        one number.
        """
        value = self.metadata.get(f"{self.architecture}.{key}")
        return value if isinstance(value, int) else None


def read_header(path: Path) -> Header:
    """The header of a GGUF file. ModelError when it cannot be read, is no GGUF, is cut off or
    damaged.
    """
    try:
        with path.open("rb") as file:
            return _Reader(file, path.stat().st_size).header()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (_Damaged, UnicodeDecodeError, MemoryError, OverflowError) as error:
        cause = str(error) if isinstance(error, _Damaged) else "damaged"
        raise ModelError(f"{path}: {cause}") from None


class _Damaged(Exception):
    """What is wrong with the file, in words."""


class _Reader:
    """One pass over the beginning of a file of `size` bytes."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size

    def header(self) -> Header:
        """The whole header; tensors must lie within the file."""
        if self._size < 4 or self._take(4) != b"GGUF":
            raise _Damaged("not a GGUF file")
        version, tensors, keys = self._number("<I"), self._number("<Q"), self._number("<Q")
        if version not in (2, 3):
            raise _Damaged(f"a GGUF file of version {version}, and only 2 and 3 can be read")
        metadata = {self._text(): self._value(self._number("<I")) for _ in range(keys)}
        ends = 0
        shapes = {}
        for _ in range(tensors):
            name, shape, end = self._tensor()
            shapes[name] = shape
            ends = max(ends, end)
        step = metadata.get("general.alignment", 32)
        step = step if isinstance(step, int) and step > 0 else 32
        if shapes and -(-self._file.tell() // step) * step + ends > self._size:
            raise _Damaged("cut off: it is shorter than its tensors")
        return Header(
            metadata={key: value for key, value in metadata.items() if value is not None},
            shapes=shapes,
        )

    def _tensor(self) -> tuple[str, tuple[int, ...], int]:
        """Name, shape, and where it ends after the beginning of the data (at least; blocks are not
        counted).
        """
        name = self._text()
        shape = tuple(self._number("<Q") for _ in range(self._few(self._number("<I"))))
        kind, begin = self._number("<I"), self._number("<Q")
        count = 1
        for length in shape:
            count *= length
        return name, shape, begin + count * BYTES.get(kind, 0)

    def _value(self, kind: int) -> Any:
        if kind in NUMBERS:
            return self._number(NUMBERS[kind])
        if kind == STRING:
            return self._text()
        if kind != ARRAY:
            raise _Damaged("damaged: a value of an unknown type")
        inner, count = self._number("<I"), self._number("<Q")
        if inner in NUMBERS:
            self._take(count * struct.calcsize(NUMBERS[inner]))
        elif inner == STRING:
            for _ in range(count):
                self._take(self._number("<Q"))
        else:
            raise _Damaged("damaged: a list of an unknown type")
        return None

    def _few(self, dimensions: int) -> int:
        if dimensions > 4:
            raise _Damaged(f"damaged: a tensor of {dimensions} dimensions")
        return dimensions

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _text(self) -> str:
        return self._take(self._number("<Q")).decode("utf-8")

    def _take(self, count: int) -> bytes:
        if count > self._size - self._file.tell():
            raise _Damaged("cut off: it ends within its header")
        return self._file.read(count)
