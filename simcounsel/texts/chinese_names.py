"""How somebody with a Chinese name is spoken of: 沈若岚 is 若岚, 沈老师, 小沈 as well."""

import re

COMPOUND = frozenset(
    (
        "欧阳 司马 上官 诸葛 司徒 夏侯 皇甫 尉迟 公孙 慕容 长孙 宇文 令狐 端木 东方 南宫 独孤 轩辕"
    ).split()
)
"""Surnames of two characters."""
TITLES = (
    "老师 医生 大夫 医师 咨询师 治疗师 心理师 督导 护士 教授 博士 主任 院长 校长 教练"
    " 律师 经理 总监 老板 主管 组长 队长 部长 处长 科长 局长 书记 同学 同志 师傅 先生"
    " 女士 小姐 太太 夫人 阿姨 叔叔 伯伯 奶奶 爷爷 大哥 大姐 哥 姐 总 工 导"
).split()
"""What is behind a surname."""
ORDINARY = frozenset(
    (
        "小时 小心 小于 小方 老师 老家 老是 老实 老天 老公 阿姨 小白 小米 小麦 平安 希望"
        " 明天 健康 快乐 自然 和平 春天 阳光 永远 文化 思想 安静 美丽 晓得 静静 慢慢 明明"
        " 轻轻 常常 天天 年年 深深 好好 高高 远远 微微 亮亮 小雨 小雪 明白 清楚 光明 海洋"
        " 英雄 建设 文明 友谊 如意 吉祥 成功 志愿 安心 安宁 平静 小石 小金 小姐 老总"
    ).split()
)
"""What somebody may be called and what is a word as well: left alone."""
_BEFORE_SURNAME = "小老阿"
_BEFORE_GIVEN = "小阿"
_NAME = re.compile(r"[\u3400-\u9fff]{2,4}")


def is_chinese_name(name: str) -> bool:
    """Whether it is two to four Chinese characters, as a name in full is."""
    return _NAME.fullmatch(name.strip()) is not None


def chinese_forms(name: str) -> list[str]:
    """The name in full first, then what else its bearer may be called. A given name of
    one character is in too many words to be taken out by itself; doubled or behind 小 it is.
    """
    name = name.strip()
    surname, given = _parts(name)
    forms = [name, *(surname + title for title in TITLES)]
    if len(surname) == 1:
        forms += [mark + surname for mark in _BEFORE_SURNAME]
    if given:
        forms += [given] if len(given) > 1 else []
        forms += [given[-1] * 2, *(mark + given[-1] for mark in _BEFORE_GIVEN)]
    return list(dict.fromkeys(one for one in forms if one == name or one not in ORDINARY))


def _parts(name: str) -> tuple[str, str]:
    """Surname and given name; '' for the given name of somebody who is known with a title."""
    for title in TITLES:
        if name.endswith(title) and len(name) - len(title) in (1, 2):
            return name.removesuffix(title), ""
    length = 2 if len(name) > 2 and name[:2] in COMPOUND else 1
    return name[:length], name[length:]
