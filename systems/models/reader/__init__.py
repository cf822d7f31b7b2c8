"""Extractive reading: from a question and the items shown to an answer, without a language model."""

from memtrial.systems.models.reader.params import ReaderParams
from memtrial.systems.models.reader.reading import ExtractiveReader, Reading

__all__ = ["ExtractiveReader", "ReaderParams", "Reading"]
