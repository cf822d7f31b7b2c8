"""The worker's side of asking models: the store, the ledger and the budget that its clients share."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from memtrial.datasets.errors import UserError
from memtrial.systems.models.llm.budget import Budget, Memo
from memtrial.systems.models.llm.endpoint import Endpoints
from memtrial.systems.models.llm.ledger import Ledger
from memtrial.systems.models.llm.outcome import ModelCallError
from memtrial.systems.models.llm.prices import load_prices
from memtrial.systems.models.llm.settings import ModelSettings
from memtrial.systems.models.llm.store import CallStore, call_key
from memtrial.systems.models.role import ModelRoleError

# A shorter value ("EMPTY", "ollama") guards nothing and may be a word of any answer.
_SECRET_CHARS = 8
_HIDDEN = "[hidden]"


class WarmUpOver(Exception):
    """A made-up question has come to the point where a model would have to be asked."""


class _Store(CallStore):
    """A store that gives out no key while made-up questions are asked: nobody is to pay for those."""

    warming = False

    def key(
        self,
        identity: Mapping[str, Any],
        messages: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None,
        repeat: int,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> str:
        """Return the key of a call.

        Raises:
            WarmUpOver: while ``warming``.
        """
        if self.warming:
            raise WarmUpOver
        return call_key(identity, messages, schema, repeat, tools)


class Account(Ledger):
    """What one step of a system asks of models.

    Attributes:
        ended: a call of it found out that the run has to end.
    """

    def __init__(self) -> None:
        """Start with nothing."""
        super().__init__()
        self.open = True
        self.ended = False


# Questions may overlap: each has the account of its own task, and so have the tasks that it starts.
_ACCOUNT: ContextVar[Account | None] = ContextVar("memtrial_account", default=None)


class _Ledger(Ledger):
    """A ledger that books to the account of whoever asks; the rest stays here until it is taken away."""

    def add(self, *args: Any, **named: Any) -> None:
        """Count one call."""
        account = _ACCOUNT.get()
        if account is not None and account.open:
            account.add(*args, **named)
        else:
            super().add(*args, **named)

    def stopped(self) -> None:
        """Note that the run has to end."""
        account = _ACCOUNT.get()
        if account is not None:
            account.ended = True

    def take(self) -> list[dict[str, Any]]:
        """Return the rows since the last time."""
        with self._lock:
            cells, self._cells = self._cells, {}
        other = Ledger()
        other._cells = cells
        return other.rows()


class Asking:
    """What the clients of one worker share. The keys are read from this process' environment and go nowhere else."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        """Open the store.

        Args:
            told: from ``Spending.told``: roles, store, replay, budget, trial and repeat.
        """
        self._told = told
        names = {str(settings["api_key_env"]) for settings in told["roles"].values()} | set(told["keys"])
        values = (os.environ.get(name, "") for name in names)
        self._secrets = tuple(value for value in values if len(value) >= _SECRET_CHARS)
        self.store = _Store(Path(told["store"]), self._secrets)
        self.ledger = _Ledger()
        budget = told["budget"]
        self.budget = None
        if budget is not None:
            self.budget = Budget(budget["limit_usd"], budget["spent_usd"], Memo(Path(budget["memo"])))
        self.endpoints = Endpoints()
        self.crowded = False
        self._prices = load_prices(told["prices"])

    def context(self) -> dict[str, Any]:
        """Return what becomes ``Context.models``."""
        return {
            **self._told["roles"],
            "_store": self.store,
            "_replay": self._told["replay"],
            "_ledger": self.ledger,
            "_budget": self.budget,
            "_prices": self._prices,
            "_endpoints": self.endpoints,
            "_trial": self._told["trial"],
            "_repeat": self._told["repeat"],
        }

    @contextmanager
    def account(self) -> Iterator[Account]:
        """Keep what is asked in the block, and in the tasks that it starts, apart from what is asked elsewhere."""
        account = Account()
        token = _ACCOUNT.set(account)
        try:
            yield account
        finally:
            _ACCOUNT.reset(token)
            if account.open:  # cancelled, or the run ends: what was used was used, whoever it was for
                account.open = False
                self.ledger.add_rows(account.rows())

    def take(self, account: Account | None = None) -> dict[str, Any]:
        """Return an account's rows, those booked to none since the last time, and what the run has paid.

        Where one question is asked at a time, what no account holds (a thread of the system's own asked) is its too.
        """
        rows = self.ledger.take() if account is None or not self.crowded else []
        if account is not None:
            account.open = False
            whole = Ledger()
            whole.add_rows(rows)
            whole.add_rows(account.rows())
            rows = whole.rows()
        return {"rows": rows, "spent_usd": None if self.budget is None else self.budget.spent_usd}

    @contextmanager
    def unpaid(self) -> Iterator[None]:
        """Ask no model until the block ends."""
        self.store.warming = True
        try:
            yield
        finally:
            self.store.warming = False

    async def warm(self) -> None:
        """Load the client's packages and open connections, where anything may be asked; nothing is."""
        if self._told["replay"] == "only":
            return
        for settings in self._told["roles"].values():
            self.endpoints.of(ModelSettings.model_validate(settings))
        await self.endpoints.warm()

    def stopped(self, error: BaseException | None = None) -> str | None:
        """Return the sentence that ends the run, or None where it goes on.

        Quota, key and budget rule out every further call, also where a system has caught their exception; so does
        whatever the user must mend, such as a missing package or a full disk.
        """
        for link in _chain(error):
            if isinstance(link, UserError):
                return str(link)
        if self.endpoints.stop is not None:
            return str(self.endpoints.stop)
        if self.budget is not None and self.budget.reached:
            return "the budget is reached; run the same command with a larger --budget to go on"
        return None

    def scrub(self, text: str) -> str:
        """Hide the keys."""
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return text

    def scrub_bytes(self, line: bytes) -> bytes:
        """Hide the keys in a reply: not even a server that repeats one gets it into a record."""
        for secret in self._secrets:
            line = line.replace(secret.encode(), _HIDDEN.encode())
        return line


def model_failure(error: BaseException) -> tuple[str, str] | None:
    """Return the error kind and detail where a model's failure is behind an exception."""
    for link in _chain(error):
        if isinstance(link, ModelRoleError):
            return f"model_{link.status}", str(link)
        if isinstance(link, ModelCallError):
            return f"model_{link.reply.status}", str(link)
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        if isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                yield from _chain(one)
        error = error.__cause__ or error.__context__
