"""What a reader must know before any figure: no model, unread evidence, missing answers, few clusters, doubts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from memtrial.metrics.cost import called_a_model
from memtrial.metrics.handed_out import hands_out
from memtrial.metrics.statistics import FEW_CLUSTERS
from memtrial.metrics.verdicts import reading_bottlenecks
from memtrial.reports.pairs import NOTICEABLE_CORES
from memtrial.reports.view import View
from memtrial.reports.words import listing, plural


@dataclass(frozen=True, slots=True)
class Banner:
    """A warning. ``level``: ``bad`` (figures are wrong or missing), ``warn`` (read with care), ``info``."""

    level: str
    head: str
    text: str


def banners(view: View) -> list[Banner]:
    """Return what stands above the verdict, gravest first."""
    found = [*_unfinished(view), *_labels(view), *_errors(view), *_leaks(view), *_suspects(view), *_mixed_code(view), *_journal(view), *_reading(view),
             *_neighbours(view), *_no_model(view), *_published(view), *_clusters(view), *_clock(view), *_generated(view)]  # fmt: skip
    grave = {"bad": 0, "warn": 1, "info": 2}
    return sorted(found, key=lambda b: grave[b.level])


def _unfinished(view: View) -> Iterator[Banner]:
    missing = sum(view.outcomes(d.label, t)["not_run"] for d in view.datasets for t in d.trials)
    if missing:
        planned = sum(t.planned * t.repeats for t in view.run.trials)
        text = f"{missing:,} of {planned:,} planned answers are missing; run the same command again to go on. They count as errors below."
        yield Banner("bad", "This run is not finished.", text)


def _errors(view: View) -> Iterator[Banner]:
    kinds = Counter(r.result.error for r in view.run.records if r.result.error)
    if kinds:
        trials = listing(list(dict.fromkeys(r.trial for r in view.run.records if r.result.error)))
        what = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
        total, records = sum(kinds.values()), len(view.run.records)
        text = f"{total:,} of {records:,} answers ({what}), from {trials}. They stay in every denominator."
        yield Banner("bad" if total > records * 0.02 else "warn", "Some questions ended in an error.", text)


def _leaks(view: View) -> Iterator[Banner]:
    leaking = list(dict.fromkeys(r.trial for r in view.run.records if r.judgement.leaks))
    if leaking:
        yield Banner(
            "bad", "Tenants leak.", f"Items of another tenant turned up in what {listing(leaking)} retrieved or showed."
        )


def _suspects(view: View) -> Iterator[Banner]:
    found = list(dict.fromkeys(f"{r.trial} on {r.dataset}" for r in view.run.metrics if "adapter_suspect" in r.status))
    if found:
        text = f"{listing(found)}: nothing was retrieved, or accuracy lies under that of answering without memory. Mend before comparing."
        yield Banner("warn", "A connection may be at fault.", text)


def _mixed_code(view: View) -> Iterator[Banner]:
    versions: dict[str, set[str]] = {}
    for trial in view.run.trials:
        versions.setdefault(trial.target, set()).add(str(trial.facts.get("code_fingerprint", "")))
    mixed = sorted(target for target, codes in versions.items() if len(codes) > 1)
    if mixed:
        yield Banner(
            "bad",
            "Code versions are mixed.",
            f"Answers of {listing(mixed)} come from more than one version of its code.",
        )


def _journal(view: View) -> Iterator[Banner]:
    journal = view.run.manifest.get("journal") or {}
    foreign, corrupt = int(journal.get("of_other_versions") or 0), int(journal.get("corrupt") or 0)
    if foreign:
        text = f"{plural(foreign, 'answer')} in the journal came from other code, other data or a larger limit; they were asked again and do not count."
        yield Banner("info", "The journal holds another version too.", text)
    if corrupt:
        yield Banner(
            "warn", "The journal was damaged.", f"{plural(corrupt, 'line')} could not be read and do not count."
        )


def _labels(view: View) -> Iterator[Banner]:
    sheets = view.run.manifest.get("data") or {}
    for dataset in view.datasets:
        sheet = sheets.get(dataset.label) or {}
        if found := sheet.get("label_faults_found"):
            text = (
                f"{dataset.label}: {plural(found, 'fault')}, such as {sheet['label_faults'][0]}. Figures over these questions are "
                "in doubt; memtrial datasets check names them all."
            )
            yield Banner("bad", "The labels have faults.", text)


def _clock(view: View) -> Iterator[Banner]:
    sheets = view.run.manifest.get("data") or {}
    unusable = [
        d.label for d in view.datasets if (sheets.get(d.label) or {}).get("clock_usable") is False and not d.is_variant
    ]
    if unusable:
        text = f"{listing(unusable)}: question times may lie before their own evidence, so the whole log was handed over before the first question."
        yield Banner("info", "A clock that cannot be used.", text)


def _reading(view: View) -> Iterator[Banner]:
    limits = reading_bottlenecks(view.run.metrics, view.run.trials)
    weak = [f"{d.label} ({limits[d.label]:.1%})" for d in view.datasets if d.label in limits and not d.is_variant]
    if weak:
        text = (f"Handed the evidence itself, the reader is right on fewer than 60 % of the questions of {listing(weak)}. There the verdict "
                "leads with what was retrieved and which wrong memories were shown; accuracy is capped by the reader, whatever the memory.")  # fmt: skip
        yield Banner("warn", "Reading is the bottleneck.", text)


def _neighbours(view: View) -> Iterator[Banner]:
    others = [t.other_work_cores for t in view.run.trials if t.other_work_cores is not None]
    if others and max(others) >= NOTICEABLE_CORES:
        text = (f"Other programs kept between {min(others):.1f} and {max(others):.1f} cores busy, depending on the trial. That lengthens latencies "
                "and times of taking in, and not of all trials alike; measure them again on a quiet machine before deciding by them.")  # fmt: skip
        yield Banner("warn", "The machine was not quiet.", text)


def _published(view: View) -> Iterator[Banner]:
    names = list(dict.fromkeys(t.trial for t in view.run.trials if hands_out(t)))
    if names:
        text = (f"What {listing(names)} answers was published by others, who had it written by their own models; here it was only looked up "
                "and judged. How it retrieved, what it read, how long it took and what it cost cannot be known from that.")  # fmt: skip
        yield Banner("info", "Published answers.", text)


def _no_model(view: View) -> Iterator[Banner]:
    published = {(t.trial, t.dataset) for t in view.run.trials if hands_out(t)}
    own = [r for r in view.run.records if (r.trial, r.result.dataset) not in published]
    # A run that holds nothing but published answers says so above: a model did write them.
    # Where one was to be asked but no answer came back, the errors above tell; rules read nothing then.
    if not called_a_model(own) and not view.run.manifest.get("models") and (own or not published):
        text = ("Answers come from an extractive reader, which picks a span of what it was shown, and from rules. Retrieval, exposure and latency "
                "are those of the memories themselves; accuracy is what this reader makes of them, not what a language model would.")  # fmt: skip
        yield Banner("info", "No language model was used.", text)


def _clusters(view: View) -> Iterator[Banner]:
    few = [
        f"{d.label} ({plural(d.clusters, 'cluster')})"
        for d in view.datasets
        if not d.is_variant and 0 < d.clusters < FEW_CLUSTERS
    ]
    if few:
        text = (f"{listing(few)}: questions of one conversation are not independent, and intervals over fewer than {FEW_CLUSTERS} clusters are too "
                "narrow to rely on. The interval in parentheses takes every question as independent.")  # fmt: skip
        yield Banner("info", "Few independent clusters.", text)


def _generated(view: View) -> Iterator[Banner]:
    made = [d.label for d in view.datasets if d.kind == "generated" and not d.is_variant]
    if made:
        text = f"{listing(made)} was written by a program, not by people; it stands after handwritten and public data."
        yield Banner("info", "Generated data.", text)
