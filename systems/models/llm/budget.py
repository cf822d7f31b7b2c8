"""A cap on money that holds before it is passed: every call reserves the most it can cost and settles what it did cost."""

from __future__ import annotations

import asyncio
import math
import os
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memtrial.datasets.errors import UserError
from memtrial.systems.models.llm.messages import text_of
from memtrial.systems.models.llm.prices import Price, exact_usd, worst_cost

# Sums are kept in whole trillionths of a dollar, rounded up, so that no order of calls can add up past the cap.
_UNIT = 1_000_000_000_000
# Chat templates put marks and role names around each message, and servers a preamble before the first.
_TOKENS_PER_MESSAGE, _TOKENS_PER_CALL = 16, 64


class Memo:
    """What counts against a budget, kept in a file so that no kill can make it forgotten.

    Two whole numbers, in trillionths of a dollar: everything counted, and the part of it whose cost nobody knows and
    which therefore stands in no record of calls: those under way among it, as a kill leaves their cost unknown. Written
    in place before a call is sent; the page cache keeps it when the process is killed.
    """

    def __init__(self, path: Path) -> None:
        """Read what an earlier process left.

        Raises:
            UserError: the file cannot be read or written, or holds something else.
        """
        self._path = path
        self.counted = self.unknown = 0
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            text = os.pread(self._fd, 200, 0)
        except OSError as error:
            raise UserError(f"cannot open {path}: {error.strerror}") from error
        if text:
            try:
                counted, unknown = text.split()[:2]
                self.counted, self.unknown = int(counted), int(unknown)
            except ValueError:
                raise UserError(f"{path} does not say what was spent; put 0 and 0 into it to begin anew") from None

    @property
    def counted_usd(self) -> float:
        """Everything that counts."""
        return self.counted / _UNIT

    @property
    def unknown_usd(self) -> float:
        """The part of it that is a worst case."""
        return self.unknown / _UNIT

    def keep(self, counted: int, unknown: int) -> None:
        """Write both.

        Raises:
            UserError: the file cannot be written, so that the budget could not be kept.
        """
        self.counted, self.unknown = counted, unknown
        try:
            os.pwrite(self._fd, b"%020d %020d\n" % (counted, unknown), 0)
        except OSError as error:
            raise UserError(f"cannot write {self._path}: {error.strerror}") from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


class BudgetReached(UserError):
    """The next call could pass the cap; nothing was asked. What finished is kept, and a larger budget goes on from there."""


@dataclass(slots=True, eq=False)
class Reservation:
    """Money set aside for one call that is under way."""

    units: int
    open: bool = True

    @property
    def usd(self) -> float:
        """The most that the call can cost."""
        return self.units / _UNIT


@dataclass(slots=True, eq=False)
class _Waiting:
    units: int
    loop: asyncio.AbstractEventLoop
    granted: asyncio.Future[Reservation] = field(repr=False)


