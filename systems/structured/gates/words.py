"""The words by which a question shows what it needs, Chinese and English in one pattern per sign."""

from __future__ import annotations

import re
from collections.abc import Mapping


def _any(english: str, chinese: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{english})\b|{chinese}", re.IGNORECASE)


# what a possessive can own without any memory of it
GENERIC_OWNED = (
    r"advice|opinions?|views?|take|thoughts?|question|guess|understanding|taste|english|french|spanish|grammar|spelling|accent"
    r"|sentence|paragraph|essay|poem|c\.?v\.?|r[eé]sum[eé]|cover letter|letter|e-?mail draft|draft|homework|crossword|puzzle|quiz"
    r"|code|function|script|regex|query|title|headline|translation|speech|slides?|pun|joke|spare time|own|life|mind|luck|behalf|mood"
)
GENERIC_OWNED_ZH = (
    r"建议|意见|看法|观点|想法|理解|意思|感觉|疑问|猜测|作文|文章|论文|句子|段落|诗|简历|求职信|草稿|作业|口语|英语|英文|发音|代码|函数|脚本|"
    r"译文|翻译|标题|演讲稿|发言稿|人生|心情|运气|问题是|天"
)
RECORD_NOUN = (
    r"orders?|parcels?|packages?|deliver(?:y|ies)|shipments?|shipping|couriers?|carriers?|tracking|waybill|returns?|refunds?|refunded|exchange policy"
    r"|warrant(?:y|ies)|complaints?|tickets? (?:no|number|id)|cases?|accounts?|invoices?|receipts?|payments?|subscriptions?|memberships?|vouchers?|coupons?"
    r"|appointments?|bookings?|reservations?|technicians?|serial|s/n|address(?:es)?|meetings?|deadlines?|agenda|minutes of|budget|sprint|milestones?|release date"
    r"|passwords?|birthdays?|allerg(?:y|ies)|dentist|doctor's|prescription|diagnosis|dosage|itinerary|flight number|landlord|rent|depot|warehouse|customers?|clients?"
)
RECORD_NOUN_ZH = (
    r"订单|下单|下几单|下了几单|单号|包裹|快递|物流|运单|承运|发货|到货|送货|配送|派送|签收|收货|退货|退款|退回|能退|要退|退了|退一件|换货|售后|保修|质保|投诉|工单|故障"
    r"|账号|账户|发票|缴费|会员|订阅|优惠券|代金券|券|预约|预定|预订|上门|师傅|序列号|SN|配件|漏发|库存|仓库|哪个仓|地址|客户|客服|会议|例会|周会|截止|议程|预算|里程碑|上线日期"
    r"|密码|生日|过敏|医生|处方|诊断|剂量|行程|航班号|房东|房租|合同|条款|进展|进度"
)

