"""Print the tables of SPEC.md: ``python -m memtrial.datasets.supportdesk.phrasings.make_spec``."""

from __future__ import annotations

from memtrial.datasets.supportdesk.phrasings.spec import (
    AGENT,
    CUSTOMER,
    PAIR_LISTS,
    PUBLIC,
    QUESTIONS,
    RECORDS,
    VALUE_LISTS,
)


def spec_tables() -> str:
    """Return the Markdown tables of every key of a bank."""
    lines: list[str] = []
    for title, intents in (
        ("PHRASES: what customers say", CUSTOMER),
        ("PHRASES: what agents say", AGENT),
        ("PHRASES: records and wiki", RECORDS),
        ("PHRASES: forum and e-mail", PUBLIC),
        ("PHRASES: questions", QUESTIONS),
    ):
        lines += [f"## {title}", "", "| key | slots | variants | meaning | en | zh |", "|---|---|---|---|---|---|"]
        lines += [f"| `{i.key}` | {i.slots} | {i.count} | {i.meaning} | {i.en} | {i.zh} |" for i in intents]
        lines.append("")
    for title, rows in (("VALUES", VALUE_LISTS), ("PAIRS", PAIR_LISTS)):
        lines += [f"## {title}", "", "| key | entries | meaning | en | zh |", "|---|---|---|---|---|"]
        lines += [f"| `{r.key}` | {r.count} | {r.meaning} | {r.en} | {r.zh} |" for r in rows.values()]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    print(spec_tables(), end="")
