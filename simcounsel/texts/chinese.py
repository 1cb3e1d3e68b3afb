"""Whether a text is Chinese, by its characters."""

import re

_HAN = re.compile(r"[㐀-鿿]")
SHARE = 0.3
"""Of a Chinese text's characters, digits and marks among them, more than this share are Chinese."""


def is_chinese(text: str) -> bool:
    """Whether so many of its characters are; False of ''."""
    return len(_HAN.findall(text)) > SHARE * len(text)