MEMORY: Mapping[str, re.Pattern[str]] = {
    # time words that point at what was said or done before
    "past_time": _any(
        r"last (?:time|night|week|weekend|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday|spring|summer|autumn|fall|winter|january|february|march|april|may|june|july|august|september|october|november|december)"
        r"|the other day|earlier|previous(?:ly)?|before that|(?:days?|weeks?|months?|years?) ago|yesterday|back then|at the time|used to|so far|already|originally|in the end|ended up|end up|history|past (?:calendar )?(?:week|month|year)|recently|remind me|still",
        r"上次|上回|之前|以前|先前|历史|当时|当初|曾经|早前|昨[天晚]|前[天几]|上个?(?:周|月|星期|礼拜)|去年|前年|刚才|最近|来着|还没|已经|仍|最后|最终|到底|至今|一直|还在|还挂|还开",
    ),
    "possessive": _any(
        r"my|our|mine|ours", r"我的|我们的?(?!\d)|我家|我那|我这|咱们?的?|本人的?|我(?=[一-鿿]{0,3}[A-Z]?\d)|我上"
    ),
    # somebody did or said something, or was told, given, promised it
    "event": _any(
        r"(?:did|have|had|has|was|were|haven't|didn't|wasn't|weren't|hasn't) (?:i|we|you|he|she|they|it|my|our|the|that|this|[A-Z]\w+)"
        r"|(?:i|we|you|he|she|they) (?:ever |just |already |still |also |actually |once )?(?:told|said|asked|bought|ordered|returned|reported|mentioned|gave|got|sent|paid|booked|agreed|promised|planned|decided|spoke|talked|discussed|chose|picked|signed|submitted|applied|requested|cancelled|changed|moved|wanted|took|lent|borrowed|owed?|met|went|saw|visited|recommended|suggested|settled|wrote|left|put|kept|read out|noted)"
        r"|(?:bought|ordered|returned|reported|complained|purchased|agreed|promised|decided|scheduled|planned|booked|approved|granted|assigned|raised|delayed|cancelled)",
        r"(?:申请|提交|反馈|购买|买|说|提|问|答应|同意|聊|谈|讨论|约|订|报|登记|投诉|退|寄|发|给|改|换|用|去|见|看|借|还|定|办|签|付|交|收|送|拿|批|下|讲|推荐|决定|安排|通过|负责|反映)(?:过|了(?![吧吗]?$))"
        r"|(?:说好|约好|约定|商量|答应|同意|决定|承诺|交代|提到|反映|报)的?|我(?:买|订|定|退|约|报|选|要|付|提|说|借|给|登记|同意|答应|担心|顾虑|怎么)|(?:批|办|定|装|修|寄|送|退|发|通过)(?:了|下来)?没|下来了",
    ),
    "record_noun": _any(RECORD_NOUN, RECORD_NOUN_ZH),
    # the customer asks what the merchant offers
    "offer": _any(
        r"(?:is|are) .{1,60} (?:supported|included|available|covered|allowed)|supports?|compatible|do(?:es)? (?:you|your|the|it) .{0,40}(?:support|offer|accept|include|ship|deliver|cover|charge|have)|how (?:many days|long) (?:do|may|can|have) i|opening hours|return window|polic(?:y|ies)|terms|fees?|charges?|send(?:ing)? .{0,20}back|in stock",
        r"支持.{0,12}吗|能不能用|带不带|有没有.{0,8}功能|有.{1,10}没有|能.{1,10}吗|行不行|规格|参数|续航|(?:几|多少)天(?:内|之内|里|以内)|期限|手续费|费用|收费|运费|政策|规定|包邮|有货|现货",
    ),
    "who_said": _any(
        r"who (?:said|told|mentioned|reported|bought|owns|asked|suggested|promised|agreed|complained|is responsible|looks after|has|took|was going)|(?:which|what) (?:customers?|clients?|colleagues?|of us)|whose|names? of (?:those|everyone|the people)|everyone (?:who|whose)",
        r"谁(?:说|提|负责|在管|买|报|跟|反映|先|家|定|答应|的)|哪(?:些|位|几个)(?:人|客户|同事|师傅)?|名单|归谁|叫什么名|姓什么",
    ),
    "refers_back": _any(
        r"that (?:one|thing|idea|matter|voucher|place|guy|person|book|film|movie)|this one|the same|those|it|them|he|she|him|her|they",
        r"它|那个|这个|那件|那事|那笔|那张|那单|那台|那次|那家|那位|这单|这次|此事|同样|他|她",
    ),
}

