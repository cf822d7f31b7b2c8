"""The sentence of a typed fact: subject, owner, attribute and value named; and what was said, beside it."""

from __future__ import annotations

from memtrial.systems.structured.extraction.drafts import Case, Draft
from memtrial.systems.structured.extraction.statements import dates_told, day_of, speaker_name
from memtrial.systems.structured.node import Fact

_LABELS: dict[str, tuple[str, str]] = {
    "delivery_date": ("delivery date", "送达日期"),
    "arrival_date": ("arrived on", "签收日期"),
    "delay": ("delayed", "延误"),
    "carrier": ("carrier", "承运快递"),
    "tracking": ("tracking number", "运单号"),
    "address": ("delivery address", "收货地址"),
    "price": ("price", "金额"),
    "refund": ("refund", "退款金额"),
    "return_reason": ("reason for the return", "退货原因"),
    "return_window": ("return window", "退货期限"),
    "return_fee": ("return fee", "退货手续费"),
    "return_contact": ("returns contact", "退货联系邮箱"),
    "ticket_state": ("complaint state", "投诉状态"),
    "handling": ("how the complaint is handled", "投诉处理"),
    "symptom": ("complaint", "投诉问题"),
    "visit_date": ("appointment", "上门日期"),
    "colour": ("colour wished for", "想要的颜色"),
    "doubt": ("doubt about it", "顾虑"),
    "agreed": ("agreed to", "是否同意"),
    "occasion": ("is for", "用途"),
    "serial": ("serial number", "序列号"),
    "missing": ("missing from the box", "缺少的配件"),
    "voucher": ("voucher", "代金券"),
    "voucher_granted": ("voucher granted", "代金券是否批准"),
    "account_owner": ("account owner", "客户经理"),
    "stock": ("in stock", "库存"),
    "employer": ("works for", "工作单位"),
    "residence": ("lives in", "居住地"),
    "birthday": ("birthday", "生日"),
}
_YES_NO = {"yes": ("yes", "是"), "no": ("no", "否"), "open": ("open", "处理中"), "resolved": ("closed", "已解决")}


def label(attribute: str, language: str) -> str:
    """Return how an attribute is called."""
    zh = language == "zh"
    kind, _, name = attribute.partition(":")
    if name:
        return f"{'支持' if zh else 'support of '}{name}" if kind == "supports" else name
    words = _LABELS.get(attribute, (attribute.replace("_", " "), attribute))
    return words[zh]


def fact_of(case: Case, draft: Draft) -> Fact:
    """Return the fact with its sentence."""
    said, message = case.said, case.said.message
    zh = said.language == "zh"
    say = draft.say or (_YES_NO[draft.value][zh] if draft.value in _YES_NO else draft.value)
    owner = case.name(draft.owner) if draft.owner != draft.subject else ""
    things = [case.name(k) for k in dict.fromkeys((draft.subject, *draft.also)) if k and k != draft.owner]
    about = "/".join(t for t in things if t) or case.name(draft.subject)
    colon = "：" if zh else ": "
    head = f"{owner}{'的' if zh and owner and about else ' – ' if owner and about else ''}{about}" if owner else about
    mark = {
        "uncertain": "（不确定）" if zh else " (not certain)",
        "retracted": "（已收回）" if zh else " (taken back)",
    }.get(draft.state, "")
    told = f"{speaker_name(said, case.learner)}{colon}{said.text}{dates_told(said, said.text)}"
    text = f"{head}{'，' if zh else ', '}{label(draft.attribute, said.language)}{colon}{say}{mark}"
    named = (draft.subject, draft.owner, *draft.also, *(m.key for m in said.mentions), said.speaker)
    return Fact(
        text=text,
        tenant_id=message.tenant_id,
        message_ids=tuple(dict.fromkeys([*draft.ids, message.id])),
        recorded_at=message.timestamp,
        fact_type=draft.fact_type,
        subject=draft.subject,
        attribute=draft.attribute,
        owner=draft.owner,
        value=draft.value,
        value_kind=draft.kind,
        state=draft.state,
        entities=tuple(dict.fromkeys(k for k in named if k)),
        source=message.source,
        speaker=message.sender,
        conversation_id=message.conversation_id,
        event_time=day_of(draft.value) if draft.kind == "date" else None,
        adds=draft.adds,
        details=told,
    )
