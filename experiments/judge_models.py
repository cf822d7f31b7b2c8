"""Models that judge: opened, asked, recorded, closed, and nothing made of them where they did not answer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.datasets.wording import must
from memtrial.metrics.judges.model_judge import NOT_ANSWERED, ModelJudge, Recorded
from memtrial.metrics.judges.rubrics import rubrics_of
from memtrial.metrics.judges.tally import MOST_UNSCORED
from memtrial.systems.models.llm.budget import Budget
from memtrial.systems.models.llm.client import Client
from memtrial.systems.models.llm.ledger import Ledger
from memtrial.systems.models.llm.outcome import RunStop
from memtrial.systems.models.llm.prices import PriceTable, load_prices
from memtrial.systems.models.llm.settings import ModelSettings
from memtrial.systems.models.llm.store import CallStore

T = TypeVar("T")
Replay = Literal["off", "prefer", "only"]
REPLAYS: tuple[Replay, ...] = ("off", "prefer", "only")
API_KEY_ENV = "OPENAI_API_KEY"

_SECRET_CHARS = 8


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Which models judge, and how they are asked.

    Attributes:
        models: names; several vote.
        configured: a judge as a run's configuration names it, for where ``models`` is empty.
        base_url: endpoint of them all; None is OpenAI's own, or the configured judge's.
        api_key_env: NAME of the environment variable with the key; None is ``OPENAI_API_KEY``, or the configured judge's.
        rubric: family of prompts.
        replay: as for the client.
        budget_usd: most that may be paid.
        prices: a price table that replaces the built-in one.
        max_concurrency: most requests under way.
        client: makes a client in place of the real one, for tests.
    """

    models: Sequence[str] = ()
    configured: ModelSettings | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    rubric: str = "ours"
    replay: Replay = "prefer"
    budget_usd: float | None = None
    prices: Path | None = None
    max_concurrency: int = 64
    client: Callable[[ModelSettings], Any] | None = None

    @property
    def judges(self) -> tuple[str, ...]:
        """The models that judge."""
        return tuple(dict.fromkeys(self.models)) or ((self.configured.model,) if self.configured is not None else ())


@dataclass(slots=True)
class Asked:
    """Judges that may be asked inside :func:`ask`, and what asking them used."""

    judges: list[ModelJudge]
    ledger: Ledger = field(default_factory=Ledger)


def ask(options: JudgeOptions, calls: Path, work: Callable[[Asked], Awaitable[T]]) -> T:
    """Open the judges, do the work, close them.

    Args:
        options: which.
        calls: file of recorded calls.
        work: asks them.

    Raises:
        UserError: a setting is wrong, a key is missing, the budget is spent, or a judge did not answer: then what ``work``
            returned is given up, and what was answered stays recorded.
    """
    rubrics_of(options.rubric)
    settings = [settings_of(model, options) for model in options.judges]
    keys = (os.environ.get(one.api_key_env, "") for one in settings)
    store = CallStore(calls, secrets=[key for key in dict.fromkeys(keys) if len(key) >= _SECRET_CHARS])
    budget = None if options.budget_usd is None else Budget(options.budget_usd)
    table = load_prices(options.prices)
    ledger = Ledger()

    async def run() -> T:
        clients = [
            options.client(one)
            if options.client is not None
            else Client(one, store=store, ledger=ledger, replay=options.replay, budget=budget, prices=table)
            for one in settings
        ]
        judges = [
            ModelJudge(c, options.rubric, name=s.model, recorded=_recorded(s, store, ledger, table, options))
            for c, s in zip(clients, settings, strict=True)
        ]
        try:
            done = await work(Asked(judges, ledger))
            for judge, one in zip(judges, settings, strict=True):
                _require_answers(judge, one)
            return done
        except RunStop as stop:  # no key, no money, no server: one call found out for all
            heard = sum(judge.statuses.total() for judge in judges)
            what = "figures of the part that was graded are not written" if heard else "nothing was graded"
            raise UserError(f"{what}: {stop}") from None
        finally:
            for client in clients:
                with suppress(AttributeError):
                    await client.aclose()

    try:
        return asyncio.run(run())
    finally:
        store.close()


