"""What is left of a short text when its known parts and the words that only label are taken away: the unknown name in it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_DELIMITER = re.compile(
    r"\x00|[|｜;；:：,，、。!！?？=→()（）\[\]【】<>{}\"“”「」/·~～…×*_]|->|\s[-–—+.]+\s|\.\s|\.$|[–—]|\n|(?<=[\u4e00-\u9fff])\s|\s(?=[\u4e00-\u9fff])"
)
_WORD = re.compile(r"[^\s]+")

# Words that name the kind of a record or of a slot, and closed classes; none of them is ever a name by itself.
_LABELS_EN = """
    order orders so new no num number nr ref reference id code placed by for from of on in at to with the a an is are was were
    be been and or total amount sum price value cost costs net gross subtotal grand paid item items article product products
    goods sku line customer customers cust client buyer account acct user member name contact qty quantity unit units pcs
    piece pieces count stock inventory hand on-hand available store left warehouse recount case ticket complaint claim
    issue incident report reported opened open closed status state reopened reopen resolved settled done entry record records
    created registered received booked logged filed raised spec specs specification specifications sheet data datasheet fact
    facts version release rev revision firmware page update updated as per has have had it its listed lists shows feature
    features attribute policy policies return returns refund refunds refunded credit credited posted note memo window period
    limit deadline fee fees charge charges charged handling days day within up accepted accepts accept allowed takes back
    delivery deliver delivered ship shipped shipping shipment ship-to address destination goes planned plan schedule scheduled
    due date eta expected arrival arrive arrives set reset confirmed confirmation now moved move rescheduled postponed delay
    delayed change changed reason because cause owner manager looks after handled handles handler assigned assignee
    responsible belongs key rep representative carrier courier via tracking waybill parcel dispatch dispatched out handed over
    signed off van desk mailbox mail email e-mail write requests request send inquiries please kindly regarding re about
    concerning under team department check checked profile info information your my our their his her this that these those
    person people managed manages manage managing served serves serving supervised offers offered offer provides provided provide requires required comes came without
    here there will can should would also just only still again currently
"""
_LABELS_ZH = """
    订单号 订单 新单 新增 单号 编号 编码 下单人 下单 录入 创建 客户编号 客户号 客户名 客户 顾客 买家 用户 会员号 会员 姓名 收货人 购买 商品 产品 货品 品名 型号
    物品 合计 共计 总计 总额 总价 金额 应收 实收 实付 应付 价格 单价 支付 付款 数量 库存 盘点 复盘 可用 在库 余 现有 剩余 件 台 个 工单 投诉单 投诉 受理 新建 登记
    反映 反馈 报修 报障 处理中 待处理 已受理 状态 问题 故障 描述 现象 规格书 规格 参数页 参数表 参数 数据表 版本 手册 标注 更新 表 页 自 起 从 由 在 的 为 是 至 到 于 与
    和 及 因 按 被 将 已 已经 现 现定 新 原 该 本 此 退货政策 退货时限 退货期限 退货期 退货处理费 退货手续费 退货邮箱 退货受理 退货申请 退货 可退天数 可退 退款 退换 政策 规定
    签收后 签收 收货后 内 之内 以内 天数 时限 期限 有效 受理 手续费 处理费 服务费 费用 每笔 每单 每件 每次 笔 单 次 扣除 扣 收取 收 邮箱 邮件 联系 请 发 发送 发至 寄 处理
    客户经理 经理 负责人 负责 归属 归 跟进 专属客服 专属顾问 专属 客服 现由 已由 改由 改为 变更为 更换为 对接人 对接 专员 顾问 管家 所属 分配给 分配 移交 转给 转 收货地址 收件地址 配送地址 送货地址 地址 寄往 寄到 送至 送到 送往 登记
    预计送达 预计到达 预计 送达 到货日 到货 交货 排程 配送计划 配送 计划 排期 日期 改期 改 延误 延期 延迟 顺延 推迟 调整 原因 物流 快递 快递公司 承运商 承运 承运方 运单号 运单 发运 发货 出库 揽收
    订购 购入 买入 成交 要货 合同价 揽件 发出 寄出 寄送 出货 交运 承接 收货 收件 收件人 目的地 送货 新地址 交货日期 交货日 交期 交付 送达日期 派件 投递 签收人 退回 返还 导致 由于 因为 造成 致使 新日期 最新 接手 接管 转交 交给 经办 由其 重新 重启 结束 解决 进行中 说明书 支持 提供 具备 具有 新增 移除 未提供
    交 交由 妥投 完成 派送 回执 入账 贷记 已退 到账 重开 重新打开 再次 撤销 完结 关闭 办结 归档 结案 已关闭 系统 通知 记录 公告 说明 关于 您的 您 我的 我 你 这 那 款 单
