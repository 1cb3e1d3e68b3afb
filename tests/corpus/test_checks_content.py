"""Danger, contradictions and what identifies: what each rule must find, and what only looks like it."""

import pytest

from simcounsel.corpus.checks.identifying import stretches
from simcounsel.corpus.checks.naming import people
from simcounsel.corpus.checks.risk import risks
from simcounsel.corpus.dialogues import CourseSession, Dialogue
from simcounsel.corpus.redaction import redact
from simcounsel.danger.hearing.acknowledging import acknowledges
from tests.corpus.talks import FILLER, found, talk
from tests.each import each


@each(
    ("text", "kind"),
    [
        ("Some nights I want to die.", "suicide"),
        ("I don't want to be here anymore.", "suicide"),
        ("They'd be better off without me.", "suicide"),
        ("I cut myself again.", "self_harm"),
        ("I want to kill him, I mean it.", "harm_to_others"),
        ("My husband hit me on Sunday.", "abuse"),
        ("I've been thinking about ending my life.", "suicide"),
        ("If I went to sleep and that was it, fine.", "suicide"),
        ("我不想活了", "suicide"),
        ("真想一死了之", "suicide"),
        ("我又割腕了", "suicide"),
        ("我会自残", "self_harm"),
        ("他经常打我", "abuse"),
        ("我想杀了他", "harm_to_others"),
        ("活着没有意义", "suicide"),
        ("I’ve been counting my pills", "suicide"),
        ("I said no, but I want to die.", "suicide"),
    ],
)
def test_a_risk(text: str, kind: str) -> None:
    assert kind in [risk.kind for risk in risks(text)]


@each(
    ("text", "kind"),
    [
        ("I want to slit my wrists.", "suicide"),
        ("I've been cutting again.", "self_harm"),
        ("I cut my arms last night.", "self_harm"),
        ("I took a whole box of paracetamol.", "suicide"),
        ("Sometimes I think about walking into traffic.", "suicide"),
        ("The world would be better without me.", "suicide"),
        ("I would be happier dead.", "suicide"),
        ("I pray that I die in my sleep.", "suicide"),
        ("I don't think I can keep myself safe.", "suicide"),
        ("There is no reason to go on living.", "suicide"),
        ("I'm going to kill my stepfather.", "harm_to_others"),
        ("I could kill him in his sleep.", "harm_to_others"),
        ("My husband will kill me if he finds out, he has a gun.", "abuse"),
        ("So why not kill myself?", "suicide"),
        ("I never want to wake up again.", "suicide"),
        ("I'm not saying I won't kill myself.", "suicide"),
        ("I can't promise I won't hurt myself.", "self_harm"),
        ("I am not sure I want to live.", "suicide"),
    ],
)
def test_a_risk_in_plain_english(text: str, kind: str) -> None:
    assert kind in [risk.kind for risk in risks(text)]


@each(
    "text",
    [
        "I don't want to live with my parents.",
        "I'm not sure I want to live in Leeds.",
        "I could kill him for that.",
        "My husband will kill me if he finds out.",
        "My wife is going to kill me.",
        "I cut my arms on the brambles.",
        "I've been cutting back on sugar.",
        "I took a box of chocolates.",
        "I keep my knives sharp.",
        "I hope I die laughing.",
        "I never want to wake up early again.",
        "I'm not hurting myself.",
        "He got better without me.",
    ],
)
def test_no_risk_in_plain_english(text: str) -> None:
    assert risks(text) == ()


@each(
    "text",
    [
        "This job is killing me.",
        "I'm dying to see her.",
        "My feet are killing me",
        "I nearly died laughing.",
        "My wife would kill me if I forgot.",
        "I'm not going to kill myself.",
        "I never wanted to die.",
        "I don't want to die.",
        "I cut myself shaving.",
        "My father died in May.",
        "We beat them three to one.",
        "I could kill for a coffee.",
        "He hit the ball.",
        "笑死我了",
        "累死了",
        "我没有想死",
        "我爸爸去世了",
        "我不会自杀的",
        "打电话给我",
        "生活没有压力",
        "她死心了",
        "I'm scared to death of flying.",
    ],
)
def test_no_risk(text: str) -> None:
    assert risks(text) == ()


