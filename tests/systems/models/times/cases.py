"""Time expressions and the intervals they mean, worked out by hand with a calendar.

Asked on Friday, 17 May 2024, 10:30, unless a case says otherwise. In 2024, 1 January is a Monday, 1 March a Friday, 1 May a
Wednesday and 1 June a Saturday. ``end`` is the last day, inclusive, or a time, exclusive. ``?`` marks what is not certain, ``~`` what is vague.
"""

from __future__ import annotations

OPEN = "1000-01-01"

# text of the question | words found | start | last day or end time | mark
ENGLISH = """
What did Kim say yesterday? | yesterday | 2024-05-16 | 2024-05-16 |
What is on my list today? | today | 2024-05-17 | 2024-05-17 |
What are we doing tomorrow? | tomorrow | 2024-05-18 | 2024-05-18 |
Who called the day before yesterday? | the day before yesterday | 2024-05-15 | 2024-05-15 |
Is he free the day after tomorrow? | the day after tomorrow | 2024-05-19 | 2024-05-19 |
What happened last night? | last night | 2024-05-16 18:00 | 2024-05-17 06:00 |
Who wrote this morning? | this morning | 2024-05-17 05:00 | 2024-05-17 12:00 |
yesterday afternoon we talked | yesterday afternoon | 2024-05-16 12:00 | 2024-05-16 18:00 |
yesterday at 3pm | yesterday at 3pm | 2024-05-16 15:00 | 2024-05-16 16:00 |
at 15:30 on 3 May 2024 | 15:30 on 3 May 2024 | 2024-05-03 15:30 | 2024-05-03 15:31 |
What did we decide last week? | last week | 2024-05-06 | 2024-05-12 |
the week before last | the week before last | 2024-04-29 | 2024-05-05 |
What is planned for this week? | this week | 2024-05-13 | 2024-05-19 |
Are we meeting next week? | next week | 2024-05-20 | 2024-05-26 |
What did he say over the past week? | over the past week | 2024-05-10 | 2024-05-17 |
What did I buy last month? | last month | 2024-04-01 | 2024-04-30 |
last year | last year | 2023-01-01 | 2023-12-31 |
the year before last | the year before last | 2022-01-01 | 2022-12-31 |
this quarter | this quarter | 2024-04-01 | 2024-06-30 |
last quarter | last quarter | 2024-01-01 | 2024-03-31 |
What did she say last Wednesday? | last Wednesday | 2024-05-08 | 2024-05-15 | ?
What did she say last Saturday? | last Saturday | 2024-05-11 | 2024-05-11 |
What did she say last Friday? | last Friday | 2024-05-10 | 2024-05-10 |
What did she say this Monday? | this Monday | 2024-05-13 | 2024-05-13 |
this past Monday | this past Monday | 2024-05-13 | 2024-05-13 |
Are we meeting next Sunday? | next Sunday | 2024-05-19 | 2024-05-26 | ?
Are we meeting next Monday? | next Monday | 2024-05-20 | 2024-05-20 |
What did they say on Tuesday? | Tuesday | 2024-05-14 | 2024-05-14 |
What did they say on Friday? | Friday | 2024-05-10 | 2024-05-10 |
Where will we meet on Tuesday? | Tuesday | 2024-05-21 | 2024-05-21 |
What was said on Wednesday afternoon? | Wednesday afternoon | 2024-05-15 12:00 | 2024-05-15 18:00 |
Wednesday of last week | Wednesday of last week | 2024-05-08 | 2024-05-08 |
the Monday before last | the Monday before last | 2024-04-29 | 2024-05-06 | ?
What did you do last weekend? | last weekend | 2024-05-11 | 2024-05-12 |
Where will you go this weekend? | this weekend | 2024-05-18 | 2024-05-19 |
What did you do at the weekend? | the weekend | 2024-05-11 | 2024-05-12 |
three days ago | three days ago | 2024-05-14 | 2024-05-14 |
two weeks ago | two weeks ago | 2024-04-29 | 2024-05-05 | ?
a month ago | a month ago | 2024-04-01 | 2024-04-30 | ?
2 years ago | 2 years ago | 2022-01-01 | 2022-12-31 | ?
a couple of days ago | a couple of days ago | 2024-05-14 | 2024-05-15 | ~
a few weeks ago | a few weeks ago | 2024-04-01 | 2024-05-05 | ~
two or three days ago | two or three days ago | 2024-05-14 | 2024-05-15 | ~
3 hours ago | 3 hours ago | 2024-05-17 07:00 | 2024-05-17 08:00 | ?
half a year ago | half a year ago | 2023-11-01 | 2023-11-30 | ?
Is it ready in three days? | in three days | 2024-05-20 | 2024-05-20 |
in the last 10 days | the last 10 days | 2024-05-07 | 2024-05-17 |
over the last three months | the last three months | 2024-02-17 | 2024-05-17 |
the past couple of weeks | the past couple of weeks | 2024-04-26 | 2024-05-17 | ~
in the next 3 days | the next 3 days | 2024-05-17 | 2024-05-20 |
on 2024-05-03 | 2024-05-03 | 2024-05-03 | 2024-05-03 |
on 3 May 2024 | 3 May 2024 | 2024-05-03 | 2024-05-03 |
on May 3rd, 2024 | May 3rd, 2024 | 2024-05-03 | 2024-05-03 |
on the 3rd of May | the 3rd of May | 2024-05-03 | 2024-05-03 |
on Friday, May 3 | Friday, May 3 | 2024-05-03 | 2024-05-03 |
What did we do on 20 December? | 20 December | 2023-12-20 | 2023-12-20 |
What will we do on 20 December? | 20 December | 2024-12-20 | 2024-12-20 |
on 13/04/2024 | 13/04/2024 | 2024-04-13 | 2024-04-13 |
on 05/03/2024 | 05/03/2024 | 2024-03-05 | 2024-05-03 | ?
on 3.5.2024 | 3.5.2024 | 2024-05-03 | 2024-05-03 |
on the 15th | the 15th | 2024-05-15 | 2024-05-15 |
on the 20th we spoke | the 20th | 2024-04-20 | 2024-04-20 |
the 15th of last month | the 15th of last month | 2024-04-15 | 2024-04-15 |
in March | March | 2024-03-01 | 2024-03-31 |
in May 2023 | May 2023 | 2023-05-01 | 2023-05-31 |
What happened in October? | October | 2023-10-01 | 2023-10-31 |
March last year | March last year | 2023-03-01 | 2023-03-31 |
in 2022 | 2022 | 2022-01-01 | 2022-12-31 |
in the 1990s | the 1990s | 1990-01-01 | 1999-12-31 |
mid-June 2023 | mid-June 2023 | 2023-06-11 | 2023-06-20 | ?
in mid-June | mid-June | 2023-06-11 | 2023-06-20 | ?
in late March | late March | 2024-03-21 | 2024-03-31 | ?
in early 2023 | early 2023 | 2023-01-01 | 2023-03-31 | ?
at the end of last month | the end of last month | 2024-04-21 | 2024-04-30 | ?
What was due at the end of the month? | end of the month | 2024-05-21 | 2024-05-31 | ?
What did I pay at the end of the month? | end of the month | 2024-04-21 | 2024-04-30 | ?
in the first half of 2023 | the first half of 2023 | 2023-01-01 | 2023-06-30 |
in Q3 | Q3 | 2023-07-01 | 2023-09-30 | ?
in Q1 2024 | Q1 2024 | 2024-01-01 | 2024-03-31 |
the third quarter of 2022 | the third quarter of 2022 | 2022-07-01 | 2022-09-30 |
in the first week of May | the first week of May | 2024-05-01 | 2024-05-07 | ?
the first Monday of April | the first Monday of April | 2024-04-01 | 2024-04-01 |
the last day of February | the last day of February | 2024-02-29 | 2024-02-29 |
in spring | spring | 2024-03-01 | 2024-05-31 | ?
summer of 2022 | summer of 2022 | 2022-06-01 | 2022-08-31 | ?
last winter | last winter | 2023-12-01 | 2024-02-29 | ?
since March | since March | 2024-03-01 | 2024-05-17 |
since last Friday | since last Friday | 2024-05-10 | 2024-05-17 |
What was said before Christmas? | before Christmas | 1000-01-01 | 2023-12-24 |
before 3 May | before 3 May | 1000-01-01 | 2024-05-02 |
after 3 May | after 3 May | 2024-05-04 | 2024-05-17 |
until last Sunday | until last Sunday | 1000-01-01 | 2024-05-12 |
between 3 and 5 May | between 3 and 5 May | 2024-05-03 | 2024-05-05 |
from May 3 to May 5 | from May 3 to May 5 | 2024-05-03 | 2024-05-05 |
May 3-5, 2023 | May 3-5, 2023 | 2023-05-03 | 2023-05-05 |
from Monday to Wednesday | from Monday to Wednesday | 2024-05-13 | 2024-05-15 | ?
between March and May 2023 | between March and May 2023 | 2023-03-01 | 2023-05-31 |
from December 2023 to February | from December 2023 to February | 2023-12-01 | 2024-02-29 |
two weeks before 3 May | two weeks before 3 May | 2024-04-15 | 2024-04-21 | ?
three days after 3 May | three days after 3 May | 2024-05-06 | 2024-05-06 |
in the two weeks before 3 May | in the two weeks before 3 May | 2024-04-19 | 2024-05-02 |
the day after Christmas | the day after Christmas | 2023-12-26 | 2023-12-26 |
the night before 3 May | the night before 3 May | 2024-05-02 18:00 | 2024-05-03 06:00 |
the week of 8 May | the week of 8 May | 2024-05-06 | 2024-05-12 |
the week before 8 May | the week before 8 May | 2024-04-29 | 2024-05-07 | ?
around 3 May | around 3 May | 2024-04-30 | 2024-05-06 | ?
at Christmas | Christmas | 2023-12-25 | 2023-12-25 |
last Christmas | last Christmas | 2023-12-25 | 2023-12-25 |
on Thanksgiving 2023 | Thanksgiving 2023 | 2023-11-23 | 2023-11-23 |
at Easter | Easter | 2024-03-29 | 2024-04-01 |
on Christmas Eve 2022 | Christmas Eve 2022 | 2022-12-24 | 2022-12-24 |
on Mother's Day | Mother's Day | 2024-05-12 | 2024-05-12 |
during Chinese New Year | Chinese New Year | 2024-02-09 | 2024-02-16 |
We met on 3 May. What did she do the next day? | the next day | 2024-05-04 | 2024-05-04 | ?
Did he say anything recently? | recently | 2024-04-17 | 2024-05-17 | ~
What was the plan two Fridays ago? | two Fridays ago | 2024-05-03 | 2024-05-03 |
in the summer of '22 | summer of '22 | 2022-06-01 | 2022-08-31 | ?
What did he say earlier this week? | earlier this week | 2024-05-13 | 2024-05-17 |
in the weeks before 3 May | the weeks before 3 May | 2024-03-22 | 2024-05-02 | ?
the last two days of April | the last two days of April | 2024-04-29 | 2024-04-30 |
Tuesday before last | Tuesday before last | 2024-04-30 | 2024-05-07 | ?
a year ago today | a year ago today | 2023-05-17 | 2023-05-17 |
this time last year | this time last year | 2023-05-02 | 2023-06-01 | ?
from 9am to 11am on 3 May | 9am to 11am on 3 May | 2024-05-03 09:00 | 2024-05-03 11:00 |
by the end of March | by the end of March | 1000-01-01 | 2024-03-31 | ?
the week after Easter | the week after Easter | 2024-04-02 | 2024-04-14 | ?
the other day | the other day | 2024-05-03 | 2024-05-16 | ~
"""