def _recorded(
    settings: ModelSettings, store: CallStore, ledger: Ledger, table: PriceTable, options: JudgeOptions
) -> Recorded | None:
    """Return what looks into the record first; a replay that asks nothing serves every outcome by itself."""
    if options.replay != "prefer" or options.client is not None:
        return None
    return Recorded(
        look=Client(settings, store=store, replay="only"),
        serve=Client(settings, store=store, ledger=ledger, replay="only", prices=table),
    )


def _require_answers(judge: ModelJudge, settings: ModelSettings) -> None:
    """Refuse to make anything of a judge that was not heard: figures of the rest would look like a poor judge's."""
    asked = judge.statuses.total()
    failed = {status: n for status, n in sorted(judge.statuses.items()) if status in NOT_ANSWERED}
    lost = sum(failed.values())
    # A request that an endpoint refuses as it stands would be refused again: that alone is no reason to come back later.
    later = lost - failed.get("bad_request", 0)
    if not lost or (lost < asked and later <= MOST_UNSCORED * asked):
        return
    if set(failed) == {"not_recorded"}:
        why = f"{lost} of {asked} replies are not recorded, and nothing may be asked with --replay only"
    elif set(failed) <= {"connection", "timeout"}:
        why = f"no connection to {settings.public_url} for {lost} of {asked} requests"
    else:
        counts = ", ".join(f"{status} {n}" for status, n in failed.items())
        why = f"{settings.public_url} did not answer {lost} of {asked} requests ({counts})"
    first = f"; the first: {judge.complaint}" if judge.complaint and "not_recorded" not in failed else ""
    graded = "nothing was graded" if lost == asked else "too little was graded"
    rest = "--replay prefer" if "not_recorded" in failed else "the same command"
    raise UserError(
        f"judge {judge.name}: {graded}, {why}{first}. No figures are written; what was answered is recorded, and {rest} asks for the rest"
    )


def configured_judge(models: Mapping[str, Any]) -> ModelSettings | None:
    """Return the judge that a run's configuration names under ``models: {judge: …}``, or None.

    A model named for every role (``default``) is not taken: it is the one whose answers are judged.

    Raises:
        UserError: its settings are wrong.
    """
    given = models.get("judge")
    if not given:
        return None
    try:
        return ModelSettings.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise UserError(
            f"models.judge.{'.'.join(map(str, first['loc']))} of the run's configuration {must(first)}"
        ) from None


def replay_of(value: str) -> Replay:
    """Return the replay mode of that name.

    Raises:
        UserError: there is none.
    """
    for known in REPLAYS:
        if value == known:
            return known
    raise UserError(f"--replay is {value!r}; allowed: {', '.join(REPLAYS)}{did_you_mean(value, REPLAYS)}")


def settings_of(model: str, options: JudgeOptions) -> ModelSettings:
    """Return a judge's settings: temperature 0 and a seed, so that it judges alike each time.

    A judge that the configuration names keeps its own settings but for what the command line says.

    Raises:
        UserError: the address or the name of the variable is none; a value that may be a key is not quoted.
    """
    given: dict[str, Any] = {"base_url": options.base_url, "api_key_env": options.api_key_env}
    given = {name: value for name, value in given.items() if value is not None}
    base: dict[str, Any] = {"api_key_env": API_KEY_ENV, "max_concurrency": options.max_concurrency}
    if not options.models and options.configured is not None:
        base = options.configured.model_dump()
    try:
        return ModelSettings.model_validate({**base, **given, "model": model})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        option = "--" + str(first["loc"][0]).replace("_", "-")
        raise UserError(f"{option} {must(first)}") from None


def label_of(model: str, rubric: str) -> str:
    """Return what a judge is called in files and tables."""
    return f"{model}/{rubric}"
