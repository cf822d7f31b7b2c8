"""Prompts as versioned files, one per role and language, filled in with fenced data."""

from memtrial.systems.models.prompts.additions import with_addition
from memtrial.systems.models.prompts.fence import fence, row_text
from memtrial.systems.models.prompts.template import LANGUAGES, ROLES, Field, Prompt, load_prompt

__all__ = ["LANGUAGES", "ROLES", "Field", "Prompt", "fence", "load_prompt", "row_text", "with_addition"]