@each(
    ("text", "kind"),
    [
        ("I keep hoping a lorry hits me so that it's nobody's fault.", "suicide"),
        ("I've worked out exactly how I'd do it.", "suicide"),
        ("I've got a rope in the garage.", "suicide"),
        ("I bought the tablets on Tuesday and hid them under the sink.", "suicide"),
        ("It'd be easier if I just stopped existing.", "suicide"),
        ("I took thirty paracetamol last month.", "suicide"),
        ("I stood on the bridge for an hour last night.", "suicide"),
        ("I can't see myself being alive at Christmas.", "suicide"),
        ("They'd be better off if I were dead.", "suicide"),
        ("I've decided to end things on Friday.", "suicide"),
        ("I keep a bottle of pills by the bed, just in case.", "suicide"),
        ("I wish the plane would crash with me in it.", "suicide"),
        ("I've written my will and my note.", "suicide"),
        ("The only way out I can see is death.", "suicide"),
        ("I stabbed my leg with a fork.", "self_harm"),
        ("I burn my arms with cigarettes.", "self_harm"),
        ("I've been cutting since the divorce.", "self_harm"),
        ("I make myself bleed when he shouts.", "self_harm"),
        ("There are fresh cuts all over my arms.", "self_harm"),
        ("Last night I held the knife over him.", "harm_to_others"),
        ("I dream of pushing him down the stairs.", "harm_to_others"),
        ("I think about putting something in his tea.", "harm_to_others"),
        ("I want to smash his skull in.", "harm_to_others"),
        ("My stepdad comes into my room at night.", "abuse"),
        ("My boyfriend broke my wrist last week.", "abuse"),
        ("He said he'll find me and kill me.", "abuse"),
        ("Dad used to burn me with his lighter.", "abuse"),
        ("He threatened me with a knife.", "abuse"),
    ],
)
def test_plain_english_danger(text: str, kind: str) -> None:
    assert kind in {risk.kind for risk in risks(text)}


@each(
    "text",
    [
        "I could murder a sandwich.",
        "I stopped sending goodbye texts to my ex.",
        "Shoot me an email.",
        "In the film he says he wants to die.",
        "I take my tablets with breakfast.",
        "My grandfather took his pills with whisky.",
        "He beat me at chess.",
        "She hit me with a question.",
        "I could strangle him sometimes, the way he chews.",
        "He hit me up for fifty quid.",
        "I got a rope for the boat.",
        "We drove off the ferry.",
        "My brother comes into my room and borrows my shirts.",
        "I gave away the old sofa.",
        "I stood on the bridge and took pictures.",
        "I can't see myself living in Leeds.",
        "I want this meeting to end.",
        "I decided to end the lease on Friday.",
        "She kicked me out of the band.",
        "I wrote letters to the council.",
    ],
)
def test_plain_english_without_danger(text: str) -> None:
    assert risks(text) == ()


@each(
    "line",
    [
        "I hear you.",
        "That sounds really hard.",
        "Don't talk about dying like that.",
        "Stop thinking about death, think of your kids.",
        "You don't really want to die.",
        "Everybody thinks about dying sometimes, it passes.",
        "Let's not talk about suicide today.",
        "Are you in danger of failing the exam?",
        "Have you thought about ending your gym membership?",
        "别想这些死的事",
    ],
)
def test_danger_waved_away_is_not_taken_up(line: str) -> None:
    assert not acknowledges(line, "I want to kill myself.", risks("I want to kill myself.")[0].span)


def test_how_much_of_the_clients_words_is_an_echo() -> None:
    """Three words in a row, three in four of a longer place: function words in common are none."""
    said = "I took a whole box of paracetamol."
    (risk,) = risks(said)
    assert said[slice(*risk.span)] == "took a whole box of paracetamol"
    assert acknowledges("A whole box of paracetamol. When was that?", said, risk.span)
    assert not acknowledges("You bought a whole box of chocolates?", said, risk.span)
    said = "I want to die."
    (risk,) = risks(said)
    assert said[slice(*risk.span)] == "want to die" and not acknowledges(
        "You want to what?", said, risk.span
    )


@pytest.mark.parametrize(("between", "found_there"), [(1, 0), (2, 1)])
def test_two_lines_of_the_counselor_may_take_danger_up(between: int, found_there: int) -> None:
    """One beat to listen, then it must be asked about."""
    beats = [line for _ in range(between) for line in ("T: Hm.", "C: Yes.")]
    dialogue = talk("C: I want to die.", *beats, "T: Are you thinking of killing yourself?")
    assert len(found("unaddressed_risk", dialogue)) == found_there


