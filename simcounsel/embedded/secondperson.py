"""What somebody said of themselves, given back to them: 'I still warm his soup' becomes 'You still
warm his soup'.

Where it is not clear whom a pronoun means nothing is given back: sentences with we, us or you, and
questions.
"""

import re

WORDS = {
    "i": "you",
    "me": "you",
    "my": "your",
    "mine": "yours",
    "myself": "yourself",
    "i'm": "you're",
    "i've": "you've",
    "i'd": "you'd",
    "i'll": "you'll",
}
FOLLOWS = {"am": "are", "was": "were"}
"""Forms of 'be' beside an 'I'."""
UNCLEAR = frozenset("we us our ours ourselves you your yours yourself".split())
FEWEST, MOST = 3, 14
_CLAUSE = re.compile(r",\s+(?:and|but|so|because)\s+|\s+(?:but|because)\s+|;\s+|:\s+|\s+-\s+|, ")
_WHO = re.compile(
    r"(?:i am|i'm|i was)"
    r" (?:a|an|\d+|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|\w+ty-\w+)\b"
    r"|i work (?:as|in|at)\b|i live\b"
    r"|i (?:suppose|guess|think|don't know|wonder)\b",
    re.IGNORECASE,
)
"""Age, trade and home, and what only leads in: to be told these back helps nobody."""
_TOKEN = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)?|[^A-Za-z]+")


def given_back(line: str) -> str | None:
    """The last sentence or clause of a line that is about the speaker and short enough, in the
    second person; None if there is none.
    """
    for sentence in reversed(re.findall(r"[^.!?]+[.!?]?", " ".join(line.split()))):
        if sentence.rstrip().endswith("?"):
            continue
        for part in (sentence, *_CLAUSE.split(sentence)):
            text = _turned(part.strip(" .!,"))
            if text:
                return text
    return None


def _turned(clause: str) -> str | None:
    if _WHO.match(clause.replace("’", "'")):
        return None
    words = re.findall(r"[A-Za-z]+(?:['’][A-Za-z]+)?", clause)
    low = [word.lower().replace("’", "'") for word in words]
    if (
        not FEWEST <= len(low) <= MOST
        or UNCLEAR & set(low)
        or not low[0].startswith(("i", "my"))
        or low[0] not in (*WORDS, "my")
    ):
        return None
    tokens, before = [], ""
    found = _TOKEN.findall(clause)
    for number, token in enumerate(found):
        bare = token.lower().replace("’", "'")
        after = next((t.lower() for t in found[number + 1 :] if t[0].isalpha()), "")
        if bare in WORDS:
            tokens.append(WORDS[bare])
        elif bare in FOLLOWS and "i" in (before, after):
            tokens.append(FOLLOWS[bare])
        else:
            tokens.append(token)
        before = bare if token[0].isalpha() else before
    text = "".join(tokens)
    return text[0].upper() + text[1:] + "."