CHINESE = """
昨天他说了什么 | 昨天 | 2024-05-16 | 2024-05-16 |
今天有什么安排 | 今天 | 2024-05-17 | 2024-05-17 |
明天几点见 | 明天 | 2024-05-18 | 2024-05-18 |
前天的会议 | 前天 | 2024-05-15 | 2024-05-15 |
大前天谁打过电话 | 大前天 | 2024-05-14 | 2024-05-14 |
后天去哪 | 后天 | 2024-05-19 | 2024-05-19 |
前天晚上我们聊了什么 | 前天晚上 | 2024-05-15 18:00 | 2024-05-16 00:00 |
昨晚说的事 | 昨晚 | 2024-05-16 18:00 | 2024-05-17 00:00 |
今早的消息 | 今早 | 2024-05-17 05:00 | 2024-05-17 12:00 |
昨天下午3点 | 昨天下午3点 | 2024-05-16 15:00 | 2024-05-16 16:00 |
昨天下午三点半 | 昨天下午三点半 | 2024-05-16 15:30 | 2024-05-16 15:31 |
昨天下午2点到4点 | 昨天下午2点到4点 | 2024-05-16 14:00 | 2024-05-16 17:00 |
上周三下午我和小王的讨论 | 上周三下午 | 2024-05-08 12:00 | 2024-05-08 18:00 |
上周五他说了什么 | 上周五 | 2024-05-10 | 2024-05-10 |
上个星期天 | 上个星期天 | 2024-05-12 | 2024-05-12 |
上上周五 | 上上周五 | 2024-05-03 | 2024-05-03 |
这周一开会说的 | 这周一 | 2024-05-13 | 2024-05-13 |
本周三 | 本周三 | 2024-05-15 | 2024-05-15 |
下周二去哪 | 下周二 | 2024-05-21 | 2024-05-21 |
周三他提到了什么 | 周三 | 2024-05-15 | 2024-05-15 |
周五他提到了什么 | 周五 | 2024-05-10 | 2024-05-10 |
上周我们决定了什么 | 上周 | 2024-05-06 | 2024-05-12 |
上上周 | 上上周 | 2024-04-29 | 2024-05-05 |
这周 | 这周 | 2024-05-13 | 2024-05-19 |
下个星期 | 下个星期 | 2024-05-20 | 2024-05-26 |
上周末 | 上周末 | 2024-05-11 | 2024-05-12 |
周末你去了哪里 | 周末 | 2024-05-11 | 2024-05-12 |
上个月的账单 | 上个月 | 2024-04-01 | 2024-04-30 |
上上个月 | 上上个月 | 2024-03-01 | 2024-03-31 |
本月 | 本月 | 2024-05-01 | 2024-05-31 |
上个月15号 | 上个月15号 | 2024-04-15 | 2024-04-15 |
上个月中旬 | 上个月中旬 | 2024-04-11 | 2024-04-20 |
上个月底 | 上个月底 | 2024-04-21 | 2024-04-30 | ?
月底交的钱 | 月底 | 2024-04-21 | 2024-04-30 | ?
月初的会议说了什么 | 月初 | 2024-05-01 | 2024-05-10 | ?
15号他来过 | 15号 | 2024-05-15 | 2024-05-15 |
20号他来过 | 20号 | 2024-04-20 | 2024-04-20 |
5月3号 | 5月3号 | 2024-05-03 | 2024-05-03 |
五月三号 | 五月三号 | 2024-05-03 | 2024-05-03 |
十二月二十号我们做了什么 | 十二月二十号 | 2023-12-20 | 2023-12-20 |
打算十二月二十号去哪 | 十二月二十号 | 2024-12-20 | 2024-12-20 |
2024年5月3日 | 2024年5月3日 | 2024-05-03 | 2024-05-03 |
二〇二四年五月三日 | 二〇二四年五月三日 | 2024-05-03 | 2024-05-03 |
23年3月的事 | 23年3月 | 2023-03-01 | 2023-03-31 |
2024/5/3 | 2024/5/3 | 2024-05-03 | 2024-05-03 |
2024.05.03 | 2024.05.03 | 2024-05-03 | 2024-05-03 |
三月份 | 三月份 | 2024-03-01 | 2024-03-31 |
十月发生了什么 | 十月 | 2023-10-01 | 2023-10-31 |
去年3月 | 去年3月 | 2023-03-01 | 2023-03-31 |
3月中旬 | 3月中旬 | 2024-03-11 | 2024-03-20 |
三月底 | 三月底 | 2024-03-21 | 2024-03-31 | ?
去年 | 去年 | 2023-01-01 | 2023-12-31 |
前年夏天 | 前年夏天 | 2022-06-01 | 2022-08-31 | ?
年初 | 年初 | 2024-01-01 | 2024-03-31 | ?
去年年底 | 去年年底 | 2023-10-01 | 2023-12-31 | ?
去年底 | 去年底 | 2023-10-01 | 2023-12-31 | ?
上半年 | 上半年 | 2024-01-01 | 2024-06-30 |
去年下半年 | 去年下半年 | 2023-07-01 | 2023-12-31 |
第三季度 | 第三季度 | 2023-07-01 | 2023-09-30 | ?
上个季度 | 上个季度 | 2024-01-01 | 2024-03-31 |
2022年 | 2022年 | 2022-01-01 | 2022-12-31 |
三天前 | 三天前 | 2024-05-14 | 2024-05-14 |
两周前 | 两周前 | 2024-04-29 | 2024-05-05 | ?
三个月前 | 三个月前 | 2024-02-01 | 2024-02-29 | ?
两年前 | 两年前 | 2022-01-01 | 2022-12-31 | ?
半个月前 | 半个月前 | 2024-04-29 | 2024-05-05 | ?
半年前 | 半年前 | 2023-11-01 | 2023-11-30 | ?
两个小时前 | 两个小时前 | 2024-05-17 08:00 | 2024-05-17 09:00 | ?
几天前 | 几天前 | 2024-05-10 | 2024-05-15 | ~
两三天前 | 两三天前 | 2024-05-14 | 2024-05-15 | ~
近两周 | 近两周 | 2024-05-03 | 2024-05-17 |
最近三个月 | 最近三个月 | 2024-02-17 | 2024-05-17 |
过去10天里 | 过去10天里 | 2024-05-07 | 2024-05-17 |
近半年 | 近半年 | 2023-11-17 | 2024-05-17 |
未来三天 | 未来三天 | 2024-05-17 | 2024-05-20 |
最近他说过什么 | 最近 | 2024-04-17 | 2024-05-17 | ~
前几天 | 前几天 | 2024-05-10 | 2024-05-16 | ~
前段时间 | 前段时间 | 2024-02-17 | 2024-05-10 | ~
去年国庆 | 去年国庆 | 2023-10-01 | 2023-10-07 |
国庆去了哪里 | 国庆 | 2023-10-01 | 2023-10-07 |
春节期间 | 春节期间 | 2024-02-09 | 2024-02-16 |
去年中秋节 | 去年中秋节 | 2023-09-29 | 2023-09-29 |
端午节 | 端午节 | 2023-06-22 | 2023-06-22 | ?
清明节 | 清明节 | 2024-04-04 | 2024-04-04 |
五一的时候 | 五一 | 2024-05-01 | 2024-05-05 |
双十一买的 | 双十一 | 2023-11-11 | 2023-11-11 | ?
除夕 | 除夕 | 2024-02-09 | 2024-02-09 |
2022年圣诞节 | 2022年圣诞节 | 2022-12-25 | 2022-12-25 |
5月3号到5号 | 5月3号到5号 | 2024-05-03 | 2024-05-05 |
5月3日-5日 | 5月3日-5日 | 2024-05-03 | 2024-05-05 |
4月28号到5月3号 | 4月28号到5月3号 | 2024-04-28 | 2024-05-03 |
上周三到周五 | 上周三到周五 | 2024-05-08 | 2024-05-10 |
去年3月到5月 | 去年3月到5月 | 2023-03-01 | 2023-05-31 |
3月到5月之间 | 3月到5月之间 | 2024-03-01 | 2024-05-31 |
3月以来 | 3月以来 | 2024-03-01 | 2024-05-17 |
从上周五开始 | 从上周五开始 | 2024-05-10 | 2024-05-17 |
5月3号之前 | 5月3号之前 | 1000-01-01 | 2024-05-02 |
5月3号之后 | 5月3号之后 | 2024-05-04 | 2024-05-17 |
国庆前三天 | 国庆前三天 | 2023-09-28 | 2023-09-30 | ?
国庆前一天说了什么 | 国庆前一天 | 2023-09-30 | 2023-09-30 |
5月3号的两周前 | 5月3号的两周前 | 2024-04-15 | 2024-04-21 | ?
5月3号后第二天 | 5月3号后第二天 | 2024-05-04 | 2024-05-04 |
5月3号的第二天 | 5月3号的第二天 | 2024-05-04 | 2024-05-04 |
5月8号那一周 | 5月8号那一周 | 2024-05-06 | 2024-05-12 |
国庆前后 | 国庆前后 | 2023-09-28 | 2023-10-10 | ?
去年的今天 | 去年的今天 | 2023-05-17 | 2023-05-17 |
3月8日晚 | 3月8日晚 | 2024-03-08 18:00 | 2024-03-09 00:00 |
上个月的第二个周末 | 上个月的第二个周末 | 2024-04-13 | 2024-04-14 |
昨天上午10:30 | 昨天上午10:30 | 2024-05-16 10:30 | 2024-05-16 10:31 |
春节后两周 | 春节后两周 | 2024-02-17 | 2024-03-01 | ?
下个月5号之前 | 下个月5号之前 | 2024-05-17 | 2024-06-04 |
今年以来 | 今年以来 | 2024-01-01 | 2024-05-17 |
五月第一周 | 五月第一周 | 2024-05-01 | 2024-05-07 | ?
4月的最后一天 | 4月的最后一天 | 2024-04-30 | 2024-04-30 |
90年代 | 90年代 | 1990-01-01 | 1999-12-31 | ?
"""

