"""Words that tell which attribute a message speaks of, in English and Chinese; written from the language, as wide as is safe."""

from __future__ import annotations

import re


def _cue(english: str, chinese: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{english})\b|{chinese}", re.IGNORECASE)


DELIVERED = _cue(
    r"delivered|signed(?: for)?|received|proof of delivery|pod|delivery confirm\w*|confirmed delivery|off the van|dropped off|completed|left (?:at|with)|handed to",
    r"签收|妥投|已送达|收货(?!地址|人|方)|完成派送|派送完成|已收货|确认收货|已到|投递成功|取走|代收|已派|交付|收件(?!人|地址)|投妥|送到了",
)
ARRIVED = _cue(
    r"turned up|came|got|arrived|landed|here|delivered|received|signed|picked up|collected|showed up|reached|dropped|made it|at the door|have it|in my hands",
    r"收到|到的|送来|拿到|签的|取了|放门口|到手|到了|到货|送到|签收|到家|拿了|领了|来了|送达",
)
DELAYED = _cue(
    r"resched\w*|delay\w*|moved|push(?:ed)? back|slip\w*|postpon\w*|late|hold-?up|rebook\w*|instead|new (?:date|day|eta)|bumped|set back|won't make",
    r"改期|延误|延期|延迟|顺延|推迟|推到|改到|改至|晚了|晚到|重排|调整|没赶上|往后|耽搁|变更|延后|拖到|交期变|晚一点|没法按时|不能按时|无法按时|改约|后延|推后",
)
ASKS_ETA = _cue(
    r"when|what day|which day|arriv\w*|get here|gets here|ship\w*|due|expect|waiting|where(?:'s| is)|how soon|how long until|day for|deliver\w*|coming|track|eta|status of",
    r"哪天|什么时候|啥时候|几号|多久到|送到|送货|到货|发到|日子|能到|能收|送达|配送|物流到|还没到|几时|何时|到哪",
)
ASKS_WINDOW = _cue(
    r"how (?:long|many days)|till when|until when|deadline|return (?:period|window|policy|time)|time limit|by when|days (?:to|for)",
    r"几天|多少天|多久|最晚|时间限制|退货期|期限|时限|多长|过了.{0,4}退|还能退",
)
ASKS_FEE = _cue(
    r"charge\w*|cost\w*|fee|free|who pays|pay (?:for|to)|deduct\w*|price of|postage",
    r"收钱|收费|扣|费用|手续费|运费|掏钱|多少钱|要钱|免费|谁出",
)
RETURN = _cue(
    r"returns?|returned|returning|send(?:s|ing)? (?:\w+ ){0,4}back|sent back|send-?back|take (?:\w+ ){0,4}back|bring (?:\w+ ){0,3}back|go(?:es)? back|going back|has to go|give (?:\w+ ){0,3}back|isn't staying|a no from me|money back|don't want|no good (?:for|to) me|not for me|not keeping|won't keep|refund (?:the|my|this)|give (?:\w+ ){0,2}back|give back|don't need (?:it|the)|unsuitable",
    r"退货|退掉|退了|想退|能退|退回|退一下|申请退|退吧|退换|可退|不要了|不想留|不想要|留不住|寄回|退(?!休|伍|役|烧|潮|步|出|让|热|掉的)",
)
REFUND = _cue(
    r"refund\w*|credit\w*|pa(?:y|id|ying) back|paid out|reimburs\w*|money back|payback|chargeback|get back|come back|give back|returned to (?:you|the card)",
    r"退款|已退|贷记|返还|退还|退您|退给|打回|实退|退回|冲红|红冲|原路|返款|能退|退(?!休|伍|役|烧|潮|步|出|让|热)",
)
ASKS_REFUND = _cue(
    r"refund\w*|my money|money (?:for|back)|see for|how much (?:do|will|would|did) i|do i get back",
    r"退款|退.{0,12}(?:多少|几)|钱呢|的钱|退款金额",
)
ESTIMATE = _cue(
    r"roughly|about|around|estimate\w*|probably|ballpark|likely|approx\w*|before the check|pending|guess|think|should|maybe|perhaps|expected|provisional\w*|preliminary|first look|could be|tentative\w*|up to|in the region|subject to|or so|assum\w*",
    r"大概|大约|约|估|预估|初步|差不多|粗算|可能|应该|暂|预计|左右|等验货|没验货|验货前|先按|未定|最终以|待检|检测前|暂估|检查前|收到货再|也许",
)
FINAL = _cue(
    r"final\w*|done|inspection done|came out at|checked|booked|paying|paid|confirmed|settled|approved|processed|issued|complete\w*|it's",
    r"最终|实退|核过|定了|打回|核算|验货完|已退|确认|审核|完成|到账|核定|办好|检验完|核准|已办|退好|完毕|已退款",
)
GUESS = _cue(
    r"guess\w*|off the top of my head|probably|imagine|maybe|bet|without (?:looking|checking)|reckon|not verified|unverified|can't check|haven't (?:got|checked|looked)|from memory|i think|i'd say|perhaps|possibly|not sure|ish|roughly|give or take|don't quote|usually|as far as i|if i remember|i believe|presumably|hopefully|likely|assume",
    r"估摸|估计|凭印象|猜|一般来讲|一般|不确定|可能|大概|没核实|按经验|瞎|应该|没查|没打开|差不多|记得|好像|印象|也许|八成|说不准|多半|通常|没看系统|不太确定|大约|或许|仅供参考|说不好|不敢保证|没法确认|无法确认|左右|打不开|没看|我想|拿不准",
)
VOUCHER = _cue(
    r"vouchers?|coupons?|gift ?cards?|store credit|promo(?:tion)? codes?|discount codes?|goodwill code",
    r"券|代金|红包|抵扣|优惠码",
)
REFUSED = _cue(
    r"turned down|no luck|said no|isn't happening|not happening|not allowed|couldn't|can't|cannot|rejected|declined|refused|denied|not approved|fell through|take (?:\w+ ){1,2}back|no go|didn't go through|wasn't|won't be|unable|off the table|not possible|blocked|no voucher|no coupon|fail\w*|not granted|not get|impossible|withdrawn|cancel\w*|void|didn't make it|going to happen|fell flat|not to be|dead",
    r"没批|黄了|没同意|给不了|作废|打回|说早了|不行|拒|驳回|没通过|批不下|申请不到|没戏|没成|取消|没有|无法|不能|拒绝|没有?(?:申请|办|批|谈|要)?下来|失败|不给|不能给|泡汤|未获批|未批准|未通过|不予|否了|撤销",
)
GRANTED = _cue(
    r"went through|good news|in your account|okayed|granted|you've got|official|approved|confirmed|is yours|added|issued|credited|cleared|signed off|got the (?:ok|green light)|through|ready to use|active now|activated|sent|you get|you'll get|you have|here (?:is|are)|yours|has been|was added|given|awarded|said yes|done|active|enjoy|all set|go ahead|agreed|it's there|waiting for you",
    r"批下来|到账|同意了|好消息|发您|搞定|已经在|批了|通过|下来了|已发|发放|到手|可以用|已批|成了|生效|办好|拿到|成功|给您了|已批准|批准了|获批|核准|发放|发了|加到|领到|能用了|同意给|点头|入账|入您|弄好|办妥|落实|给您(?:加|充|放|发|塞)|有了|已(?:经)?(?:给|入|加|充)|(?<!没|不)同意(?!的话|才)",
)
MAYBE = _cue(
    r"see (?:whether|if|what)|no promises?|could ask|can't guarantee|try|might|maybe|hold me|no idea|ask first|i'd love|put in for|would be fair|perhaps|not sure|request|propose|possibly|let me (?:see|check|ask)|if (?:i|my|they)|chance|hope|fingers crossed|don't count|able to|possible|hope|would need|if (?:the|we|you)|could|i'll ask|will ask|depends|subject to|pending|see about|would like to|can't promise|cannot promise|in it for you|first|yet|clear (?:a|the|it)",
    r"不敢|争取|问问|试试|也许|不一定|难说|尽量|请示|看看|申请|先别|可能|或许|提一下|不保证|想给|努力|看能不能|说不定|按理|不保证|能否|可不可以|有可能|尽力|要是|如果|等.{0,4}(?:批准|审批|同意|通过)|待.{0,4}批|没准|没把握|没法保证|未知|我去问|我问|想帮|领导同意|得.{0,6}(?:点头|同意|批准|请示)|看情况|试一下|(?:帮|替)您提",
)
VISIT = _cue(
    r"technician|fitting|fit|install\w*|set(?:ting)? (?:\w+ )?up|appointment|somebody|someone|your (?:guy|man|person|engineer|colleague|people)|person|i'm (?:home|in|free|around)|suits?|works for|put me down|engineer|fitter|mechanic|visit|slot|come (?:by|over|round)|call out|assembl\w*|book (?:me|the)|do the|pencil",
    r"上门|师傅|安装|来装|装|约|排|预约|工程师|调试|维修员|在家|过来|人来|方便|调试|装机|派人|安排.{0,4}人|来人|装一下|施工",
)
SINCE = re.compile(r"\bsince\b|\bever since\b|自从?|从.{0,8}(?:起|开始)|以来|近日", re.IGNORECASE)
MISSING = _cue(
    r"without|can't find|cannot find|couldn't find|not in|didn't come|did not come|forgot|no sign|missing|lack\w*|absent|left out|wasn't (?:in|there)|weren't (?:in|there)|isn't (?:in|there)|aren't (?:in|there)|not included|short of|omitted|no trace|nowhere|didn't get|never came|not there|incomplete|there (?:was|were|is|are) no|(?:was|were)n't included|didn't (?:receive|find|see)|not (?:receive|get|find)|don't have|do not have|never got|not supplied|not enclosed|not packed|lost|where(?:'s| is| are)|gone|nor\b",
    r"少了|没看到|漏发|没给|缺|漏(?!听|水|电|气|风|油|光|音|接|斗)|(?<!有)没有|还差|没见|不见了|没装|没放|少发|少给|少装|还少|少一|找不到|没找到|没带|缺少|不全|缺失|没收到|没发|忘了?(?:放|装|给|发)|未见|未收到|少给|没附|没配|未附|不齐|怎么没|差(?![不别劲强价额评点])|落下|落了|连.{1,8}都没|丢了",
)
MORE = _cue(
    r"also|too|either|as well|plus|add|another|and no|on top|and the|just noticed|make that",
    r"也|还差|再加|还少|同样|另外|还有|还缺|又|而且|一样",
)
FOUND = _cue(
    r"found|ignore|turned up|my bad|was (?:in|under|there|inside|behind)|were (?:in|under|there|inside)|had the|there all along|strike|got it after all|here after all|never mind the|wasn't missing|no longer missing|spotted|i have it|i've got it|forget about the|(?:is|are) here(?! but)|was wrong|my mistake|after all|got the|it's here|they're here|located|with me|all good|sorted|no worries about",
    r"找到|有的|在夹层|不缺|划掉|乌龙|看漏|在的|冒出来|翻到|原来在|没缺|又有了|拿走了|找着|没少|看到了|看见了|在.{1,5}(?:里|下面|底下|底|后面|旁边|上面|中)|不用补|不用寄|出现了|误会|弄错了|其实有|翻出|有了|在我手|手里|手上|冒出",
)
COVER = _cue(
    r"covers?|shell|sleeve|colou?rs?|shade|paint|tint|finish|mix it|custom|made-to-order|bespoke|case|skin|tone|hue|dye\w*|lacquer|wrap|pouch|panel|front|casing|housing|outer|jacket",
    r"外壳|壳子?|套子?|颜色|配色|定制|漆|色|面板|皮套|贴皮|喷涂|保护套|的套",
)
HESITATE = _cue(
    r"sleep on it|not sure|mull|pause|yes or no|second thoughts|give me time|torn|let me think|think (?:about )?it|bothers|snag|hesita\w*|undecided|on the fence|unsure|wary|reluctant|put off|hmm|need time|can't decide|hold off|in two minds|worri\w*|concern\w*|doubt\w*|but|not ready|make up my mind|haven't (?:decided|made up)|worr(?:y|ies|ied)|puts me off|is a (?:problem|concern|worry)|though|maybe|mainly|need to think|on hold|not (?:yet )?(?:convinced|decided)|reservations?|scares?|not yet|thinking over|holding me back|holds me back|were it not|if it weren't|on balance|given",
    r"斟酌|先放放|犹豫|不好说|不急着|说不准|打鼓|考虑|膈应|吃不准|担心|再想想|顾虑|怕|卡在|纠结|拿不定|观望|缓缓|想想|没想好|不放心|下不了|不(?:太|大)?放心|没(?:决定|定|拿定|想清)|再(?:看看|说|考虑|斟酌|等等)|先不(?:定|买|办|签|要|急)|介意|疑虑|忧虑|不敢定|打退堂鼓|迟疑|摇摆|是个问题|踌躇|不(?:太|大|怎么)?能接受|接受不了|暂(?:时|且)?不|观望|缓一缓|持保留",
)
PURPOSE = _cue(
    r"for|present|gift|meant|in mind|because of|is why|so that|going to be used|intended|treat|will be used|going to use|planning to use|be used|occasion|bought it",
    r"给(?!个|点)|为了|冲着|准备|图的|干嘛用|用在|所以|送|当作|用来|礼物|拿去|拿来|庆祝|用于|因为|要用|派上用场|场合|才买|好用来",
)
SERIAL = _cue(
    r"serial|s/n|sn|sticker|printed|reads|back of|label|plate|engraved|stamped|says",
    r"序列号|SN|编号|贴纸|印|背后|机身|铭牌|标签|底部|号码|标着|铭刻",
)
ADDRESS = _cue(
    r"address|ship-to|ship to|goes to|go to|send|redirect|moved|deliver to|drop|put|place|destination|bound for",
    r"地址|寄|送|收货|收件|搬家|搬了|换成|改到|送至|送往|目的地|发往|投递|派送到|收在|邮到",
)
UNDO = _cue(
    r"scrap|leave (?:it|the)|forget|keep the|changed my mind|don't (?:redirect|change|move)|never ?mind|second thoughts?|the way it was|old (?:address|one|place)|original|as it was|as before|undo|revert|after all|cancel (?:that|the change)|stick with|(?:first|previous|usual|former|initial|same|existing|current) (?:address|one|place)|from the order|address (?:was|is) (?:right|fine|correct|ok)|don't bother|no change|ignore (?:that|the)|the way i ordered|skip|alone|works after all|no need to change",
    r"算了|不改|作废|别改|原地址|照旧|维持|不折腾|用之前|还是原|不用改|还是老|恢复|撤回|别换|不换|还是之前|原来的|取消|不变|不用换|不要改|原先|原本|最初|下单时|老地址|旧地址|老地方|当我没说|不换|不动|收回|不用变|地址不要了|一开始|原处|原址|之前那|先前那|以前那|老样子",
)
REOPENED = _cue(
    r"reopen\w*|re-open\w*|open(?:ed)? (?:again|once more)|back (?:to open|on the list|on|in progress|open)|live again|active again|goes on|going on|picking \S+ up again|picked up again|resumed?|not (?:over|done|closed)|again|restart\w*|(?:isn't|not|wasn't|is not) (?:over|finished|fixed|resolved|settled)|(?:status|state)[: ]+(?:is )?(?:open|in progress|pending|active)|being (?:handled|looked at|worked on) again|revived|once more",
    r"重开|重新打开|再次|恢复(?=处理|受理|跟进|\s?[:：])|激活|撤销完结|继续|再开|没算完|重启|重新处理|重新受理|又打开|未完|没完|接着|又开|重新(?:开|处理|受理|启)|没有?(?:结束|完|关|解决)|再次(?:打开|受理)|状态[:：]?\s?(?:处理中|进行中|受理中|打开|开启)",
)
CLOSED = _cue(
    r"closed?|closing|settled?|done|wraps? up|wrapped up|ticking|resolved|completed?|finished|sorted|signed off|ended|shut|concluded|solved|off the list|archived|finali[sz]ed|put to bed|fixed",
    r"已关闭|关闭|完结|办结|归档|结了|处理完|关单|办好|句号|结案|了结|已解决|解决了|搞定|结束|处理好|完成|销单|闭环|关了|(?:已经?|都)(?:解决|处理|办|修)|解决(?!不|方案|意见)|结束|办妥|妥了|处理好|状态[:：]?\s?(?:完成|关闭|已|解决|结)",
)
OPENED = _cue(
    r"opened|new case|complaint|filed|logged|made a ticket|raised|created|number|case is|registered|under",
    r"新建|投诉|处理中|受理|建了|登记|报上去|单号|已提|售后号|提交|开了|立单|跟进|创建|编号",
)
TROUBLE = _cue(
    r"not happy|normal|report\w*|sorted|something's off|wrong|issue|problem|broken|broke|fault\w*|defect\w*|complain\w*|(?<!hi )again|still|same story|it's back|no longer|stopped|doesn't|won't|will not|can't|keeps?|what now|hardly used|look(?:ed)? into|advise|regret|every|fails?|failing|dead|trouble|annoy\w*|disappoint\w*|unhappy|malfunction\w*|acting up|act\w* up|unusable",
    r"投诉|怎么搞|正常吗|气死|问题|说法|不对劲|老是|又来|还是|照样|老毛病|再次|先前|没治好|异常|故障|坏|质量|盼复|核实|处理|方案|答复|才用|用着用着|毛病|不行|失灵|报修|怎么回事|反复|总是|一直|又|再次|仍|依旧|依然|复发|没修好|没解决|坏了|出毛病|质量|维修|解决|影响|反映|不满|怎么会|为什么|最近",
)
NOT_SUPPORTED = _cue(
    r"not|no|unsupported|unavailable|lacks?|lacking|without|doesn't|does not|can't|cannot|never|nope|missing|absent|keep dreaming|dead|isn't|excluded|removed|dropped|n/a|not yet|fails?|no longer|discontinued|withdrawn|not there|isn't there|nowhere|stripped",
    r"不支持|无|否|不含|不可用|没有|没|不行|做不了|缺|别想|做梦|不带|摆设|不能|未支持|不具备|暂不|未提供|取消|×|不适配|不配|不具备|未提供|未配|✗|✘|×|用不了|不具有|并无|哪有|欠缺|暂无|缺失|不再|无法|不可(?!或缺)|不能|居然没|移除|下线",
)
ONLY_ON = _cue(
    r"only|exclusively|exclusive|restricted|limited|reserved|requires?|needs?|reserved|needed for",
    r"仅|只有|限|专属|只开放|独占|只在|仅限|限定|独享|独有|特有|才有|才能|专供|仅供|限定|其余|其他.{0,4}(?:不|没)",
)
STOCK = _cue(
    r"stock|on hand|inventory|units?|pcs|in store|count|recount|available|left|warehouse|qty|quantity",
    r"库存|盘点|可用|在库|余|复盘|现货|剩|结存|存货|件|台",
)
OFFER = _cue(
    r"fancy|would you like|want to|may i|can i|offer|like the|there's also|thought about|we could add|add(?:ing)?|recommend|suggest|interested in|how about|consider|upgrade|take out|go with|sign up|include|have you",
    r"要不要|需要.{0,5}加|加一?份|推荐|了解一下|老客户|给您配|提一句|考虑|加个|加购|看看|搭配|建议|办个|来个|试试|现在有|办理一?份|有兴趣",
)
