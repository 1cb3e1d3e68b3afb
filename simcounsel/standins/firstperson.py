"""Sentences about somebody, retold by that person: 'Ines notices that she checks the clock' becomes
'I notice that I check the clock'. Where it is not clear whom a pronoun means, nothing is retold."""

import re
from collections.abc import Callable, Collection
from functools import cache
from importlib.resources import files

import yaml

PRONOUNS = {
    "she/her": ("she", "her", "hers", "herself"),
    "he/him": ("he", "his", "his", "himself"),
    "they/them": ("they", "their", "theirs", "themselves"),
}
OBJECT = {"she": "her", "he": "him", "they": "them"}
KIN = {
    "she": (
        (
            "mother daughter sister wife aunt grandmother goddaughter girl woman niece mum"
            " stepmother granddaughter girlfriend lady waitress landlady"
        ).split()
    ),
    "he": (
        "father son brother husband uncle grandfather godson boy man nephew dad stepfather grandson"
        " boyfriend landlord".split()
    ),
    "they": (
        "people others children parents friends colleagues neighbours students clients brothers"
        " sisters worries men women".split()
    ),
}
SUBORDINATE = frozenset(
    "that which who whom whose because when whether if while where what how although unless".split()
)
NEW_SUBJECT = frozenset(
    "it he she they nobody somebody everybody nothing something everything".split()
)
OBJECT_AFTER = frozenset(
    "to of at by for from with about into on over near towards toward beside behind against without"
    " like between".split()
)
FUNCTION = frozenset(
    (
        "to of in on at by for from with about into over up out off away down through and or but"
        " when if because that who while as than a an the is was were are be not so very too again"
        " now later twice once what how why where anything something nothing everything all more"
        " less better whether until before after without under near next there here back home alone"
        " this these those instead"
    ).split()
)
BESIDE = frozenset(
    "beside behind near around with before after about over under above for on".split()
)
GIVES_OBJECT = frozenset(
    (
        "know knows knew find finds found make makes made keep keeps kept call calls called see"
        " sees saw tell tells told give gives gave let lets ask asks asked help helps helped leave"
        " leaves left want wants wanted teach teaches taught show shows showed bring brings brought"
        " send sends sent meet meets met thank thanks thanked beat beats for to"
    ).split()
)
ADVERBS = frozenset(
    (
        "still never often always only also now once rarely seldom usually mostly sometimes already"
        " hardly then again not even just almost perhaps later first soon ever half"
    ).split()
)
NOT_VERBS = frozenset(
    "is was as its his this us yes less across always perhaps sometimes besides thus nights days"
    " perhaps has does".split()
)


@cache
def _listed(name: str) -> frozenset[str]:
    """A list of words in labelled/verbs.yaml."""
    text = files(__package__).joinpath("labelled", "verbs.yaml").read_text(encoding="utf-8")
    return frozenset(yaml.safe_load(text)[name].split())


VERBS, NOUNS_TOO, ALONE, DOUBLED = (
    _listed(name) for name in ("verbs", "nouns_too", "alone", "doubled")
)
IRREGULAR = dict(pair.split(":") for pair in _listed("irregular"))
_TOKEN = re.compile(r"“[^”]*”|[\w’'-]+|\s+|[^\w\s]")


def base_of(verb: str) -> str:
    """The plain form of a verb in the third person: 'watches' to 'watch', 'is' to 'be'."""
    known = {
        "is": "be",
        "has": "have",
        "does": "do",
        "goes": "go",
        "lies": "lie",
        "ties": "tie",
        "dies": "die",
        "aches": "ache",
    }
    if verb in known:
        return known[verb]
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[:-2] if re.search(r"(ch|sh|ss|x)es$", verb) else verb[:-1]


def present(base: str) -> str:
    """As it follows 'I'."""
    return "am" if base == "be" else base


def past(base: str) -> str:
    """'walked', 'lay'."""
    if base in IRREGULAR:
        return IRREGULAR[base]
    if base.endswith("e"):
        return f"{base}d"
    if re.search(r"[^aeiou]y$", base):
        return f"{base[:-1]}ied"
    return f"{base}{base[-1]}ed" if base in DOUBLED else f"{base}ed"


def going_on(base: str) -> str:
    """'walking', 'lying'."""
    if base.endswith("ie"):
        return f"{base[:-2]}ying"
    if re.search(r"[^eoy]e$", base) and base != "be":
        return f"{base[:-1]}ing"
    return f"{base}{base[-1]}ing" if base in DOUBLED else f"{base}ing"


def retell(
    text: str,
    name: str,
    pronouns: str,
    form: Callable[[str], str] = present,
    *,
    phrase: bool = False,
    others: Collection[str] = (),
    linked: bool = True,
) -> str | None:
    """The text in the first person, or None where it is unclear whom a pronoun means.

    phrase: it begins with a verb, its subject left out ('walks home'). form: what becomes of the
    verbs whose subject is this person. others: names of people who may be meant by the same
    pronouns. linked: whether a pronoun means this person at all; if not, only the name does.
    """
    told = _Telling(name, pronouns if linked else "", form, others)
    return told.tell(text, phrase)