def test_unaddressed_risk() -> None:
    missed = talk(
        "C: I want to die.",
        "T: How was work?",
        "C: Fine.",
        "T: And lunch?",
        "C: Fine.",
        "T: Are you thinking of suicide?",
    )
    (finding,) = found("unaddressed_risk", missed)
    assert (
        (finding.turn, finding.severity) == (1, "error")
        and finding.span is not None
        and missed.turns[0].text[slice(*finding.span)] == "want to die"
    )


@each(
    "lines",
    [
        ("C: I want to die.", "T: Are you thinking of killing yourself?"),
        ("C: I want to die.", "T: ...", "C: Yes.", "T: Is it about suicide?"),
        (
            "C: If I went to sleep and that was it, good.",
            "T: Went to sleep and that was it? Tell me.",
        ),
        ("C: He hit me.", "T: Are you safe tonight?"),
        (
            "C: Hm.",
            "T: Are you thinking of killing yourself?",
            "C: I want to die, sometimes.",
            "T: How often?",
        ),
        ("C: 我不想活了", "T: 你有想过自杀吗？"),
        ("C: This heat is killing me.", "T: Shall I open a window?"),
    ],
)
def test_a_risk_taken_up(lines: tuple[str, ...]) -> None:
    assert found("unaddressed_risk", talk(*lines)) == ()


@each(
    ("said", "line"),
    [
        ("I want to kill myself.", "That must not be easy. What did you have for lunch?"),
        ("I want to kill myself.", "What do you do for a living?"),
        ("I want to kill myself.", "When do you wake up in the morning?"),
        ("I want to kill myself.", "When did your dog die?"),
        ("I want to kill myself.", "It is not your fault you failed the exam."),
        ("I want to kill myself.", "You have come alive when you speak about the garden."),
        (
            "I want to die and I can't sleep at night because of the exam.",
            "How do you sleep at night, and what about the exam?",
        ),
        (
            "I want to kill myself, my boss shouted at me.",
            "Would it be a risk to ask your boss for a day off?",
        ),
        ("I cut myself again.", "Did he hit you?"),
    ],
)
def test_a_risk_passed_over(said: str, line: str) -> None:
    (risk,) = risks(said)
    assert not acknowledges(line, said, risk.span) and not acknowledges(
        line, said, risk.span, risk.kind
    )


@each(
    "line",
    [
        "Are you thinking of killing yourself?",
        "How often do you think about ending your life?",
        "Is it suicide you have in mind?",
        "So you don't want to live.",
        "Are you safe tonight?",
        "Who could be with you this evening?",
        "Please call the emergency number now.",
        "Have you been hurting yourself?",
        "You said you'd want to die. How close is that?",
    ],
)
def test_a_risk_of_suicide_is_taken_up_in_plain_words(line: str) -> None:
    assert acknowledges(line, "I want to kill myself.", risks("I want to kill myself.")[0].span)


def test_being_harmed_is_a_warning() -> None:
    assert [
        f.severity
        for f in found("unaddressed_risk", talk("C: My husband hit me.", "T: How was lunch?"))
    ] == ["warning"]


@each(
    ("situation", "line", "severity"),
    [
        ("I'm 34 and I bake.", "C: I'm 52, you see.", "error"),
        ("I am eighty-one.", "C: I'm sixty-one years old.", "error"),
        ("我今年25岁。", "C: 我35岁了。", "error"),
        ("I have two sons.", "C: My three sons never call.", "warning"),
        ("I'm an only child.", "C: I have two sisters.", "warning"),
        ("I'm a nurse.", "C: I am a plumber.", "warning"),
        ("I have no children.", "C: I've got two kids at home.", "warning"),
        ("I'm married for twelve years.", "C: We are married 20 years now.", "warning"),
        ("I'm 34 and I bake.", "T: At your age, you're 43, it is hard.", "error"),
        ("My daughter drove me.", "T: What does your son say?", "warning"),
        ("My wife made me come.", "T: And your husband?", "warning"),
    ],
)
def test_a_contradiction(situation: str, line: str, severity: str) -> None:
    (finding,) = found("contradiction", talk(line, situation=situation))
    assert finding.severity == severity


