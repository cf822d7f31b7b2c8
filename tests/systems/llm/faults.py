"""What servers do, and what each of it must come to: rows of docs/llm_faults.md, every one played by test_faults.py.

``python -m tests.systems.llm.faults`` prints the page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict

from tests.systems.llm.scripted import USAGE, Script, Step, completion, error, says

RETRIES = 2
LIMIT = 50
QUESTION = "Where did Ann leave the keys? 钥匙在哪里?"


class Verdict(BaseModel):
    """What the structured rows ask for."""

    model_config = ConfigDict(extra="forbid")

    ok: bool


@dataclass(frozen=True, slots=True)
class Fault:
    """One row.

    Attributes:
        does: what the server does, as the page says it.
        script: played.
        status: what must come of it.
        requests: how many requests must have been sent.
        tokens: ``told`` by the server, ``counted`` here, ``none`` known.
        text: what must have been understood, None to leave it open.
        flags: exactly these.
        waits: least seconds that must have been waited before the second request.
        schema: ask for a Verdict.
        prompt: what is asked.
        timeout_s: for the rows in which the server keeps one waiting.
        note: for the page.
    """

    does: str
    script: Script
    status: str = "ok"
    requests: int = 1
    tokens: str = "told"
    text: str | None = None
    flags: tuple[str, ...] = ()
    waits: float = 0.0
    schema: bool = False
    prompt: str = QUESTION
    timeout_s: float = 20.0
    note: str = ""
    check: Callable[[Any], bool] = field(default=lambda reply: True)


ALWAYS = 1 + RETRIES
HTML = Step(body=b"<!DOCTYPE html><html><body>Please log in</body></html>", headers={"Content-Type": "text/html"})
CHUNK = '{"choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":%s}],"usage":null}'
STREAM = [CHUNK % ("hel", "null"), CHUNK % ("lo", "null"), CHUNK % ("", '"stop"'), "[DONE]"]


def events(lines: Sequence[str]) -> Step:
    body = "".join(f"data: {line}\n\n" for line in lines).encode()
    return Step(body=body, headers={"Content-Type": "text/event-stream"})


def details(**counts: int) -> dict[str, Any]:
    return {
        "prompt_tokens": 100,
        "completion_tokens": counts["completion"],
        "total_tokens": 100 + counts["completion"] + counts.get("beside", 0),
        "prompt_tokens_details": {"cached_tokens": counts.get("cached", 0)},
        "completion_tokens_details": {"reasoning_tokens": counts.get("reasoning", 0)},
    }


GOOD, BAD = '{"ok": true}', '{"ok": "perhaps"}'
CUT = '{"verdicts":[{"ok":true},{"ok":fal'
NO_FORMAT = error(400, "'response_format.type' must be 'text'", param="response_format")
MANY = {"prompt_tokens": 9000, "completion_tokens": 50}
LONG_PROMPT = "The museum opens at nine. " * 1500

FAULTS: dict[str, list[Fault]] = {
    "Good replies, more or less": [
        Fault("answers as documented", [says("hello")], text="hello"),
        Fault("streams although nobody asked, without usage", [events(STREAM)], tokens="counted", text="hello", flags=("usage_missing",)),
        Fault("gives the text as a list of parts", [says([{"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}])], text="hello"),
        Fault("puts a byte order mark before its JSON", [Step(body=b"\xef\xbb\xbf" + json.dumps(completion("hello")).encode())], text="hello"),
        Fault("gives no finish reason", [says("hello", finish=None)], text="hello"),
        Fault("sends two choices", [says("second", choice={"index": 1}, top={"choices": [
            {"index": 1, "message": {"content": "second"}, "finish_reason": "stop"},
            {"index": 0, "message": {"content": "first"}, "finish_reason": "stop"}]})], text="first", flags=("extra_choices",),
            note="the one of index 0 counts"),
        Fault("names another model", [says("hello", top={"model": "other-7b"})], text="hello", flags=("model_mismatch",)),
        Fault("names a dated snapshot of the model", [says("hello", top={"model": "m-2024-07-18"})], text="hello"),
        Fault("sends half of a surrogate pair", [Step(body=b'{"choices":[{"message":{"content":"hi \\ud83d"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}')], text="hi \ufffd"),
        Fault("sends bytes that are not UTF-8", [Step(body=json.dumps(completion("caf#")).encode().replace(b"#", b"\xe9"))], text="caf\ufffd", flags=("invalid_utf8",)),
        Fault("writes two million characters", [says("长" * 2_000_000)], check=lambda r: len(r.text) == 2_000_000),
        Fault("puts its thinking into the text", [says("<think>Is it {\"ok\": false}?</think>\n\nhello")], text="hello", flags=("thinking_removed",)),
        Fault("repeats a key of the envelope", [Step(body=json.dumps(completion("hello")).encode()[:-1] + b', "usage": {"prompt_tokens": 7, "completion_tokens": 1}}')], text="hello", check=lambda r: r.usage.prompt == 7, note="the last one counts, as for every parser"),
        Fault("closes the connection after each reply", [says("hello", headers={"Connection": "close"})], text="hello"),
    ],
    "Replies that are no answer": [
        Fault("null content, reason `stop`", [says(None)], "empty"),
        Fault("empty content", [says("")], "empty"),
        Fault("blanks alone", [says(" \n ")], "empty"),
        Fault("null content, reason `length`: thinking used the limit up", [says(None, finish="length", usage=details(completion=LIMIT, reasoning=LIMIT))], "truncated"),
        Fault("text cut at the limit", [says("The keys are", finish="length")], "truncated", text="The keys are", note="the text is kept and is no answer"),
        Fault("null content, reason `content_filter`", [says(None, finish="content_filter")], "filtered"),
        Fault("text, then reason `content_filter`", [says("The k", finish="content_filter")], "filtered"),
        Fault("400 with code `content_filter`", [error(400, "flagged", code="content_filter")], "filtered", tokens="none"),
        Fault("a `refusal` beside null content", [says(None, message={"refusal": "I cannot help"})], "refused", text="I cannot help"),
        Fault("calls a tool that nobody offered", [says(None, finish="tool_calls", message={"tool_calls": [{"id": "1"}]})], "tool_call"),
        Fault("calls a tool and says `stop`", [says("", message={"tool_calls": [{"id": "1"}]})], "tool_call"),
    ],
    "Usage": [
        Fault("no usage", [says("hello", usage={})], tokens="counted", flags=("usage_missing",)),
        Fault("usage null", [says("hello", usage=None)], tokens="counted", flags=("usage_missing",)),
        Fault("usage of zeros", [says("hello", usage={"prompt_tokens": 0, "completion_tokens": 0})], tokens="counted", flags=("usage_missing",), check=lambda r: r.usage.prompt > 0 and r.usage.completion > 0),
        Fault("usage of words and negative numbers", [says("hello", usage={"prompt_tokens": "many", "completion_tokens": -1})], tokens="counted", flags=("usage_missing",)),
        Fault("prompt counted, completion null", [says("hello", usage={"prompt_tokens": 9, "completion_tokens": None})], tokens="counted", flags=("usage_missing",), check=lambda r: r.usage.prompt == 9),
        Fault("counts far fewer tokens than were sent: a context cut in silence", [says("hello", usage={"prompt_tokens": 4098, "completion_tokens": 1})], prompt=LONG_PROMPT, flags=("truncated_by_server",)),
        Fault("cached and reasoning tokens as parts", [says("hello", usage=details(completion=30, reasoning=20, cached=60))], check=lambda r: (r.usage.cached, r.usage.reasoning, r.usage.completion) == (60, 20, 30)),
        Fault("reasoning tokens beside the completion", [says("hello", usage=details(completion=10, reasoning=20, beside=20))], check=lambda r: r.usage.completion == 30),
        Fault("more cached tokens than prompt tokens", [says("hello", usage=details(completion=1, cached=500))], check=lambda r: r.usage.cached == r.usage.prompt == 100),
    ],
    "Refusals of the service": [
        Fault("429, then an answer", [error(429), says()], requests=2),
        Fault("429 with `Retry-After` in seconds", [error(429, headers={"Retry-After": "7"}), says()], requests=2, waits=7.0),
        Fault("429 with `Retry-After` as a date", [error(429, headers={"Date": "Mon, 01 Jan 2024 00:00:00 GMT", "Retry-After": "Mon, 01 Jan 2024 00:00:09 GMT"}), says()], requests=2, waits=9.0, note="read against the server's own clock"),
        Fault("429 with `retry-after-ms`", [error(429, headers={"retry-after-ms": "2500"}), says()], requests=2, waits=2.5),
        Fault("429 with a `Retry-After` of nonsense", [error(429, headers={"Retry-After": "soon"}), says()], requests=2),
        Fault("429 with a `Retry-After` of an hour", [error(429, headers={"Retry-After": "3600"})], "rate_limited", tokens="none", note="longer than 300 s is not waited for"),
        Fault("429 for ever", [error(429)], "rate_limited", ALWAYS, "none"),
        Fault("529 overloaded, then an answer", [error(529), says()], requests=2),
        Fault("429 with `insufficient_quota`", [error(429, "You exceeded your current quota", type="insufficient_quota", code="insufficient_quota")], "quota", tokens="none", note="ends the run"),
        Fault("402 payment required", [error(402, "Insufficient Balance")], "quota", tokens="none", note="ends the run"),
        Fault("401", [error(401, "Incorrect API key provided", code="invalid_api_key")], "auth", tokens="none", note="ends the run"),
        Fault("403", [error(403, "no access to this model")], "auth", tokens="none", note="ends the run"),
        Fault("400", [error(400, "messages must not be empty")], "bad_request", tokens="none"),
        Fault("400, prompt longer than the context", [error(400, "maximum context length is 8192 tokens", code="context_length_exceeded")], "bad_request", tokens="none"),
        Fault("404, model unknown", [error(404, "The model `m` does not exist", code="model_not_found")], "no_model", tokens="none", note="ends the run"),
        Fault("404, model unknown and no code for it", [error(404, 'model "m" not found, try pulling it first')], "no_model", tokens="none", note="ends the run"),
        Fault("400, model unknown", [error(400, "Invalid model name passed in model=m")], "no_model", tokens="none", note="ends the run"),
        Fault("404 with a web page, before any answer", [Step(404, b"<html>Not Found</html>", {"Content-Type": "text/html"})], "no_model", tokens="none", note="ends the run: the address is wrong"),
        Fault("404 with a web page, after an answer", [Step(body=completion("{}")), Step(404, b"<html>Not Found</html>", {"Content-Type": "text/html"})], "bad_request", 2, flags=("repaired",), schema=True, note="a gateway's slip"),
        Fault("422 in another shape", [Step(422, {"detail": [{"msg": "field required"}]})], "bad_request", tokens="none"),
        Fault("400, wants `max_completion_tokens`", [error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", param="max_tokens"), says()], requests=2, note="remembered"),
        Fault("400, takes no `temperature`", [error(400, "Unsupported value: 'temperature' does not support 0", param="temperature"), says()], requests=2, flags=("dropped:temperature",), note="remembered, and every reply says so"),
    ],
    "Failures of the service": [
        Fault("500, then an answer", [error(500), says()], requests=2),
        Fault("500 for ever", [error(500)], "server_error", ALWAYS, "none"),
        Fault("502 with a web page", [Step(502, b"<html>Bad gateway</html>", {"Content-Type": "text/html"})], "server_error", ALWAYS, "none"),
        Fault("503 with `Retry-After`, then an answer", [error(503, headers={"Retry-After": "3"}), says()], requests=2, waits=3.0),
        Fault("408, then an answer", [error(408), says()], requests=2),
        Fault("409, then an answer", [error(409), says()], requests=2),
        Fault("200 with an error 429 inside", [Step(body={"error": {"code": 429, "message": "slow down"}}), says()], requests=2),
        Fault("200 with an error and no code inside", [Step(body={"error": "engine died"})], "server_error", ALWAYS, "none"),
        Fault("reason `error`", [says("The", finish="error"), says()], requests=2, check=lambda r: r.usage.prompt == 2 * USAGE["prompt_tokens"], note="both replies are paid for"),
        Fault("200 with a web page", [HTML], "bad_reply", ALWAYS, "none"),
        Fault("redirects to a page to log in", lambda seen: HTML if seen.path == "/login" else Step(302, headers={"Location": "/login"}), "bad_reply", 2 * ALWAYS, "none", note="each attempt is two requests"),
        Fault("200 with an empty body", [Step()], "bad_reply", ALWAYS, "none"),
        Fault("200 with half a JSON", [Step(body=b'{"choices": [{"mess')], "bad_reply", ALWAYS, "none"),
        Fault("200 with a JSON array", [Step(body=[1])], "bad_reply", ALWAYS, "none"),
        Fault("200 with JSON nested 100,000 deep", [Step(body=b"[" * 100_000)], "bad_reply", ALWAYS, "none"),
        Fault("no choices", [Step(body={"choices": [], "usage": USAGE})], "bad_reply", ALWAYS, "none"),
        Fault("a choice without a message", [Step(body={"choices": [{"finish_reason": "stop"}]})], "bad_reply", ALWAYS, "none"),
        Fault("a stream that breaks off", [events(STREAM[:2])], "bad_reply", ALWAYS, "none"),
        Fault("says gzip and sends none", [says(headers={"Content-Encoding": "gzip"})], "bad_reply", ALWAYS, "none"),
        Fault("a chunked body of nonsense", [says(act="chunk_garbage")], "bad_reply", ALWAYS, "none"),
    ],
    "The line": [
        Fault("resets the connection once", [Step(act="reset"), says()], requests=2),
        Fault("resets every connection", [Step(act="reset")], "connection", ALWAYS, "none"),
        Fault("closes without a reply", [Step(act="close")], "connection", ALWAYS, "none"),
        Fault("closes in the middle of the body", [says(act="half")], "connection", ALWAYS, "none"),
        Fault("resets in the middle of the body", [says(act="half_reset")], "connection", ALWAYS, "none"),
        Fault("closes in the middle of a chunk", [says(act="chunk_broken")], "connection", ALWAYS, "none"),
        Fault("hangs", [Step(act="hang")], "timeout", ALWAYS, "none", timeout_s=0.15),
        Fault("sends a byte now and then, for ever", [says(act="drip", delay_s=0.05)], "timeout", ALWAYS, "none", timeout_s=0.15, note="the limit is for the whole reply"),
        Fault("hangs once", [Step(act="hang"), says()], requests=2, timeout_s=0.5),
    ],
    "An object of a given shape was asked for": [
        Fault("knows `json_schema`", [says(GOOD)], schema=True),
        Fault("400: knows no `json_schema`", [NO_FORMAT, says(GOOD)], requests=2, schema=True, note="JSON mode from then on"),
        Fault("400: knows no `response_format` at all", [NO_FORMAT, NO_FORMAT, says(GOOD)], requests=3, schema=True, note="plain text from then on"),
        Fault("ignores the format: a fence", [says(f"Sure!\n```json\n{GOOD}\n```\nDone.")], schema=True),
        Fault("ignores the format: prose around", [says(f"I think {GOOD} fits, {{right}}?")], schema=True),
        Fault("says the same object twice", [says(f"{GOOD}\n\n{GOOD}")], schema=True),
        Fault("two objects, the last marked as final", [says(f'first thought {{"ok":false}} - on rereading, final: {GOOD}')], schema=True, check=lambda r: r.parsed.ok is True),
        Fault("two objects, none marked", [says(f'{{"ok":false}} or {GOOD}')], "invalid", 2, schema=True, flags=("repaired",), note="never the first in silence"),
        Fault("two objects, the last marked as not final", [says(f'{{"ok":false}} and, not final: {GOOD}')], "invalid", 2, schema=True, flags=("repaired",)),
        Fault("another shape, mended when told", [says(BAD), says(GOOD)], requests=2, schema=True, flags=("repaired",)),
        Fault("another shape twice", [says(BAD)], "invalid", 2, schema=True, flags=("repaired",), check=lambda r: r.usage.prompt == 2 * USAGE["prompt_tokens"]),
        Fault("no JSON", [says("It is right.")], "invalid", 2, schema=True, flags=("repaired",)),
        Fault("a key twice in one object", [says('{"ok": true, "ok": false}')], "invalid", 2, schema=True, flags=("repaired",)),
        Fault("NaN", [says('{"ok": NaN}')], "invalid", 2, schema=True, flags=("repaired",)),
        Fault("a number of 10,000 digits", [says('{"ok": ' + "9" * 10_000 + "}", usage=MANY)], "invalid", 2, schema=True, flags=("repaired",)),
        Fault("100,000 opening braces", [says("{" * 100_000, usage=MANY)], "invalid", 2, schema=True, flags=("repaired",)),
        Fault("JSON cut at the limit", [says(CUT, finish="length")], "truncated", 2, schema=True, flags=("enlarged",), check=lambda r: r.parsed is None and r.usage.prompt == 2 * USAGE["prompt_tokens"], note="asked once more with twice the limit; both paid for"),
        Fault("JSON cut at the limit, whole at twice the limit", [says(CUT, finish="length"), says(GOOD)], requests=2, schema=True, flags=("enlarged",)),
        Fault("JSON cut at the limit and called finished", [says(CUT, usage={"prompt_tokens": 9, "completion_tokens": 2 * LIMIT})], "truncated", 2, schema=True, flags=("enlarged",)),
        Fault("JSON cut for no reason", [says(CUT), says(GOOD)], requests=2, schema=True, flags=("repaired",)),
        Fault("refuses", [says(None, message={"refusal": "no"})], "refused", schema=True),
        Fault("429 in the middle of a repair", [says(BAD), error(429), says(GOOD)], requests=3, schema=True, flags=("repaired",)),
    ],
}  # fmt: skip

HEAD = f"""# What a model's endpoint may do, and what comes of it

