"""A memory architecture of your own: it finds the messages that share the most words with the question."""

from memtrial.systems.base import Answer, Evidence


class WordOverlap:
    def __init__(self):
        self.messages = {}

    @classmethod
    def create(cls, params, context):
        return cls()

    async def ingest(self, messages, trace):
        self.messages.update((m.id, m) for m in messages)

    async def answer(self, query, trace):
        asked = set(query.text.lower().split())
        own = [m for m in self.messages.values() if m.tenant_id == query.tenant_id]
        found = [Evidence.of(m, len(asked & set(m.content.lower().split()))) for m in own]
        best = tuple(sorted((e for e in found if e.score), key=lambda e: -e.score)[:50])
        if not best:
            return Answer(abstained=True)
        return Answer(best[0].text, citations=best[0].message_ids, retrieved=best, context=best[:8])

    async def close(self):
        self.messages.clear()