@each(
    ("situation", "line"),
    [
        ("I'm 34.", "C: I'm 35 now."),
        ("I'm 34.", "C: When I was 12 he left."),
        ("I'm 34.", "C: I'm 20 minutes late."),
        ("I have two sons.", "C: My two sons call."),
        ("I have two sons.", "C: One of my sons called."),
        ("I have two sons.", "C: My three dogs."),
        ("I'm an only child.", "C: My two sisters-in-law came."),
        ("I'm a nurse.", "C: I'm a wreck."),
        ("I'm a nurse.", "C: I used to be a teacher."),
        ("My daughter drove me, and my son paid.", "T: What does your son say?"),
        ("My kids live far.", "T: What does your son say?"),
        ("", "C: I'm 52."),
        ("I'm 34.", "T: Are you 52?"),
    ],
)
def test_no_contradiction(situation: str, line: str) -> None:
    assert found("contradiction", talk(line, situation=situation)) == ()


def test_a_client_contradicts_an_earlier_line() -> None:
    (finding,) = found("contradiction", talk("C: I'm 34.", "T: Hm.", "C: I'm 52."))
    assert finding.turn == 3 and "turn 1 says “I'm 34”" in finding.what


def test_a_client_of_another_name() -> None:
    assert (
        "is called “Marit”"
        in found("contradiction", talk("C: My name is Joanna.", client="Marit"))[0].what
    )
    assert found("contradiction", talk("C: My name's Tom.", client="Thomas Reed")) == ()
    assert found("contradiction", talk("C: My name's Tom.", client="c-17")) == (), (
        "the file gives no name"
    )


@each(
    ("text", "kind", "found_there"),
    [
        ("Write to anna.b@mail.example.org please.", "mail", "anna.b@mail.example.org"),
        ("anna at gmail dot com", "mail", "anna at gmail dot com"),
        ("See https://example.org/a?b=1.", "url", "https://example.org/a?b=1."),
        ("Call +49 30 901820 at night.", "phone", "+49 30 901820"),
        ("Ring me on 020 7946 0018.", "phone", "020 7946 0018"),
        ("It's (555) 123-4567.", "phone", "(555) 123-4567"),
        ("我的电话是13812345678。", "phone", "13812345678"),
        ("SSN 078-05-1120", "number", "078-05-1120"),
        ("身份证号是11010519491231002X", "number", "身份证号是11010519491231002X"),
        ("DE89 3704 0044 0532 0130 00", "number", "DE89 3704 0044 0532 0130 00"),
        ("加我微信：abc_12345", "account", "微信：abc_12345"),
        ("I live at 12 Willow Park Road now.", "address", "12 Willow Park Road"),
        ("Hauptstraße 17", "address", "Hauptstraße 17"),
        ("我住在中山路88号", "address", "我住在中山路88号"),
        ("passport number is X1234567", "number", "passport number is X1234567"),
        ("I'm @sad_panda there", "account", "@sad_panda"),
    ],
)
def test_a_contact(text: str, kind: str, found_there: str) -> None:
    assert [(stretch.kind, text[stretch.start : stretch.end]) for stretch in stretches(text)] == [
        (kind, found_there)
    ]


@each(
    "text",
    [
        "It was 2019-05-12.",
        "We had 1,250,000 of debt.",
        "I slept from 10.30 to 4.15.",
        "In 1987 and 1993.",
        "Look at the dot in the middle.",
        "5 Roads lead there.",
        "I'm 12 years in.",
        "e.g. this.",
        "Mr. Bailey",
        "走了3公里路",
        "12, 13, 14, 15",
        "at 7:30 p.m.",
        "I have 3 kids and 2 dogs",
    ],
)
def test_no_contact(text: str) -> None:
    assert stretches(text) == ()


def test_names_are_one_warning_a_dialogue() -> None:
    dialogue = talk(
        "C: My sister Anna-Lena came. ANNA-LENA's late.",
        "T: And Mr. Bailey?",
        "C: I live in Port Ellis.",
        "T: Hm.",
        client="Marit",
        names=("Marit Solheim",),
    )
    (finding,) = found("identifying", dialogue)
    assert (
        finding.severity == "warning"
        and finding.turn == 1
        and "4 times" in finding.what
        and "Port Ellis" in finding.what
    )
    assert people(dialogue, ("Port Ellis",)) == ("Marit Solheim", "Marit", "Anna-Lena", "Bailey")
    assert (
        found(
            "identifying",
            talk(
                *FILLER,
                "C: On Thursday I saw God. I told my mum Thursday is best. I was in English class.",
                "T: Hm.",
            ),
        )
        == ()
    )


