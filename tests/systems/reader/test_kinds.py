from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.systems.models.reader.kinds import predict_kind

KINDS = [
    ("How much did I pay for the lamp?", "money"),
    ("What was the total of that order?", "money"),
    ("What does shipping cost?", "money"),
    ("How many chairs did we order?", "number"),
    ("What is the battery capacity now?", "number"),
    ("How old is her dog?", "number"),
    ("What percentage did they take off?", "percent"),
    ("When does the parcel arrive?", "date"),
    ("On which day is the technician coming?", "date"),
    ("What's the delivery date of SO-1?", "date"),
    ("Since when does it have Bluetooth?", "date"),
    ("What time is the meeting?", "time"),
    ("How long is the warranty?", "duration"),
    ("How many days do I have to return it?", "duration"),
    ("How many months did he stay there?", "duration"),
    ("Is my complaint still open?", "boolean"),
    ("Did the voucher get approved?", "boolean"),
    ("So, can the kettle be repaired?", "boolean"),
    ("Doesn't it support fast charging?", "boolean"),
    ("They approved it, right?", "boolean"),
    ("Who looks after the account?", "person"),
    ("Which engineer fixed it?", "person"),
    ("What is the driver's name?", "person"),
    ("Where is my lamp being sent?", "place"),
    ("Which city did she move to?", "place"),
    ("What's the shipping address?", "place"),
    ("What's the tracking number?", "id"),
    ("Which order was delayed?", "id"),
    ("What serial number did I give you?", "id"),
    ("What is his e-mail address?", "email"),
    ("What phone number should I call?", "phone"),
    ("What's the link to the form?", "url"),
    ("Was it the red or the blue one?", "choice"),
    ("Which did I choose: tea or coffee?", "choice"),
    ("Which colours did I mention?", "list"),
    ("What items are missing?", "list"),
    ("Why did I send it back?", "reason"),
    ("How come it was late?", "reason"),
    ("What shade did I have in mind?", "free"),
    ("What did she say about the party?", "free"),
    ("这台灯多少钱？", "money"),
    ("运费要扣多少？", "money"),
    ("退了我多少钱", "money"),
    ("一共下了几单？", "number"),
    ("电池容量是多少？", "number"),
    ("买了几个杯子？", "number"),
    ("给我打几折？", "percent"),
    ("什么时候到货？", "date"),
    ("师傅约的哪天？", "date"),
    ("几号收到的", "date"),
    ("几点开会？", "time"),
    ("保修多久？", "duration"),
    ("退货期限是多少天？", "duration"),
    ("用了几天？", "duration"),
    ("那个投诉还没结吗？", "boolean"),
    ("支不支持快充？", "boolean"),
    ("券到底批了没？", "boolean"),
    ("是否需要寄回", "boolean"),
    ("谁负责这个客户？", "person"),
    ("送货师傅叫什么名字？", "person"),
    ("寄到哪里？", "place"),
    ("收货地址是什么", "place"),
    ("从哪个仓库发的？", "place"),
    ("运单号是多少？", "id"),
    ("哪个订单延误了？", "id"),
    ("联系邮箱是什么？", "email"),
    ("联系电话是多少", "phone"),
    ("要黑色的还是白色的？", "choice"),
    ("缺了哪些配件？", "list"),
    ("都买了什么？", "list"),
    ("当时为什么退？", "reason"),
    ("想要什么色调？", "free"),
]


@pytest.mark.parametrize(("text", "kind"), KINDS)
def test_kind(text: str, kind: str) -> None:
    assert predict_kind(text).kind == kind


def test_options_make_a_choice() -> None:
    assert predict_kind("Why did I send it back?", ("too loud", "too big")).kind == "choice"
    assert predict_kind("Why did I send it back?\nA. too loud\nB. too big").kind == "choice"


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("What was the original date?", "original"),
        ("Where do I live now?", "current"),
        ("原来的地址是哪里？", "original"),
        ("目前的价格是多少？", "current"),
        ("要黑色还是白色？", "plain"),
        ("What did she buy?", "plain"),
    ],
)
def test_time_orientation(text: str, when: str) -> None:
    assert predict_kind(text).when == when


@pytest.mark.parametrize(("text", "unit"), [("How many chairs did we order?", "chairs"), ("买了几台打印机？", "台")])
def test_counted_noun(text: str, unit: str) -> None:
    assert predict_kind(text).unit == unit


def test_the_last_question_decides() -> None:
    assert predict_kind("I ordered two lamps, remember? How much was the lamp?").kind == "money"


@given(st.text(max_size=300))
def test_any_text_has_a_kind(text: str) -> None:
    assert predict_kind(text).kind
