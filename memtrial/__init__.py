"""memtrial puts memory architectures for LLM agents on trial.

Everything public is importable from here; names resolve lazily, so that ``import memtrial`` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from memtrial.datasets.schema import Conversation, Corpus, Dataset, Lure, Message, Question, Turn
    from memtrial.systems.base import Answer, Context, Evidence, Query, System, Trace

_LAZY = {
    **dict.fromkeys(
        ("Conversation", "Corpus", "Dataset", "Lure", "Message", "Question", "Turn"), "memtrial.datasets.schema"
    ),
    **dict.fromkeys(("Answer", "Context", "Evidence", "Query", "System", "Trace"), "memtrial.systems.base"),
}

__all__ = [
    "Answer",
    "Context",
    "Conversation",
    "Corpus",
    "Dataset",
    "Evidence",
    "Lure",
    "Message",
    "Query",
    "Question",
    "System",
    "Trace",
    "Turn",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'memtrial' has no attribute {name!r}")
