"""How well the gates tell what needs memory: balanced accuracy, invalid and missed look-ups, F1, by language.

    python tools/gate_quality.py supportdesk --seeds 0 1 2
    python tools/gate_quality.py handwritten

``supportdesk`` is its test split, whose phrasings no rule and no weight has seen. Rows: the semantic gate alone and with the
context gate, each without and with the entities that the extraction has learnt from the log up to the question.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memtrial.datasets.registry import load_dataset
from memtrial.datasets.schema import Corpus, Dataset, Question
from memtrial.datasets.supportdesk import generate
from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.models.embedders import E5
from memtrial.systems.structured.extraction import ExtractionParams, Extractor
from memtrial.systems.structured.gates import DialogueState, GateParams, Gates, read_dialogue

MESSAGES = 3000
OFF = {"kind": "off"}
SETTINGS = [
    (kind, context, known)
    for kind in ("rules", "classifier")
    for context in ("off", "on")
    for known in ("nothing", "log")
]
Seen = list[tuple[bool, bool]]


def data(name: str, seeds: Sequence[int], split: str) -> Iterator[Dataset]:
    """Yield the data sets to measure on."""
    if name == "supportdesk":
        for seed in seeds:
            yield generate(MESSAGES, seed, "both", split)
    else:
        yield load_dataset({"name": "handwritten"})


async def measure(
    corpus: Corpus, embed: Callable[[str], NDArray[np.float32]], out: dict[tuple[str, ...], Seen]
) -> None:
    """Ask every question of a corpus at its time, and note (looked up, needed) by setting and language."""
    extractor = Extractor(ExtractionParams(), Context(Path()))
    messages, at = corpus.messages(), 0
    for question in sorted(corpus.questions, key=lambda q: q.asked_at):
        upto = at
        while upto < len(messages) and messages[upto].timestamp <= question.asked_at:
            upto += 1
        if upto > at:
            await extractor.extract(messages[at:upto], Trace())
            at = upto
        query = Query(
            "q",
            question.tenant_id,
            question.asker,
            question.asked_at,
            question.text,
            question.history,
            question.language,
        )
        states = {
            "nothing": read_dialogue(query),
            "log": read_dialogue(query, lambda text, q=query: extractor.resolve(text, q.tenant_id, q.asker)),
        }
        for setting in SETTINGS:
            looked = await decide(setting, query, states[setting[2]], embed)
            out[(*setting, language_of(question))].append((looked, question.needs_memory))
    await extractor.aclose()


async def decide(
    setting: tuple[str, str, str], query: Query, state: DialogueState, embed: Callable[[str], NDArray[np.float32]]
) -> bool:
    """Return one decision."""
    kind, context, _ = setting
    params = GateParams.model_validate({"semantic": {"kind": kind}, "context": {"kind": context}})
    return (await Gates(params, Context(Path()), embed=embed).decide(query, state, Trace())).lookup


def language_of(question: Question) -> str:
    """Return the language's row."""
    return question.language[:2]


def row(seen: Seen) -> str:
    """Return the figures of one row: counts, then rates in percent."""
    hit, needless = seen.count((True, True)), seen.count((True, False))
    missed, shut = seen.count((False, True)), seen.count((False, False))

    def share(part: int, whole: int) -> str:
        return f"{100 * part / whole:.1f}" if whole else "–"

    both = ((hit / (hit + missed)) + (shut / (shut + needless))) / 2 if hit + missed and shut + needless else None
    f1 = 2 * hit / (2 * hit + needless + missed) if hit else 0.0
    return (
        f"{hit + missed} / {shut + needless} | {'–' if both is None else f'{both:.3f}'} | {share(needless, hit + needless)} | "
        f"{share(missed, hit + missed)} | {share(needless, shut + needless)} | {f1:.3f}"
    )


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", choices=["supportdesk", "handwritten"])
    parser.add_argument("--split", choices=["test", "train"], default="test")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    args = parser.parse_args()
    embedder, vectors = E5(None), {}

    def embed(text: str) -> NDArray[np.float32]:
        if text not in vectors:
            vectors[text] = embedder.query(text)
        return vectors[text]

    out: dict[tuple[str, ...], Seen] = defaultdict(list)
    for dataset in data(args.data, args.seeds, args.split):
        for corpus in dataset.corpora:
            asyncio.run(measure(corpus, embed, out))
    print(
        "| semantic | context | known | language | need / need none | balanced accuracy | invalid look-ups % | missed % | needless of needless % | F1 |"
    )
    print("|" + "---|" * 10)
    for key, seen in sorted(out.items(), key=lambda item: item[0]):
        print(f"| {' | '.join(key)} | {row(seen)} |")


if __name__ == "__main__":
    main()
