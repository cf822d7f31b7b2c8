"""Near words of a term, learnt from the log itself: what stands beside it more often than chance, and how it is spelt there."""

from __future__ import annotations

import difflib
import math
from collections import Counter

from memtrial.systems.raw_log.plan.params import ExpansionParams
from memtrial.systems.raw_log.plan.view import LogView

_MOST_VARIANTS = 2_000


def near_words(term: str, view: LogView, params: ExpansionParams) -> list[tuple[str, float]]:
    """Return near terms with weights below 1, nearest first.

    A term that the log lacks is looked for under a close spelling (difflib's ratio of 0.8 or more, same first two
    characters). One that it has brings what shares messages with it: normalised pointwise mutual information (Bouma 2009)
    of the presence of both in a message, over the newest ``window`` messages that hold it; at least ``least`` messages must
    hold both. Terms in more than a tenth of the messages say nothing of any matter.
    """
    total = view.size()
    known = view.frequency(term)
    if not params.on or total == 0:
        return []
    if known == 0:
        return _spelt(term, view, params) if params.spelling else []
    shared: Counter[str] = Counter()
    places = view.postings(term, params.window)
    for position in places:
        shared.update(dict.fromkeys(view.terms_at(position), 1))
    scored = []
    for other, count in shared.items():
        frequency = view.frequency(other)
        if other == term or count < params.least or frequency > max(total / 10, params.least) or len(other) < 2:
            continue
        joint = count / len(places) * known / total  # the window stands for all that hold the term
        if joint >= 1:
            continue
        npmi = math.log(joint / (known / total * frequency / total)) / -math.log(joint)
        if npmi > 0.2:
            scored.append((min(npmi, 1.0), other))
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    return [(other, round(params.weight * score, 3)) for score, other in scored[: params.words]]


def _spelt(term: str, view: LogView, params: ExpansionParams) -> list[tuple[str, float]]:
    if len(term) < 4 or any(c.isdigit() for c in term) or not term.isascii():
        return []  # another number is another thing, and two characters of Chinese another word
    words = view.words_from(term[:2], _MOST_VARIANTS)
    close = difflib.get_close_matches(term, [w for w in words if not any(c.isdigit() for c in w)], params.words, 0.8)
    return [(word, 0.9) for word in close]
