"""What the clients of one process share about one endpoint: its connections, its limiter, and what is known of it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from memtrial.systems.models.llm.limiter import Limiter
from memtrial.systems.models.llm.outcome import RunStop
from memtrial.systems.models.llm.settings import ModelSettings
from memtrial.systems.models.llm.transport import Transport

# A warm-up is no question: where nothing answers soon, the first question finds that out.
_WARM_S = 3.0


class Endpoint:
    """One model at one address, with one key.

    Attributes:
        reached: a response has come, of whatever kind.
        answered: a model has answered.
        stop: every further call would end this way.
    """

    def __init__(self, settings: ModelSettings, limiter: Limiter | None = None) -> None:
        """Open nothing and read no key yet.

        Args:
            settings: which model, where.
            limiter: where several endpoints are to share one; its own otherwise.
        """
        self.limiter = limiter or Limiter(settings.max_concurrency)
        self.reached = self.answered = False
        self.stop: RunStop | None = None
        self._settings = settings
        self._transport: Transport | None = None

    @property
    def transport(self) -> Transport:
        """The connections.

        Raises:
            UserError: the key cannot be used.
        """
        if self._transport is None:
            self._transport = Transport(self._settings)
        return self._transport

    async def warm(self) -> None:
        """Load the package and the certificates and open a connection, so that no question's time includes it.

        Nothing is asked. What fails here fails again, and is told, when the first question is asked.
        """
        with suppress(Exception):
            async with asyncio.timeout(_WARM_S):
                await self.transport.connect()

    async def aclose(self) -> None:
        """Close the connections; the next request opens new ones."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.aclose()


class Endpoints:
    """The endpoints of a process, by everything that tells two of them apart."""

    def __init__(self) -> None:
        """Start with none."""
        self._known: dict[tuple[Any, ...], Endpoint] = {}

    def of(self, settings: ModelSettings) -> Endpoint:
        """Return the endpoint that settings name; the same one for the same settings."""
        name = (
            settings.base_url,
            settings.api_key_env,
            settings.model,
            settings.timeout_s,
            settings.max_concurrency,
        )
        if name not in self._known:
            self._known[name] = Endpoint(settings)
        return self._known[name]

    @property
    def stop(self) -> RunStop | None:
        """What ends the run, once any of them has found it out."""
        return next((one.stop for one in self._known.values() if one.stop is not None), None)

    async def warm(self) -> None:
        """Warm those that were not reached yet."""
        await asyncio.gather(*(one.warm() for one in self._known.values() if not one.reached))
