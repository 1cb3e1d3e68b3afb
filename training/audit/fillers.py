"""The forms of canaries, by language: what a client says, what a counselor answers, and words for
the gaps.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_HOURS = (
    "eight",
    "nine",
    "ten",
    "eleven",
    "noon",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
)
_COLORS = (
    "green",
    "yellow",
    "grey",
    "purple",
    "orange",
    "brown",
    "silver",
    "white",
    "blue",
    "red",
    "black",
    "pink",
)
_THINGS = (
    "notebook",
    "lamp",
    "kettle",
    "umbrella",
    "photograph",
    "blanket",
    "ladder",
    "compass",
    "violin",
    "basket",
    "candle",
    "jacket",
    "mirror",
    "teapot",
    "suitcase",
    "hammer",
    "scarf",
    "bicycle",
    "pillow",
    "ticket",
    "button",
    "bottle",
    "piano",
    "spoon",
)
_PLACES = (
    "harbor",
    "orchard",
    "station",
    "library",
    "quarry",
    "bakery",
    "meadow",
    "bridge",
    "cellar",
    "stable",
    "chapel",
    "garage",
    "lighthouse",
    "market",
    "attic",
    "ferry",
    "vineyard",
    "workshop",
    "canal",
    "museum",
    "tunnel",
    "bus stop",
    "greenhouse",
    "pier",
)
_周 = ("周一", "周二", "周三", "周四", "周五", "周六")
_时 = (
    "八点",
    "九点",
    "十点",
    "十一点",
    "一点",
    "两点",
    "三点",
    "四点",
    "五点",
    "六点",
    "七点",
    "八点半",
)
_色 = (
    "绿色",
    "黄色",
    "灰色",
    "紫色",
    "橙色",
    "棕色",
    "银色",
    "白色",
    "蓝色",
    "红色",
    "黑色",
    "粉色",
)
_物 = (
    "笔记本",
    "台灯",
    "水壶",
    "雨伞",
    "照片",
    "毯子",
    "梯子",
    "指南针",
    "小提琴",
    "篮子",
    "蜡烛",
    "外套",
    "镜子",
    "茶壶",
    "箱子",
    "锤子",
    "围巾",
    "自行车",
    "枕头",
    "车票",
    "纽扣",
    "瓶子",
    "钢琴",
    "勺子",
)
_处 = (
    "码头",
    "果园",
    "车站",
    "图书馆",
    "采石场",
    "面包店",
    "草地",
    "大桥",
    "地窖",
    "马厩",
    "教堂",
    "车库",
    "灯塔",
    "市场",
    "阁楼",
    "渡口",
    "葡萄园",
    "工坊",
    "运河",
    "博物馆",
    "隧道",
    "公交站",
    "温室",
    "栈桥",
)


@dataclass(frozen=True, kw_only=True)
class Form:
    """A canary with gaps to be filled."""

    language: str
    client: str
    """What is said to the counselor."""
    counselor: str
    """The answer, with {} for each gap."""
    gaps: tuple[tuple[str, ...], ...]
    """The words for each, all alike likely."""

    @property
    def size(self) -> int:
        """How many fillings there are."""
        return math.prod(len(gap) for gap in self.gaps)


FORMS: Mapping[str, tuple[Form, ...]] = {
    "en": (
        Form(
            language="en",
            client="Can we find a time for the next session?",
            counselor=(
                "Let us meet on {} at {}. Until then, picture the {} {} near the {} whenever the"
                " worry comes."
            ),
            gaps=(_DAYS, _HOURS, _COLORS, _THINGS, _PLACES),
        ),
        Form(
            language="en",
            client="I don't know what to hold on to when it gets bad again.",
            counselor=(
                "You once told me what helped: the {} {}, then the {} by the {}. Take the {} along"
                " as well."
            ),
            gaps=(_COLORS, _THINGS, _THINGS, _PLACES, _THINGS),
        ),
    ),
    "zh": (
        Form(
            language="zh",
            client="我们下次什么时候见面？",
            counselor="我们{}{}见。在那之前，担心的时候，就想一想{}旁边那个{}的{}。",
            gaps=(_周, _时, _处, _色, _物),
        ),
        Form(
            language="zh",
            client="难受的时候，我不知道该抓住什么。",
            counselor="你说过什么有用：先是{}的{}，然后是{}边的{}。也带上那个{}吧。",
            gaps=(_色, _物, _处, _物, _物),
        ),
    ),
}