# asked at (weekday in the comment) | text | words | start | last day or end time | mark
ELSEWHERE = """
2024-05-20 09:00 | last Wednesday | last Wednesday | 2024-05-15 | 2024-05-15 |
2024-05-22 09:00 | last Wednesday | last Wednesday | 2024-05-15 | 2024-05-15 |
2024-05-19 09:00 | last Wednesday | last Wednesday | 2024-05-08 | 2024-05-15 | ?
2024-05-19 09:00 | last week | last week | 2024-05-06 | 2024-05-12 |
2024-05-19 09:00 | 上周三 | 上周三 | 2024-05-08 | 2024-05-08 |
2024-05-19 09:00 | last weekend | last weekend | 2024-05-11 | 2024-05-12 |
2024-05-13 09:00 | next weekend | next weekend | 2024-05-18 | 2024-05-26 | ?
2024-01-10 09:00 | last March | last March | 2023-03-01 | 2023-03-31 |
2024-05-17 09:00 | last March | last March | 2023-03-01 | 2024-03-31 | ?
2024-01-10 09:00 | this winter | this winter | 2023-12-01 | 2024-02-29 | ?
2024-01-10 09:00 | last month | last month | 2023-12-01 | 2023-12-31 |
2024-01-01 09:00 | yesterday | yesterday | 2023-12-31 | 2023-12-31 |
2024-01-01 09:00 | 上周 | 上周 | 2023-12-25 | 2023-12-31 |
2024-03-31 09:00 | a month ago | a month ago | 2024-02-01 | 2024-02-29 | ?
2024-03-01 09:00 | 昨天 | 昨天 | 2024-02-29 | 2024-02-29 |
2023-03-01 09:00 | on 29 February | 29 February | 2020-02-29 | 2020-02-29 | ?
2025-10-20 09:00 | 今年中秋 | 今年中秋 | 2025-10-06 | 2025-10-06 |
2025-06-20 09:00 | 端午节 | 端午节 | 2025-05-31 | 2025-05-31 |
2024-05-31 09:00 | 月底 | 月底 | 2024-05-21 | 2024-05-31 | ?
2024-12-28 09:00 | before Christmas | before Christmas | 1000-01-01 | 2024-12-24 |
"""

# Words that look like times and are none.
NONE = """
When did Ann buy the bike?
How many days did it take?
May I ask what March means to you?
Who won the second round?
He came on the 2nd floor at full speed.
The order was 2024 pieces.
every Wednesday
the last one I bought
Did the spring in the mattress break?
I fall asleep early
call me at 3pm
my number is 20240
version 1.2.24 of the app
What did April say?
for two weeks
小王什么时候买的车
一共用了几天
一周三次
每周三
最后天气怎么样
地铁3号线
三个月的宝宝
上午和下午哪个方便
农历八月十五
没有以前那么好
二五一十
这个月饼好吃
""".strip().splitlines()


def rows(table: str) -> list[list[str]]:
    """Return the cells of a table."""
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]
