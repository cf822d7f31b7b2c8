"""Extraction: what a log says, as facts with the messages they came from, and the things they are about."""

from memtrial.systems.structured.extraction.extractor import Extractor
from memtrial.systems.structured.extraction.params import (
    AnyExtractionParams,
    ExtractionParams,
    ModelExtractionParams,
)

__all__ = ["AnyExtractionParams", "ExtractionParams", "Extractor", "ModelExtractionParams"]
