"""Which outcome a failed attempt is, and whether asking again can help."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from memtrial.systems.models.llm.messages import ToolCall
from memtrial.systems.models.llm.outcome import Status, Usage


@dataclass(slots=True)
class RawReply:
    """An HTTP response, read to its end."""

    code: int
    headers: Mapping[str, str]
    body: bytes


class TransportFaultError(Exception):
    """No whole response came: ``kind`` says how far it got."""

    def __init__(
        self,
        kind: Literal["timeout", "connection", "bad_reply"],
        detail: str,
        *,
        sent: bool = True,
        untrusted: bool = False,
    ) -> None:
        """Describe the fault.

        Args:
            kind: the outcome.
            detail: what happened.
            sent: whether the server may have begun to work on the request, and so may charge for it.
            untrusted: there is a server, and its certificate is not trusted.
        """
        super().__init__(detail)
        self.kind, self.detail, self.sent, self.untrusted = kind, detail, sent, untrusted


@dataclass(slots=True)
class Heard:
    """What one attempt brought.

    Attributes:
        status: the outcome if nothing better follows.
        text: the model's words.
        usage: tokens, None where no model answered.
        retry: asking again may help.
        wait_s: the server's own wish for how long to wait before.
        congested: the server has too much to do.
        billable: the attempt failed, but may have been charged for.
        unreached: there was not even a connection.
        untrusted: as ``unreached``, and because of the server's certificate.
        nothing_there: the server knows no such address.
        tool_calls: as in ``Reply.tool_calls``.
        complaint: code, parameter and message of an error reply, lower case, for telling what the server does not support.
    """

    status: Status
    text: str = ""
    usage: Usage | None = None
    detail: str = ""
    model: str = ""
    finish_reason: str = ""
    flags: tuple[str, ...] = field(default=())
    retry: bool = False
    wait_s: float | None = None
    congested: bool = False
    billable: bool = False
    unreached: bool = False
    untrusted: bool = False
    nothing_there: bool = False
    complaint: str = ""
    tool_calls: tuple[ToolCall, ...] = ()


_QUOTA = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance", "quota_exceeded"}
)
_FILTER = frozenset({"content_filter", "content_policy_violation", "responsibleaipolicyviolation"})
_NO_MODEL = frozenset(
    {
        "model_not_found",
        "model_not_exist",
        "model_not_available",
        "invalid_model",
        "unknown_model",
        "deploymentnotfound",
    }
)
# Servers of one's own mostly have no code for it: vLLM, Ollama and routers say it in words.
_NO_MODEL_SAID = re.compile(
    r"\bmodel\b.{0,120}?(?:does not exist|doesn't exist|\bnot (?:found|exist)\b|is not available|\bunknown\b)"
    r"|\b(?:invalid|unknown) model\b|\bno such model\b",
    re.IGNORECASE | re.DOTALL,
)
_OVERLOADED = frozenset({503, 529})
_AGAIN_LATER = frozenset({409, 425})


def heard_from_fault(fault: TransportFaultError) -> Heard:
    """Return what a broken or missing response amounts to."""
    return Heard(
        fault.kind,
        detail=fault.detail,
        retry=not fault.untrusted,
        congested=fault.kind == "timeout" and fault.sent,
        billable=fault.sent,
        unreached=not fault.sent,
        untrusted=fault.untrusted,
    )


def heard_from_error(raw: RawReply) -> Heard:
    """Return what an HTTP error amounts to."""
    codes, message = _complaint(raw.body)
    detail = f"HTTP {raw.code}" + (f" {'/'.join(sorted(codes))}" if codes else "") + (f": {message}" if message else "")
    heard = Heard(
        _status(raw.code, codes, message), detail=detail, complaint=" ".join([*sorted(codes), message]).lower()
    )
    heard.retry = heard.status in ("rate_limited", "timeout", "server_error", "bad_reply")
    heard.congested = raw.code in _OVERLOADED or heard.status == "rate_limited"
    heard.wait_s = retry_after(raw.headers)
    heard.nothing_there = raw.code in (404, 405, 410)
    return heard


def _status(code: int, codes: set[str], message: str) -> Status:
    if code == 402 or (code in (403, 429) and codes & _QUOTA):
        return "quota"
    if code in (400, 403, 404, 410, 422) and (codes & _NO_MODEL or _NO_MODEL_SAID.search(message)):
        return "no_model"
    if code in (401, 403, 407):
        return "auth"
    if code in (429, 529):
        return "rate_limited"
    if code == 408:
        return "timeout"
    if code >= 500 or code in _AGAIN_LATER:
        return "server_error"
    if code < 400:
        return "bad_reply"
    return "filtered" if codes & _FILTER else "bad_request"


def heard_from_error_object(error: object, raw: RawReply) -> Heard:
    """Return what an error inside a reply of status 200 amounts to, as some routers send it."""
    told = error.get("code") if isinstance(error, Mapping) else None
    try:
        code = int(str(told))
    except ValueError:
        code = 0
    if not 400 <= code < 600:
        codes, _ = _complaint(raw.body)
        code = 429 if codes & _QUOTA or "rate_limit_exceeded" in codes else 400 if codes & _FILTER else 500
    heard = heard_from_error(RawReply(code, raw.headers, raw.body))
    heard.detail = f"HTTP {raw.code} with an error inside: {heard.detail}"
    return heard


def _complaint(body: bytes) -> tuple[set[str], str]:
    """Return the codes (code, type and parameter) and the message of an error body, of whatever shape."""
    text = body.decode("utf-8", "replace")
    try:
        told: Any = json.loads(text)
    except (ValueError, RecursionError):
        return set(), text[:500]
    if isinstance(told, list) and told:
        told = told[0]
    if isinstance(told, Mapping) and told.get("error"):
        told = told["error"]
    if not isinstance(told, Mapping):
        return set(), str(told)[:500]
    named = [told.get(name) for name in ("code", "type", "param")]
    inner = told.get("innererror")
    if isinstance(inner, Mapping):
        named.append(inner.get("code"))
    codes = {value.lower() for value in named if isinstance(value, str) and value}
    message = told.get("message") or told.get("detail") or told.get("msg") or ""
    return codes, str(message)[:500]


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds a server wants to be left alone for, or None.

    A date is read against the server's own ``Date`` where it sends one, since its clock need not be ours.
    """
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(lower.get(name, "")) / unit
        except ValueError:
            continue
        if 0 <= seconds < 1e9:
            return seconds
    until, clock = _http_date(lower.get("retry-after")), _http_date(lower.get("date"))
    if until is None:
        return None
    return max(0.0, (until - (clock or now or datetime.now(UTC))).total_seconds())


def _http_date(text: str | None) -> datetime | None:
    try:
        when = parsedate_to_datetime(text or "")
    except (ValueError, TypeError, IndexError):
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)
