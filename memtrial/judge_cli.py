"""``memtrial judge check`` and ``memtrial rejudge``: how far a judge can be believed, and stored answers graded again.

Exit code 1 where more than 5 % of the answers have no verdict: a score of the rest would say nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from memtrial.datasets.errors import UserError

judge_app = typer.Typer(no_args_is_help=True, help="Measure how often a judge errs on answers whose truth is known.")

_Models = Annotated[
    list[str] | None, typer.Option("--model", metavar="NAME", help="A model that judges; three or more vote.")
]
_BaseUrl = Annotated[str | None, typer.Option("--base-url", metavar="URL", help="Endpoint, up to and with /v1.")]
_KeyEnv = Annotated[
    str | None,
    typer.Option(
        "--api-key-env",
        metavar="NAME",
        help="NAME of the environment variable with the key; OPENAI_API_KEY by default.",
    ),
]
_Rubric = Annotated[str, typer.Option("--rubric", help="Prompts: ours, locomo or longmemeval.")]
_Replay = Annotated[str, typer.Option("--replay", help="prefer (ask what is not recorded), only (ask nothing), off.")]
_Budget = Annotated[float | None, typer.Option("--budget", min=0, metavar="USD", help="Stop before this is passed.")]
_Prices = Annotated[Path | None, typer.Option("--prices", help="A price table in place of the built-in one.")]


@judge_app.command("check")
def check(
    published: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="After --published: more result files.")
    ] = None,
    model: _Models = None,
    base_url: _BaseUrl = None,
    api_key_env: _KeyEnv = None,
    rubric: _Rubric = "ours",
    data: Annotated[str, typer.Option("--data", help="Data set whose questions answers are planted on.")] = "",
    path: Annotated[Path | None, typer.Option("--path", help="Where its files lie.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="OPTION=VALUE", help="Another option of the data set.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="At most this many questions.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of what is planted.")] = 0,
    published_: Annotated[
        list[Path] | None,
        typer.Option(
            "--published", metavar="FILE", help="Result files; wrong_* hold planted wrong answers. No model is asked."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the errors for memtrial rejudge --errors.")] = None,
    calls: Annotated[Path, typer.Option("--calls", help="File of recorded calls.")] = Path("judge-calls.jsonl"),
    replay: _Replay = "prefer",
    budget: _Budget = None,
    prices: _Prices = None,
) -> None:
    """Print a judge's false-positive and false-negative rates on planted answers, with intervals, by kind."""
    from memtrial.datasets.registry import load_dataset
    from memtrial.experiments.judge_models import JudgeOptions, replay_of
    from memtrial.experiments.judging import check_judge, check_published, render_errors, write_errors
    from memtrial.experiments.overrides import parse_overrides

    files = [*(published_ or []), *(published or [])]
    if bool(files) == bool(model):
        raise UserError("name either a judge to ask (--model NAME) or files of published verdicts (--published FILE…)")
    spec: dict[str, Any] = {"name": data or ("locomo" if files else "handwritten"), **parse_overrides(set_ or [])}
    if path is not None:
        spec["path"] = str(path)
    dataset = load_dataset(spec)
    if files:
        errors = check_published(files, dataset, data=spec)
    else:
        options = JudgeOptions(
            models=tuple(model or ()),
            base_url=base_url,
            api_key_env=api_key_env,
            rubric=rubric,
            replay=replay_of(replay),
            budget_usd=budget,
            prices=prices,
        )
        errors, ledger = check_judge(dataset, options, calls, data=spec, limit=limit, seed=seed)
    typer.echo(render_errors(errors))
    if not files:
        typer.echo(f"asked: {ledger.line(budget)}")
    if out is not None:
        write_errors(out, errors)
        typer.echo(f"errors: {out}")
    if not errors.usable:
        typer.echo(f"memtrial: {errors.unscored} planted answers are unscored, too many for a rate", err=True)
    raise typer.Exit(0 if errors.usable else 1)


def rejudge(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run.")],
    model: _Models = None,
    base_url: _BaseUrl = None,
    api_key_env: _KeyEnv = None,
    judge: Annotated[
        list[str] | None, typer.Option("--judge", help="A judge without a model: matcher or published.")
    ] = None,
    rubric: _Rubric = "ours",
    mask: Annotated[
        str | None, typer.Option("--mask", help="contested: leave out questions whose gold answer is in doubt.")
    ] = None,
    errors: Annotated[
        list[Path] | None, typer.Option("--errors", metavar="FILE", help="From judge check --out: corrects the scores.")
    ] = None,
    replay: _Replay = "prefer",
    budget: _Budget = None,
    prices: _Prices = None,
) -> None:
    """Grade a run's stored answers again, ask its systems nothing, and show which ranks flip.

    Without --model and --judge, the judge that the run's configuration names under models: judge: is asked.
    """
    from memtrial.experiments.judge_models import JudgeOptions, replay_of
    from memtrial.experiments.judging import read_errors
    from memtrial.experiments.rejudge import rejudge as grade_again
    from memtrial.experiments.rejudge_text import render

    options = JudgeOptions(
        models=tuple(model or ()),
        base_url=base_url,
        api_key_env=api_key_env,
        rubric=rubric,
        replay=replay_of(replay),
        budget_usd=budget,
        prices=prices,
    )
    found = grade_again(
        folder, options, judges=judge or (), mask=mask, errors=[read_errors(path) for path in errors or ()]
    )
    if found.taken:
        typer.echo(f"judge: {found.taken}")
    typer.echo(render(found.judges))
    if found.line:
        typer.echo(f"asked: {found.line}")
    typer.echo(f"verdicts: {found.folder}; memtrial report {folder} shows them")
    for line in found.unusable:
        typer.echo(f"memtrial: {line}, too many for a score", err=True)
    raise typer.Exit(1 if found.unusable else 0)