"""
_LAST_WORDS_ZH = """
对接 服务 承运方 承运 跟进 负责 录入 下单 归属 新建 处理中 待处理 已受理 受理 退货政策 退货期限 退货期 退货手续费 退货处理费 退货邮箱 退货申请 退货时限 退货规定 退货收取 退货请联系 退货 揽收 调整 更新 变更 调整为 使用 专用
可退天数 政策 每笔 收取 扣除 标注 合计 共计 总计 金额 应收 实付 库存 可用 余 在库 的 为 是 内 达到 高达 可达 大约
"""
_LAST_ZH = sorted(_LAST_WORDS_ZH.split(), key=lambda w: -len(w))
# "already", "being", "not yet": what stands before a label word belongs to the label
_ASPECT = re.compile(r"已经?|正在?|现已?|将于?|尚?未|待|刚|均|全部?")
_SAFE_FIRST = frozenset("的为是由至")
LABELS_EN = frozenset(_LABELS_EN.split())
LABELS_ZH = sorted(_LABELS_ZH.split(), key=lambda w: -len(w))


def chunks(text: str, spans: Iterable[tuple[int, int]]) -> list[str]:
    """Blank out spans and cut at delimiters; blanks around the pieces are dropped, empty ones too."""
    last, kept = 0, []
    for start, end in sorted(spans):
        if start >= last:
            kept.append(text[last:start])
        last = max(last, end)
    kept.append(text[last:])
    return [piece for part in _DELIMITER.split("\x00".join(kept)) if (piece := part.strip(" \t'’.-–"))]


def unlabelled(piece: str, extra: frozenset[str] = frozenset(), *, end: bool = True) -> str:
    """Strip label words from the beginning of a piece and, unless ``end`` is off, from its end."""
    words = _WORD.findall(piece)
    while words and _is_label(words[0], extra):
        words.pop(0)
    while end and words and _is_label(words[-1], extra):
        words.pop()
    text = " ".join(words)
    if any("\u4e00" <= c <= "\u9fff" for c in text):
        text = _strip_zh(text)
    return text.strip(" '’-")


def _is_label(word: str, extra: frozenset[str]) -> bool:
    folded = word.lower().strip(".,'’#").removesuffix("'s").removesuffix("’s")
    return not folded or folded in LABELS_EN or folded in extra


def _strip_zh(text: str) -> str:
    if text in LABELS_ZH:
        return ""
    for _ in range(6):
        # What is one character long may belong to the name; a label at the end may too (快递, 设置), so few are stripped.
        held = _ASPECT.match(text)
        if held and any(text.startswith(w, held.end()) for w in LABELS_ZH if len(w) > 1):
            text = text[held.end() :]
        label = next((w for w in LABELS_ZH if text.startswith(w) and (len(w) > 1 or w in _SAFE_FIRST)), "")
        if label and label != text:
            text = text[len(label) :].strip()
            continue
        label = next((w for w in _LAST_ZH if text.endswith(w)), "")
        if not label or label == text:
            break
        text = text[: -len(label)].strip()
    return "" if text in LABELS_ZH else text


def leftovers(text: str, spans: Iterable[tuple[int, int]], extra: frozenset[str] = frozenset()) -> list[str]:
    """Return the pieces that are neither known nor labels, in order."""
    return [name for piece in chunks(text, spans) if (name := unlabelled(piece, extra))]
