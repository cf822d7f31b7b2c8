"""The command line: ``memtrial run | report | show | datasets | systems | init``.

Exit codes: 0 fine, 1 what was checked failed (a leak between tenants, the contract, labels, a judge), 2 error or incomplete,
130 interrupted. An error that the user can mend is one
sentence on standard error, never a traceback. Everything heavy is imported inside the command that needs it.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer

from memtrial import __version__
from memtrial.datasets.errors import UserError
from memtrial.judge_cli import judge_app, rejudge

app = typer.Typer(
    name="memtrial",
    help="Put memory architectures for LLM agents on trial: same labelled chat logs, same questions, one report.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
datasets_app = typer.Typer(no_args_is_help=True, help="List, check and build labelled chat logs.")
app.add_typer(datasets_app, name="datasets")
app.add_typer(judge_app, name="judge")

_Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Override a value, e.g. data.path=locomo.json or bm25.k=20."),
]


def _version(value: bool) -> None:
    if value:
        typer.echo(f"memtrial {__version__}")
        raise typer.Exit


@app.callback(
    epilog="Exit codes: 0 fine; 1 finished, and what was checked failed (run, systems probe: a tenant was shown another's "
    "messages; systems check: the contract; datasets check: the labels; judge check, rejudge, ragas: the judge); 2 error or "
    "incomplete; 130 interrupted."
)
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print version.")
    ] = False,
) -> None:
    """Compare memory architectures for LLM agents."""


@app.command()
def init(
    path: Annotated[Path, typer.Argument(help="File to write.")] = Path("memtrial.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a commented starter configuration."""
    from memtrial.experiments.config import starter_config

    if path.exists() and not force:
        raise UserError(f"{path} exists already; choose another name or add --force")
    try:
        path.write_text(starter_config(), encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from error
    typer.echo(f"wrote {path}; run it with: memtrial run {path}")


@app.command()
def run(
    config: Annotated[str, typer.Argument(help="A YAML file, or the name of a shipped configuration (quickstart).")],
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the run; the same folder resumes.")] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="At most this many questions per data set.")
    ] = None,
    set_: _Set = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show trials and estimates, run nothing.")] = False,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="Language model of every role that names none itself.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="OpenAI-compatible endpoint of --model.")
    ] = None,
    replay: Annotated[
        str, typer.Option("--replay", metavar="only|prefer|off", help="Answer calls to models from the run's record.")
    ] = "prefer",
    budget: Annotated[
        float | None,
        typer.Option("--budget", metavar="USD", min=0, help="Stop before models have cost more than this."),
    ] = None,
    prices: Annotated[
        Path | None, typer.Option("--prices", metavar="FILE", help="A price table instead of the built-in one.")
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            metavar="N",
            min=1,
            help="Ask up to N questions at a time where a model is waited for; their latency is not measured then.",
        ),
    ] = None,
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Ask questions again that ended in a time-out or a service's error.")
    ] = False,
) -> None:
    """Run a configuration, or go on where it was stopped: the same command resumes.

    Exits with 1 where a tenant was shown another's messages, with 2 where questions are missing or mostly ended in errors.
    """
    from memtrial.experiments.config import load_config
    from memtrial.experiments.models import ModelOptions
    from memtrial.experiments.plan import make_plan

    options = ModelOptions(replay, budget, prices, retry_errors)  # type: ignore[arg-type]
    plan = make_plan(load_config(config, set_ or [], limit, model=model, base_url=base_url, concurrency=concurrency))
    if dry_run:
        from memtrial.experiments.estimate import render_estimate
        from memtrial.experiments.preflight import preflight

        typer.echo(render_estimate(plan, options))
        preflight(plan.units)
        if any(unit.models for unit in plan.units):
            from memtrial.experiments.spending import check_options  # a keyless run loads none of it

            check_options(plan, options)
        return
    from memtrial.experiments.progress import make_progress
    from memtrial.experiments.runner import run as run_plan
    from memtrial.experiments.store import read_run
    from memtrial.reports import write_report
    from memtrial.reports.text import first_lines

    summary = run_plan(plan, out, make_progress(), options)
    finished = read_run(summary.out)
    write_report(finished, summary.out)
    typer.echo(first_lines(finished))
    typer.echo(f"\nreport: {summary.out / 'report.html'}")
    raise typer.Exit(summary.exit_code)