class _Telling:
    """One text on its way into the first person, word by word."""

    def __init__(
        self, name: str, pronouns: str, form: Callable[[str], str], others: Collection[str]
    ) -> None:
        self.name = name
        self.form = form
        self.subject, self.possessive, self.mine, self.reflexive = PRONOUNS.get(
            pronouns, ("", "", "", "")
        )
        self.object = OBJECT.get(self.subject, "")
        self.rivals = {*KIN.get(self.subject, ()), *others} - {name}

    def tell(self, text: str, phrase: bool) -> str | None:
        """The whole text, or None."""
        self.words = list(_TOKEN.findall(text))
        self.out: list[str] = []
        self.rival = False
        self.mine_now = phrase
        self.outer = False
        self.verb_next = phrase
        for at, word in enumerate(self.words):
            told = self._word(at, word)
            if told is None:
                return None
            self.out.append(told)
        found = "".join(self.out)
        return found[:1].upper() + found[1:] if not phrase else found

    def _word(self, at: int, word: str) -> str | None:
        low = word.lower()
        if word.isspace() or word.startswith("“"):
            return word
        if not word[0].isalnum():
            if word in ";.:":
                self.mine_now = self.verb_next = self.outer = False
            return word
        pronouns = (
            (self.subject, self.object, self.possessive, self.mine, self.reflexive)
            if self.subject
            else ()
        )
        if word in (self.name, f"{self.name}'s", f"{self.name}’s") or low in pronouns:
            return self._self(at, word, low)
        if low in self.rivals or word in self.rivals:
            self.rival = True
        if self.verb_next:
            return self._verb(at, word, low)
        if low in NEW_SUBJECT and self._joined(at):
            self.mine_now = self.outer = False
        elif low in SUBORDINATE:
            self.outer = self.outer or self.mine_now
            self.mine_now = self.mine_now and self._near(at, 1).endswith("ing")
        elif low in ("is", "has", "does") or (low.endswith("s") and base_of(low) in VERBS):
            if (
                self._joined(at)
                and (self.mine_now or self.outer)
                and (low in ("is", "has", "does") or self._is_verb(at, low))
            ):
                self.mine_now = True
                return self._formed(at, low)
            self.outer = False  # another's verb: what is joined to it is the other's as well
        return word

    def _formed(self, at: int, low: str) -> str | None:
        """The verb in its form; there is none of 'does not' that is still going on."""
        return None if low == "does" and self.form is going_on else self.form(base_of(low))

    def _self(self, at: int, word: str, low: str) -> str | None:
        if word.startswith(self.name):
            if word != self.name:
                return "my"
            return "me" if self._near(at, -1) in OBJECT_AFTER | GIVES_OBJECT else self._i()
        if self.rival:
            return None
        if low == self.subject:
            return self._i()
        if low == self.reflexive:
            return "myself"
        if low == self.object and low != self.possessive:
            return self._me(at)
        if low == self.mine and low != self.possessive:
            return "mine"
        return self._my_or_me(at, low)

    def _my_or_me(self, at: int, low: str) -> str | None:
        """'her' is 'me' or 'my'; 'his' is always 'my', unless nothing follows."""
        before, after = self._near(at, -1), self._near(at, 1)
        ends = not after or not after[0].isalnum()
        if low == "his":
            return "mine" if ends else "my"
        if low != "her":
            return "my"
        if ends or after in FUNCTION | ADVERBS:
            return self._me(at)
        own = {*KIN["she"], *KIN["he"], *KIN["they"], "own", "older", "younger", "former"}
        return (
            "my" if after in own or before not in GIVES_OBJECT or before in ("for", "to") else None
        )

    def _me(self, at: int) -> str | None:
        """Beside its own subject a pronoun means somebody else ('Ines thanked her'), unless it says
        where.
        """
        return "me" if not self.mine_now or self._near(at, -1) in BESIDE else None

    def _i(self) -> str:
        self.mine_now = self.verb_next = True
        return "I"

    def _verb(self, at: int, word: str, low: str) -> str | None:
        """The word in the place of the verb: adverbs are passed over, what is no present is
        left.
        """
        if low in ADVERBS or low.endswith("ly"):
            return word
        self.verb_next = False
        if low in ("isn't", "isn’t"):
            return "am not"
        if low in ("hasn't", "doesn't", "hasn’t", "doesn’t"):
            return (
                {"h": "haven't", "d": "don't"}[low[0]]
                if self.form is present
                else {"h": "hadn't", "d": "didn't"}[low[0]]
            )
        if low in ("is", "has", "does"):
            return self._formed(at, low)
        if self.form is past and self.subject == "they" and low in VERBS:
            return past(low)
        if low in ("are", "were"):
            return {"are": "am", "were": "was"}[low]
        if low.endswith("s") and not low.endswith("ss") and low not in NOT_VERBS:
            return self.form(base_of(low))
        return word

    def _joined(self, at: int) -> bool:
        """Whether a word follows 'and', 'or', 'but', 'then', a comma, or such a word and an
        adverb.
        """
        back = -1
        while (before := self._near(at, back)) in ADVERBS or (
            before.endswith("ly") and before.isalpha()
        ):
            if before == "then":
                return True
            back -= 1
        return before in ("and", "or", "but", "then", ",")

    def _is_verb(self, at: int, low: str) -> bool:
        after = self._near(at, 1)
        if not after or not after[0].isalnum():
            return base_of(low) in ALONE or (
                base_of(low) not in NOUNS_TOO and self._near(at, -1) != ","
            )
        return base_of(low) not in NOUNS_TOO or after not in ("of", "and", "or")

    def _near(self, at: int, step: int) -> str:
        """The word that many words away, in lower case; '' beyond an end."""
        words = [index for index, word in enumerate(self.words) if not word.isspace()]
        place = words.index(at) + step
        return self.words[words[place]].lower() if 0 <= place < len(words) else ""
