"""Words that mean the same in question and statement: one table of everyday and business concepts, English and Chinese.

Overlap of words alone misses "money back" for "refund". The table is written by reasoning, not learned; English entries
are stemmed, Chinese ones are single characters or pairs, as ``text.terms`` yields them.
"""

from __future__ import annotations

import Stemmer

_TABLE = {
    "refund": "refund refunded reimburse reimbursement credit credited credits repaid payback 退款 退了 退还 返还 贷记 退费 实退 退给",
    "arrive": "arrive arrival deliver delivered delivery arriving due eta planned scheduled schedule reach received receive doorstep"
    " 送达 到货 送到 签收 配送 排程 预计 收到 送货 派送 到手 哪天 交付 到了",
    "delay": "delay delayed late slip slips postponed postpone rescheduled reschedule pushed 改期 延期 延误 推迟 晚了 推到 延后",
    "ship": "ship shipped shipping dispatch dispatched courier carrier van shipment 快递 承运 发货 出库 发运 物流 寄出",
    "tracking": "tracking track waybill consignment parcel 单号 运单 物流 包裹",
    "address": "address destination whereabouts ship-to goes 地址 寄到 送至 寄往 收货 寄去 送往",
    "price": "price cost costs total amount paid pay sum charge charged fee spend spent 价格 金额 合计 费用 应收 付了 花了 价钱 总价 收费 手续",
    "complaint": "complain complaint issue problem trouble ticket case fault defect broken 投诉 工单 问题 毛病 故障 受理 售后 反映",
    "status": "status stand progress outcome result handled resolved closed settled fixed repaired replaced reopened open"
    " 进展 处理 结果 方案 完结 办结 关闭 归档 解决 结案 重开 怎样",
    "return": "return returned returns returning 退货 退掉 退回 寄回",
    "visit": "appointment visit technician fitting install installation engineer 上门 师傅 预约 安装 约了 约的",
    "colour": "colour color shade tint hue tone 颜色 色调 配色 色的",
    "serial": "serial s/n sn 序列 机身",
    "voucher": "voucher coupon discount rebate 优惠 代金 张券 的券 那券",
    "owner": "owner manager responsible looks charge handles owns assigned 经理 负责 对接 归属",
    "missing": "missing lack lacking lacks without absent 缺少 少了 缺了 没有 漏了 缺件 漏发",
    "reason": "reason because why grounds cause 原因 理由 因为 由于 为何",
    "doubt": "hesitate hesitated worry worried concern bothers doubt doubts unsure 顾虑 担心 犹豫 斟酌 纠结",
    "gift": "gift present birthday meant occasion 礼物 送给 生日 准备",
    "contact": "contact write mail email e-mail mailbox reach 邮箱 邮件 联系 写信",
    "support": "support supports supported feature works runs does capable 支持 功能 能用 带有 具备",
    "agree": "agree agreed accept accepted approve approved granted confirmed yes 同意 答应 批准 批了 通过 接受",
    "buy": "buy bought purchase purchased order ordered orders placed got 购买 买了 下单 订了 订单 买的 新单",
    "job": "job work works working career employer employed hired company 工作 上班 公司 职业 入职",
    "home": "live lives living moved move home house apartment flat 住在 搬家 搬到 房子 住处",
    "food": "eat ate eating dinner lunch breakfast meal food cook cooked restaurant 吃饭 晚饭 午饭 早餐 餐厅 做饭",
    "travel": "trip travel travelled traveled vacation holiday flight visited journey 旅行 出差 旅游 度假 航班",
    "like": "love loves favourite favorite enjoy enjoys prefer prefers hobby 喜欢 最爱 爱好 偏好",
    "health": "doctor hospital sick ill surgery diagnosed medicine clinic 医院 医生 生病 手术 吃药",
    "meet": "meet met meeting meetup conference 会议 见面 开会 碰面",
    "study": "study studies school university college course class degree exam 学校 大学 课程 考试 上课",
    "start": "start started begin began since 开始 启用 上线",
    "pet": "pet dog cat puppy kitten 宠物 狗狗 小狗 小猫 猫咪",
}


def _build() -> dict[str, str]:
    stemmer = Stemmer.Stemmer("english")
    table: dict[str, str] = {}
    for concept, words in _TABLE.items():
        for word in words.split():
            table.setdefault(word if word >= "一" else stemmer.stemWord(word), f"§{concept}")
    return table


CONCEPTS = _build()
"""Concept of a term, as ``§name``."""