@app.command()
def report(folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run.")]) -> None:
    """Write report.html, report.md and figures again, from the records alone."""
    from memtrial.experiments.store import read_run
    from memtrial.reports import write_report

    write_report(read_run(folder), folder)
    typer.echo(f"report: {folder / 'report.html'}")


app.command()(rejudge)


@app.command()
def ragas(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run.")],
    model: Annotated[str, typer.Option("--model", help="The model that judges, as its endpoint knows it.")],
    base_url: Annotated[str | None, typer.Option("--base-url", help="Endpoint up to and with /v1.")] = None,
    api_key_env: Annotated[
        str, typer.Option("--api-key-env", help="NAME of the environment variable with the key.")
    ] = "OPENAI_API_KEY",
    embedding_model: Annotated[
        str | None, typer.Option("--embedding-model", help="Of the same endpoint; without it, the embedder inside.")
    ] = None,
    metric: Annotated[list[str] | None, typer.Option("--metric", help="Only this one; may be repeated.")] = None,
    replay: Annotated[str, typer.Option("--replay", help="off, prefer or only.")] = "prefer",
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="At most this many questions.")] = None,
    budget: Annotated[float | None, typer.Option("--budget", min=0, help="At most this many US dollars.")] = None,
    max_unscored: Annotated[
        float, typer.Option("--max-unscored", min=0, max=1, help="Exit 1 if a larger share got no score.")
    ] = 0.05,
) -> None:
    """Score a run's answers with ragas (an extra) and a language model; writes DIR/ragas.json."""
    from memtrial.experiments.score_ragas import replay_of, score_run, settings_of
    from memtrial.metrics.ragas.scores import METRICS

    scored = score_run(
        folder,
        settings_of(model, base_url, api_key_env),
        embedding_model=embedding_model,
        metrics=metric or METRICS,
        replay=replay_of(replay),
        limit=limit,
        budget_usd=budget,
    )
    typer.echo(f"{scored.render()}\n\n{scored.questions[0]} of {scored.questions[1]} questions; {scored.ledger.line()}")
    typer.echo(f"ragas: {scored.file}")
    raise typer.Exit(1 if scored.above(max_unscored) else 0)


@app.command()
def show(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run.")],
    question_id: Annotated[str | None, typer.Argument(help="A question; without it, an overview.")] = None,
) -> None:
    """Print an overview of a run, or everything about one question."""
    from memtrial.experiments.store import read_run
    from memtrial.reports.text import render_overview, render_question

    finished = read_run(folder)
    typer.echo(render_question(finished, question_id) if question_id else render_overview(finished))


@app.command()
def doctor(
    folder: Annotated[Path | None, typer.Argument(metavar="[DIR]", help="Folder of a run to look at too.")] = None,
    config: Annotated[str | None, typer.Option("--config", help="Look at the models of this configuration.")] = None,
    data: Annotated[list[str] | None, typer.Option("--data", metavar="NAME=PATH", help="A data set to load.")] = None,
    model: Annotated[str | None, typer.Option("--model", help="Ask this model (the only thing that may cost).")] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", help="Its endpoint, up to and with /v1.")] = None,
    api_key_env: Annotated[
        list[str] | None, typer.Option("--api-key-env", metavar="NAME", help="Variable with a key; may be repeated.")
    ] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Ask the configuration's models too.")] = False,
    canary: Annotated[int, typer.Option("--canary", min=0, help="Send a prompt of so many tokens.")] = 0,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds to wait for a model.")] = 20.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check installation, machine, data, engines, models and a run's files; exit 2 if something fails."""
    import json

    from memtrial.doctor import Wanted, examine

    wanted = Wanted(folder, config, data or (), model, base_url, api_key_env or (), ask, canary, timeout)
    found = examine(wanted)
    typer.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=1) if as_json else found.render())
    raise typer.Exit(2 if found.failed else 0)


@app.command()
def systems(
    name: Annotated[str | None, typer.Argument(help="A system to describe, or the word: list, check, probe.")] = None,
    target: Annotated[
        str | None, typer.Argument(help="After check or probe: name, package.module:Class, file.py:Class, URL.")
    ] = None,
    set_: _Set = None,
    probes: Annotated[int, typer.Option("--probes", min=1, help="With probe: how many questions.")] = 10_000,
    seed: Annotated[int, typer.Option("--seed", help="With probe: of tenants and questions.")] = 0,
) -> None:
    """List systems, describe one, or test one: systems check TARGET (the contract), systems probe TARGET (tenant leaks)."""
    from memtrial.systems.registry import system_names

    if name is None or (name == "list" and target is None):  # as in: memtrial datasets list
        width = max(len(info.name) for info in system_names())
        for info in system_names():
            typer.echo(f"{info.name:<{width}}  {info.summary}")
        return
    if name not in ("check", "probe"):
        if target is not None:
            raise UserError(
                f"memtrial systems takes one NAME, but got {target!r} as well; to test one: systems check {name}"
            )
        typer.echo(_describe(name))
        return
    if target is None:
        raise UserError(f"memtrial systems {name} needs a TARGET: a name, package.module:Class, file.py:Class or URL")
    from memtrial.experiments.overrides import parse_overrides

    if name == "probe":
        from memtrial.experiments.leaks import probe_leaks

        def tell(done: int) -> None:
            typer.echo(f"{done:,} of {probes:,} probes asked", err=True)

        leaks = probe_leaks(target, parse_overrides(set_ or []), probes=probes, seed=seed, progress=tell)
        typer.echo(leaks.render())
        raise typer.Exit(1 if leaks.leaked else 0)
    from memtrial.systems.conformance import check_system

    outcome = check_system(target, parse_overrides(set_ or []))
    for row in outcome.rows:
        typer.echo(f"{'ok  ' if row.passed else 'FAIL'}  {row.name}{': ' + row.detail if row.detail else ''}")
    failed = sum(not row.passed for row in outcome.rows)
    typer.echo(f"{target}: {len(outcome.rows) - failed} of {len(outcome.rows)} checks passed")
    raise typer.Exit(1 if failed else 0)