Every row is played by a server on 127.0.0.1 in `tests/systems/llm/test_faults.py`, here with {RETRIES} retries; the page itself is checked there
too (`python -m tests.systems.llm.faults` prints it). *Outcome* is `Reply.status`: only `ok` is an answer, and only `ok` is ever served from
the record. *Requests* are those sent, retries included. *Tokens*: told by the server, counted here (marked as estimated), or none: a failed
attempt may have been charged for, and then a budget counts the worst case. Not in the table, as no server is in it: a connection that is
refused (`connection`), not taken within 10 s (`timeout`), or to a name that nobody knows (`connection`) is tried again twice and then ends
the run where no connection has ever come about, and is retried like the rest where one has; a certificate that is not trusted
(`connection`) ends the run at once.

What stands as *ends the run* raises a `RunStop` (`QuotaExhausted`, `AuthRejected`, `ModelMissing`, `EndpointUnreachable`), one sentence for
the person at the keyboard, exit code 2, and the same command goes on; calls still waiting are not sent any more. Retries wait a random time below a bound that doubles (0.5 s to 30 s), or as long as the service asks.
"""


def rows() -> list[tuple[str, Fault]]:
    return [(group, fault) for group, faults in FAULTS.items() for fault in faults]


def page() -> str:
    parts = [HEAD]
    for group, faults in FAULTS.items():
        parts.append(
            f"\n## {group}\n\n| the server … | outcome | requests | tokens | marks and remarks |\n|---|---|---|---|---|\n"
        )
        for fault in faults:
            remarks = "; ".join([*(f"`{flag}`" for flag in fault.flags), *([fault.note] if fault.note else [])])
            parts.append(f"| {fault.does} | `{fault.status}` | {fault.requests} | {fault.tokens} | {remarks} |\n")
    return "".join(parts)


if __name__ == "__main__":
    print(page(), end="")