NO_MEMORY: Mapping[str, re.Pattern[str]] = {
    "calculation": re.compile(
        r"[%％]|\bper ?cent\b|百分之|\d\s*[+*×÷/x-]\s*\d|\b(?:times|plus|minus|multipl\w+|divid\w+|split|equally|per head|instal+ments?|square root|convert|altogether|each|apiece|chip in)\b"
        r"|乘|除以|平摊|均分|平分|AA|每人|人均|分\d+期|合计|一共|总共|总价|共多少|等于|换算|占比|平均数|合多少|是几(?![号点天个])|平方|开方|根号|返多少|定金",
        re.IGNORECASE,
    ),
    "language_task": _any(
        r"translate|translation of|how do (?:you|i) (?:say|spell|pronounce)|spell(?:ing)?(?: of| out)?|plural(?: of)?|past (?:tense|participle)|synonyms?|antonyms?|opposite of|rhymes? with|comparative|superlative|which (?:article|spelling|preposition)|which is (?:right|correct)|grammatical(?:ly)?|a word for|one word for|in (?:french|german|spanish|italian|chinese|japanese|latin)|abbreviation|stands? for|into a noun|proofread|crossword|capital letter|comma",
        r"翻译|翻成|译成|用(?:英语|英文|日语|法语|中文).{0,6}说|英[语文](?:里|怎么)|怎么(?:读|念|拼|发音)|拼音|反义词|近义词|同义词|量词|成语|造句|病句|语法|哪个字|[第两几]个?字是|是.还是.$|下一句|上一句|复数|过去式|歇后语|对联|部首|笔画|填空|错别字|繁体",
    ),
    "general": _any(
        r"capital (?:city )?of|currency of|population of|chemical symbol|planets?|solar system|continents?|oceans?|which country|in which country|longest river|what river|(?:tallest|highest) mountain|who (?:wrote|painted|invented|discovered|composed|directed|founded|was the first)|how many (?:sides|letters|minutes|seconds|hours|grams|metres|meters|feet|inches|ounces|players|strings|legs|bones|months|zeros|planets|continents|states|degrees) |boiling point|freezing point|speed of (?:light|sound)|square root|prime number|world war|(?:largest|biggest|smallest|fastest|tallest|deepest) \w+ (?:in the world|on earth|of the)|photosynthesis|gravity|evolution|dinosaurs?",
        r"首都|货币|化学(?:符号|式)|行星|太阳系|地球|大洋|大洲|哪个洲|哪个国家|最高峰|最长的河|哪条河|作者是谁|谁写的|谁画的|谁发明|谁发现|朝代|皇帝|几条边|沸点|沸腾|冰点|光速|元素|光合作用|恐龙|三原色|节气|生肖|世界(?:上)?最|一打|字母|唐诗|宋词|名著|圆周率|质数|勾股",
    ),
    "definition": _any(
        r"what (?:is|are|'s) (?:an? |the (?:meaning|definition|difference|point|concept|idea)|\w+ing\b)|what does .{1,40} mean|defin(?:e|ition)|meaning of|difference between|explain (?:how|what|why|the)|how (?:do|does) .{1,40} work|how (?:do|can|should) (?:i|you|one|we) (?:cook|boil|bake|make|tie|clean|remove|improve|learn|start|write|sort|reverse|install|lose|sleep|fall|get rid)|why (?:is|are|do|does) (?:the sky|people|cats|dogs|we|birds|water|ice|leaves|humans)|tips (?:for|on|to)|pros and cons|is it (?:healthy|safe|bad|good|true that)|can (?:dogs|cats|humans|you) ",
        r"什么是|是什么意思|什么意思|的?定义|的?含义|的?区别|解释(?:一下|下)?|原理|为什么(?:天|海|人|猫|狗|水|鸟|树叶|会)|怎么(?:做(?!的)|煮|炒|炖|蒸|烤|洗|去除|学|练|缓解|预防|写|实现|安装)|如何(?:做|提高|学|写|缓解|预防|选择|实现|克服)|有哪些(?:好处|方法|技巧|步骤)|优缺点|好处|窍门|小技巧",
    ),
    "writing": _any(
        r"(?:write|compose|draft|generate|create|suggest|invent|come up with|think of|give me) (?:me |us |up )?(?:an? |some |three |five |ten |two |\d+ )(?:\w+ ){0,3}(?:poem|haiku|story|joke|e-?mail|letter|song|limerick|slogan|names?|essay|paragraph|tweet|post|caption|toast|speech|regex|function|script|query|recipe|ideas?|riddle|headline|outline|sentences?|example|fact)|rewrite|rephrase|paraphrase|shorten this|summari[sz]e (?:this|the following)|tell (?:me|us) (?:a|an|another) |brainstorm|write an?|draft an?|into the passive|into a question|sound (?:\w+ )?(?:friendlier|nicer|formal|polite\w*)|fix (?:this|the following) (?:code|sentence|text)|make (?:this|it) sound",
        r"写(?:一|个|首|篇|封|段|几|副|条)|作(?:一首|首)|帮我(?:写|润色|改写|起|想个|编|拟|生成)|润色|改写|扩写|缩写成|讲(?:个|一个|段)(?:笑话|故事|冷笑话)|说个(?:笑话|谜语)|出(?:个|一道)(?:谜语|题)|起(?:个|几个)(?:名字|标题|网名)|编(?:个|一个|一份)|[想拟](?:个|一条|一句|几个)|写(?:句|张)|换个说法|改病句|改成(?:被动|疑问|肯定|否定|问)句|概括|押韵|通顺|说得.{1,4}点|口号|谐音|以下(?:内容|文字|代码|句子)|这(?:段|句)(?:话|代码|文字)",
    ),
    "live": _any(
        r"weather|raining|temperature outside|what time is it|what(?:'s| is) the (?:time|date)|what day is (?:it|today)|traffic|exchange rate|against the (?:dollar|euro|pound)|stock price|petrol price|gas price|(?:score|winning) .{0,20}(?:match|game)|in the news|news today|right now|at the moment|this minute|on telly|on tv tonight|open (?:right )?now|warm is it|need (?:a coat|an umbrella)",
        r"天气|下雨|下雪|几点了|现在几点|今天(?:几号|星期几|周几)|堵不堵|堵车|汇率|兑人民币|兑美元|股价|油价|多少度|室外|气温|比分|几比几|新闻|热搜|开门吗|带外套|带伞|电视放|地铁挤|空气质量|限行",
    ),
    "small_talk": re.compile(
        r"^\W*(?:hi|hello|hey|thanks|thank you|good (?:morning|night|evening|afternoon)|bye|goodbye|ok(?:ay)?|cheers|lol|haha|nice|great|cool|ahoy)\b[^?？]{0,24}$"
        r"|\b(?:how are you|who are you|are you (?:a|an|human|real)|what can you do|what's your name|do you (?:like|love|dream|sleep|feel)|knock,? knock|say (?:cheese|hi|hello|something)|repeat after me|wish me|congratulate me|greet me|cheer me|sing (?:me|a)|type the word|just say|heads or tails|rock,? paper|tell my \w+ ['\"‘“]|let's play|i'm bored)\b|^(?:when )?i say\b|\byou say\W*$"
        r"|^(?:你好|您好|谢谢|多谢|早上好|早安|晚安|晚上好|再见|拜拜|哈哈|嗨|好的|在吗|辛苦了)[^？?]{0,8}$|你(?:是谁|叫什么|会什么|能做什么|是机器人|是真人|喜欢|累不累|几岁|好吗)|跟(?:我|着我)(?:说|念|读)|陪我|夸(?:我|夸我)|祝我|对我说|喊一声|你说[？?]?$|你接|你就回|说句|证明你醒|唱(?:首|个)|猜(?:个|一个)谜|无聊",
        re.IGNORECASE,
    ),
}
CODE = re.compile(r"\b[A-Z]{1,6}[-#]\d{3,}[\w-]*\b|#\d{3,}\b|\b\d{9,}\b|\b(?=[A-Z\d]*\d)(?=[A-Z\d]*[A-Z])[A-Z\d]{7,}\b")
# a name with a model number: "Kestrel 5L", "萤火T5E"; a month with its day is none
PRODUCT = re.compile(
    r"\b(?!(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Room|Chapter|Page|Day|Week|Step|Level|Grade|Year|Part|Line|Table|Question|Version|Split|Round|Flip|Pick|Split|Divide|Multiply|Convert|Put|Say|From|To|In|What|Is|If|Add|The)\b)[A-Z][A-Za-z]+ \d{1,4}[A-Za-z]{0,2}\b(?! ?(?:%|percent)|[.:]\d)"
    r"|[一-鿿]{2}[A-Z]{1,2}\d{1,4}[A-Z]{0,2}(?![A-Za-z\d])"
)