class Budget:
    """Reserves before a call, settles after it; safe for many calls at once, in tasks and in threads.

    A reservation is the worst case, so while others are under way a call that does not fit waits for what they leave.
    It is refused once nothing is under way. From then on every paid call is refused, so that it is the order of the
    questions and not their length that decides which of them stay unasked.
    """

    def __init__(self, limit_usd: float, spent: float = 0.0, memo: Memo | None = None) -> None:
        """Start a budget.

        Args:
            limit_usd: the cap.
            spent: what earlier segments of the run, or other processes, have paid.
            memo: where what counts is kept; what it holds already counts too.

        Raises:
            UserError: if the cap is negative or no number.
        """
        if not math.isfinite(limit_usd) or limit_usd < 0:
            raise UserError(f"a budget must be a number of US dollars, at least 0, not {limit_usd!r}")
        self._limit = math.floor(limit_usd * _UNIT)
        self._memo = memo
        self._spent = max(_units(spent), 0 if memo is None else memo.counted)
        self._unknown = 0 if memo is None else memo.unknown
        self._reserved = 0
        self._reached = False
        self._waiting: deque[_Waiting] = deque()
        self._lock = threading.Lock()

    @property
    def limit_usd(self) -> float:
        """The cap."""
        return self._limit / _UNIT

    @property
    def spent_usd(self) -> float:
        """What was paid so far; a call of unknown cost counts as its worst case."""
        return self._spent / _UNIT

    @property
    def reserved_usd(self) -> float:
        """What calls under way can still cost."""
        return self._reserved / _UNIT

    @property
    def reached(self) -> bool:
        """Whether a call was refused."""
        return self._reached

    def try_reserve(self, prompt_tokens: int, max_tokens: int, price: Price) -> Reservation:
        """Set money aside without waiting for what other calls leave over.

        Args:
            prompt_tokens: an upper bound, as from :func:`worst_prompt_tokens`.
            max_tokens: the limit sent with the request.
            price: of the model asked.

        Raises:
            BudgetReached: if the call could pass the cap.
        """
        units = _units(worst_cost(prompt_tokens, max_tokens, price))
        with self._lock:
            if self._takes(units) and (units == 0 or not self._waiting):
                return self._grant(units)
            if self._reserved == 0:
                self._reached = True
            raise self._refusal(units)

    async def reserve(self, prompt_tokens: int, max_tokens: int, price: Price) -> Reservation:
        """Set money aside, waiting while calls under way may leave enough.

        Args:
            prompt_tokens: an upper bound, as from :func:`worst_prompt_tokens`.
            max_tokens: the limit sent with the request.
            price: of the model asked.

        Raises:
            BudgetReached: if the call could pass the cap.
        """
        units = _units(worst_cost(prompt_tokens, max_tokens, price))
        with self._lock:
            if self._takes(units) and (units == 0 or not self._waiting):
                return self._grant(units)
            if self._reserved == 0:
                self._reached = True
            if self._reached:
                raise self._refusal(units)
            loop = asyncio.get_running_loop()
            entry = _Waiting(units, loop, loop.create_future())
            self._waiting.append(entry)
        try:
            return await entry.granted
        except asyncio.CancelledError:
            self._give_up(entry)
            raise

    def settle(self, reservation: Reservation, usd: float | None) -> None:
        """Replace a reservation by what the call cost; a second settling of the same one changes nothing.

        Args:
            reservation: from :meth:`reserve`.
            usd: the cost, 0 for a call that the server did not take; None where nobody knows (a time-out, a broken
                stream), and then the worst case counts as spent.
        """
        with self._lock:
            if not reservation.open:
                return
            reservation.open = False
            self._reserved -= reservation.units
            self._spent += reservation.units if usd is None else _units(usd)
            self._unknown += reservation.units if usd is None else 0
            self._keep()
            served = self._serve()
        self._tell(served)

    def release(self, reservation: Reservation) -> None:
        """Give a reservation back unspent: the request never reached a model."""
        self.settle(reservation, 0.0)

    def _takes(self, units: int) -> bool:
        return units == 0 or (not self._reached and self._spent + self._reserved + units <= self._limit)

    def _grant(self, units: int) -> Reservation:
        self._reserved += units
        self._keep()
        return Reservation(units)

    def _keep(self) -> None:
        if self._memo is not None:
            self._memo.keep(self._spent + self._reserved, self._unknown + self._reserved)

    def _serve(self) -> list[tuple[_Waiting, Reservation | BudgetReached]]:
        """Settle who waits, first come first served: granted what became free, refused when nothing more can come free."""
        served: list[tuple[_Waiting, Reservation | BudgetReached]] = []
        while self._waiting:
            units = self._waiting[0].units
            if self._takes(units):
                served.append((self._waiting.popleft(), self._grant(units)))
            elif self._reserved == 0 or self._reached:
                self._reached = True
                served.append((self._waiting.popleft(), self._refusal(units)))
            else:
                break
        return served

    def _tell(self, served: Sequence[tuple[_Waiting, Reservation | BudgetReached]]) -> None:
        for entry, result in served:
            try:
                entry.loop.call_soon_threadsafe(self._deliver, entry, result)
            except RuntimeError:  # the loop of the one that waited is closed
                self._return(result)

    def _deliver(self, entry: _Waiting, result: Reservation | BudgetReached) -> None:
        if entry.granted.done():  # cancelled meanwhile
            self._return(result)
        elif isinstance(result, Reservation):
            entry.granted.set_result(result)
        else:
            entry.granted.set_exception(result)

    def _return(self, result: Reservation | BudgetReached) -> None:
        if isinstance(result, Reservation):
            self.release(result)

    def _give_up(self, entry: _Waiting) -> None:
        """Leave the queue; whoever was behind may fit now. What was granted in the same moment goes back."""
        served: list[tuple[_Waiting, Reservation | BudgetReached]] = []
        with self._lock:
            if entry in self._waiting:
                self._waiting.remove(entry)
                served = self._serve()
        self._tell(served)
        granted = entry.granted
        if granted.done() and not granted.cancelled() and granted.exception() is None:
            self.release(granted.result())

    def _refusal(self, units: int) -> BudgetReached:
        left = max(0, self._limit - self._spent - self._reserved) / _UNIT
        return BudgetReached(
            f"the budget of {exact_usd(self.limit_usd)} is reached: {exact_usd(self.spent_usd)} is spent, and the next call can"
            f" cost up to {exact_usd(units / _UNIT)} with {exact_usd(left)} left; run the same command with a larger --budget to go on"
        )


def require_prices(limit_usd: float, prices: Mapping[str, Price | None]) -> None:
    """Refuse a budget that cannot be kept because a model's price is unknown.

    Args:
        limit_usd: the cap asked for.
        prices: by model name, for every model that the run may ask.

    Raises:
        UserError: naming the models without a price.
    """
    missing = sorted(model for model, price in prices.items() if price is None)
    if missing:
        named = ", ".join(repr(model) for model in missing)
        raise UserError(
            f"a budget of {exact_usd(limit_usd)} cannot be kept without the price of {named}: give price: {{prompt, completion}}"
            " (US dollars per million tokens, 0 for a model that costs nothing) in the model's settings, or a price table of your own"
        )


def worst_prompt_tokens(messages: Sequence[Mapping[str, Any]], schema_chars: int = 0) -> int:
    """Return a number of tokens that no tokenizer in use exceeds: one for each UTF-8 byte, and the chat template's own.

    A count by one tokenizer would not do: another model's vocabulary may need twice as many for the same Chinese text.

    Args:
        messages: chat messages.
        schema_chars: length of the JSON schemas sent along, which a server may put into the prompt.
    """
    texts = sum(len(text_of(m).encode("utf-8", "replace")) for m in messages)
    return texts + 4 * schema_chars + _TOKENS_PER_MESSAGE * len(messages) + _TOKENS_PER_CALL


def _units(usd: float) -> int:
    return math.ceil(usd * _UNIT)
