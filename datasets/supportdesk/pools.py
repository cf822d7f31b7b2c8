"""Names of people, merchants, products and places; no entry is shared by the two splits."""

from __future__ import annotations

from dataclasses import dataclass

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """Raw material of one split and language.

    Attributes:
        stems, pairs: people's names. English: given name + one of two near-identical surnames; Chinese: surname + one of
            two near-identical given names.
        brands: first and second halves of merchants' names.
        families, models: products are family + model; neighbouring models are easily confused.
        attributes: name, unit, lowest and highest value of a measured attribute.
    """

    stems: tuple[str, ...]
    pairs: Pairs
    staff: tuple[str, ...]
    brands: tuple[tuple[str, ...], tuple[str, ...]]
    families: tuple[str, ...]
    models: tuple[str, ...]
    variant: str
    streets: tuple[str, ...]
    towns: tuple[str, ...]
    carriers: tuple[str, ...]
    plans: tuple[str, ...]
    attributes: tuple[tuple[str, str, int, int], ...]
    handle: str
    mailboxes: tuple[str, ...]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _pairs(text: str) -> Pairs:
    return tuple((a, b) for a, b in (item.split("/") for item in text.split()))


POOLS: dict[tuple[str, str], Pool] = {
    ("train", "en"): Pool(
        stems=_words("Dana Owen Priya Marta Felix Nadia Colin Ruth Samir Elsa Hugo Tess"),
        pairs=_pairs(
            "Roth/Rothe Meyer/Meier Hansen/Hanson Clarke/Clark Petersen/Peterson Reed/Reid Schmid/Schmidt Gray/Grey "
            "Stewart/Stuart Nilsen/Nielsen Browne/Brown Allan/Allen Philips/Phillips Lindt/Lind"
        ),
        staff=(
            "Ivo Hartl",
            "Mei Castell",
            "Joan Pickard",
            "Radek Sova",
            "Lucy Amari",
            "Bram Teller",
            "Oona Fisk",
            "Theo Varga",
        ),
        brands=(
            _words("Alder Birch Cobalt Dune Ember Fjord Grove Harbor Indigo Juniper"),
            _words("Living Audio Home Outfitters Goods Works"),
        ),
        families=_words("Kestrel Marlow Tindra Corvo Pavo Ridge Sable Lumen Quill Otter"),
        models=_words("2 2S 3 3S 5 5L"),
        variant="Pro",
        streets=(
            "Harbour Street",
            "Mill Lane",
            "Station Road",
            "Abbey Row",
            "Orchard Close",
            "Quay Parade",
            "Fern Hill",
        ),
        towns=_words("Galway Leith Bath York Cardiff Derry Exeter Perth"),
        carriers=_words("Swiftline Parcelgo Northvan Hermine Bluepost"),
        plans=("CarePlus plan", "Shield two-year plan", "HomeFix plan", "ScreenSafe plan", "Priority Desk plan"),
        attributes=(
            ("battery life", "hours", 6, 40),
            ("weight", "g", 150, 900),
            ("noise level", "dB", 20, 60),
            ("charging time", "minutes", 30, 180),
        ),
        handle="guest",
        mailboxes=_words("returns sendback aftercare back-office goods-in"),
    ),
    ("test", "en"): Pool(
        stems=_words("Imogen Lars Keira Tobias Anwen Rafael Moira Declan Sofia Bertram Leila Conrad"),
        pairs=_pairs(
            "Byrne/Byrnes Harris/Harries Mathews/Matthews Larsen/Larson Whyte/White Davis/Davies Kerr/Carr Moore/Moor "
            "Jenson/Jensen Ross/Rosse Thomson/Thompson Weiss/Weisz Olsen/Olson Fischer/Fisher"
        ),
        staff=(
            "Greta Holm",
            "Paolo Denti",
            "Sinead Crewe",
            "Yusuf Banks",
            "Hanna Wirth",
            "Miles Oduya",
            "Carla Brandt",
            "Nils Arbor",
        ),
        brands=(
            _words("Kelp Lark Meadow Nimbus Opal Pebble Quartz Rowan Saffron Thistle"),
            _words("Supply Electric House Traders Store Gear"),
        ),
        families=_words("Vireo Tarn Mistral Osprey Halden Nova Piper Drift Zephyr Beacon"),
        models=_words("10 10X 20 20X 7 7C"),
        variant="Max",
        streets=(
            "Canal Walk",
            "Church Way",
            "Market Place",
            "Priory Gate",
            "Windmill Rise",
            "Bridge End",
            "Cedar Court",
        ),
        towns=_words("Sligo Dundee Hull Truro Swansea Newry Lincoln Oban"),
        carriers=_words("Expresso Tern Couriermark Silverway Postelle"),
        plans=("Evergreen cover", "Guardian cover", "Fixline cover", "Drop-and-Swap cover", "Express Care cover"),
        attributes=(
            ("range", "m", 20, 400),
            ("capacity", "ml", 300, 1900),
            ("brightness", "lumens", 200, 3000),
            ("standby power", "mW", 50, 900),
        ),
        handle="member",
        mailboxes=_words("refunds rma service-point swaps helpdesk"),
    ),
    ("train", "zh"): Pool(
        stems=tuple("周陈林何郑沈许罗方陆蒋叶"),
        pairs=_pairs(
            "敏/铭 倩/茜 浩/皓 莹/盈 宇/雨 静/婧 伟/炜 晓岚/晓兰 子航/子杭 佳怡/佳仪 文博/文渤 思远/思源 一鸣/一铭 雅琴/雅芹"
        ),
        staff=("顾岚", "邓立", "齐慧", "小莫", "柯远", "阿芸", "贺冬", "苗苗"),
        brands=(_words("青禾 澄光 木棉 北屿 云栈 听澜 松果 半山 八月 临溪"), _words("数码 家居 电器 生活 优选 影音")),
        families=_words("云雀 鲸歌 磐石 萤火 白鹭 流星 竹影 海燕 晨曦 雪松"),
        models=_words("S2 S2X M1 M1L T5 T5E"),
        variant="Pro款",
        streets=_words("锦绣路 云栖路 文三街 桂花巷 解放大道 滨河路 青年路"),
        towns=_words("嘉兴 苏州 佛山 绵阳 潍坊 株洲 泉州 宜昌"),
        carriers=_words("迅达 飞驿 联运通 白鸽快递 速通"),
        plans=_words("安心保 两年无忧 屏护计划 优先服务包 家修通"),
        attributes=(
            ("续航", "小时", 6, 40),
            ("重量", "克", 150, 900),
            ("噪音值", "分贝", 20, 60),
            ("充满用时", "分钟", 30, 180),
        ),
        handle="游客",
        mailboxes=_words("tuihuo shouhou back care wuyou"),
    ),
    ("test", "zh"): Pool(
        stems=tuple("吴孙朱高郭梁唐韩冯曹袁彭"),
        pairs=_pairs(
            "丽/莉 杰/洁 欣/昕 斌/彬 颖/影 刚/钢 艳/燕 俊豪/俊昊 雨桐/雨彤 梦瑶/梦遥 志强/智强 海涛/海韬 诗涵/诗晗 明轩/铭轩"
        ),
        staff=("宋宁", "阿凯", "汪洁如", "老傅", "简宜", "乔木", "尤佳", "阮青"),
        brands=(_words("知白 远帆 麦田 望川 拾光 锦年 初一 石榴 南枝 雁回"), _words("科技 商城 良品 家电 旗舰 工坊")),
        families=_words("苍鹰 银杏 赤兔 朝露 麋鹿 长庚 远山 鹦鹉 琥珀 麦浪"),
        models=_words("A7 A7S K3 K3C R9 R9U"),
        variant="Max款",
        streets=_words("建设路 莲湖巷 新华街 望江路 梧桐里 学院路 东升街"),
        towns=_words("芜湖 洛阳 柳州 保定 赣州 大理 衡阳 台州"),
        carriers=_words("捷程 驼铃速运 安邮 蓝鲸物流 急递"),
        plans=_words("畅修卡 延保三年 碎屏险 尊享服务 以换代修"),
        attributes=(
            ("遥控距离", "米", 20, 400),
            ("容量", "毫升", 300, 1900),
            ("亮度", "流明", 200, 3000),
            ("待机功耗", "毫瓦", 50, 900),
        ),
        handle="会员",
        mailboxes=_words("tuikuan fuwu rma huanxin kefu"),
    ),
}
