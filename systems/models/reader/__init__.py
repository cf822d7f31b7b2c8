"""Reading: from a question and the items shown to an answer, by spans of text or by a language model."""

from memtrial.systems.models.reader.choice import AnyReader, close_reader, make_reader, read
from memtrial.systems.models.reader.params import AnyReaderParams, ModelReaderParams, ReaderParams
from memtrial.systems.models.reader.reading import ExtractiveReader, Reading

__all__ = [
    "AnyReader",
    "AnyReaderParams",
    "ExtractiveReader",
    "ModelReaderParams",
    "ReaderParams",
    "Reading",
    "close_reader",
    "make_reader",
    "read",
]