def _describe(name: str) -> str:
    import inspect

    import yaml

    from memtrial.systems.registry import resolve

    factory = resolve(name)
    entry = yaml.safe_dump({"systems": {"label": {"use": name, **factory.validate({})}}}, sort_keys=False)
    return f"{inspect.getdoc(factory.cls) or name}\n\nIn a configuration, with every default:\n\n{entry}"


@datasets_app.command("list")
def datasets_list() -> None:
    """List the data sets that can be named in a configuration."""
    from memtrial.datasets.registry import dataset_names

    width = max(len(info.name) for info in dataset_names())
    for info in dataset_names():
        typer.echo(f"{info.name:<{width}}  {info.summary} [{info.licence}]")


def _spec(name: str, path: Path | None, options: list[str] | None) -> dict[str, Any]:
    from memtrial.experiments.overrides import parse_overrides

    spec: dict[str, Any] = {"name": name, **parse_overrides(options or [])}
    if path is not None:
        spec["path"] = str(path)
    return spec


@datasets_app.command("check")
def datasets_check(
    name: Annotated[str, typer.Argument(help="Name of a data set (see: memtrial datasets list).")],
    path: Annotated[Path | None, typer.Option("--path", help="Where its files lie.")] = None,
    set_: _Set = None,
) -> None:
    """Find duplicate or dangling ids, empty answers, impossible times, lures equal to answers; count categories."""
    from memtrial.datasets.check import check_dataset, render_check
    from memtrial.datasets.registry import load_dataset

    findings = check_dataset(load_dataset(_spec(name, path, set_)))
    typer.echo(render_check(findings))
    raise typer.Exit(0 if findings.ok else 1)


@datasets_app.command("build")
def datasets_build(
    out: Annotated[Path, typer.Option("--out", help="Folder to write to.")],
    name: Annotated[str, typer.Argument(help="Name of a data set, usually supportdesk.")] = "supportdesk",
    path: Annotated[Path | None, typer.Option("--path", help="Where its files lie, for sets that are read.")] = None,
    messages: Annotated[int | None, typer.Option("--messages", help="Size of a generated log.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of a generated log.")] = None,
    language: Annotated[str | None, typer.Option("--language", help="zh, en or both.")] = None,
    set_: _Set = None,
) -> None:
    """Write a data set in memtrial's own JSON format, labels included."""
    from memtrial.datasets.export import export_dataset
    from memtrial.datasets.registry import load_dataset

    spec = _spec(name, path, set_)
    given = {"messages": messages, "seed": seed, "language": language}
    spec.update({key: value for key, value in given.items() if value is not None})
    dataset = load_dataset(spec)
    export_dataset(dataset, out)
    counts = sum(len(c.messages) for corpus in dataset.corpora for c in corpus.conversations)
    typer.echo(f"wrote {counts} messages and {sum(1 for _ in dataset.questions())} questions to {out}")


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """End as Ctrl-C does: workers are ended, what finished is kept, one sentence."""
    raise KeyboardInterrupt


def main() -> NoReturn:
    """Entry point of the ``memtrial`` command."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        app(standalone_mode=True)
    except UserError as error:
        typer.echo(f"memtrial: {error}", err=True)
        sys.exit(2)
    except SystemExit as stop:
        if stop.code == 130:  # typer's answer to Ctrl-C
            typer.echo("memtrial: interrupted; run the same command again to go on", err=True)
        raise
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception:  # noqa: BLE001
        # 1 means that what was checked failed; a fault of our own must not look like one.
        traceback.print_exc()
        sys.exit(2)
    sys.exit(0)


if __name__ == "__main__":
    main()