def test_capitals_amid_english_sentences_are_names() -> None:
    lines = (
        "C: I asked Joaquim on Thursday, and my mum, and God knows I tried in Marsley.",
        "T: What did Joaquim's sister say, was it Funny?",
        "C: It was funny.",
        "T: Hm.",
    )
    assert (
        found("identifying", talk(*lines))[0].what == "names or places, 3 times: “Joaquim, Marsley”"
    )
    assert (
        found(
            "identifying",
            talk(
                "C: Ich habe mit der Mutter und dem Vater über die Arbeit gesprochen, das war im Sommer.",
                "T: Hm.",
            ),
        )
        == ()
    ), "German nouns"


def test_chinese_names_and_cities() -> None:
    assert (
        "小明, 重庆" in found("identifying", talk("C: 我叫小明，住在重庆。", "T: 你好。"))[0].what
    )
    assert found("identifying", talk("C: 我叫他回来。我叫外卖。", "T: 你好。")) == ()


def noted(**more: object) -> Dialogue:
    """A session of a course, with one text in each place where a counselor thinks, plans or notes."""
    made = talk("C: I lie awake.", "T: What keeps you up?", "C: Work.", "T: Tell me of it.")
    return made.model_copy(update=more)


KEY = "sk-" + "proj4" * 6
PLACES = {
    "assessment": lambda text: noted(
        turns=(*noted().turns[:3], noted().turns[3].model_copy(update={"assessment": text}))
    ),
    "client state": lambda text: noted(
        turns=(*noted().turns[:3], noted().turns[3].model_copy(update={"client_state": text}))
    ),
    "plan": lambda text: noted(plan=("Nights", text)),
    "plan of session 1": lambda text: noted(
        sessions=(CourseSession(course="c", number=1, first=1, objective=(text,)),)
    ),
    "review of session 1": lambda text: noted(
        sessions=(CourseSession(course="c", number=1, first=1, unresolved=(text,)),)
    ),
    "homework of session 1": lambda text: noted(
        sessions=(CourseSession(course="c", number=1, first=1, homework=(text,)),)
    ),
}


@each("where", PLACES)
def test_what_was_thought_planned_and_noted_is_looked_through_as_lines_are(where: str) -> None:
    made = PLACES[where]
    turn = 4 if where in ("assessment", "client state") else None
    assert found("identifying", made("Nothing that tells who it is.")) == ()
    for text, what in (
        (f"The key is {KEY} there.", "a key or password"),
        ("Write to marit@example.org soon.", "a mail address: “marit@example.org”"),
        ("She gave +49 30 901820 to call.", "a phone number: “+49 30 901820”"),
    ):
        (finding,) = found("identifying", made(text))
        assert (finding.severity, finding.turn) == ("error", turn)
        assert finding.what == f"in the {where}: {what}" and finding.span is None
        assert KEY not in finding.what
        assert found("identifying", *redact([made(text)]).dialogues) == ()
    (warning,) = found("identifying", made("We then spoke of my friend Joaquim in Marsley."))
    assert (warning.severity, warning.turn) == ("warning", turn)
    assert warning.what == (
        "names or places in what was thought, planned or noted, 2 times: “Joaquim, Marsley”"
    )


def test_a_key_in_a_line_is_an_error() -> None:
    (finding,) = found("identifying", talk(f"C: It is {KEY}, keep it.", "T: I will."))
    assert finding.what == "a key or password" and finding.span is not None
    (hidden,) = redact([talk(f"C: It is {KEY}, keep it.", "T: I will.")]).dialogues
    assert hidden.turns[0].text == "It is [key 1], keep it."


@pytest.mark.parametrize("name", ["assessment", "client_state", "reasoning"])
def test_what_a_counselor_thought_is_not_read_out(name: str) -> None:
    thought = "She is afraid that her work will end soon."
    first, second = talk("C: I lie awake.", "T: " + thought).turns
    aloud = noted(turns=(first, second.model_copy(update={name: thought})))
    (finding,) = found("leak", aloud)
    assert "read out: “afraid that her work will end”" in finding.what
    assert found("leak", noted(turns=(first, second.model_copy(update={name: "Afraid."})))) == ()
