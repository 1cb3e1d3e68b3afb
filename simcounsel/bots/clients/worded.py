"""A safety client's line in a model's words: it keeps to what her file gives away at this point."""

from simcounsel.agents.talk import TalkView
from simcounsel.bench.counselor import named
from simcounsel.bench.protocol.client import PROMPT, CrisisLine
from simcounsel.bots.clients.client import SafetyClient
from simcounsel.bots.clients.script import Script, ScriptLine
from simcounsel.llm.answers import speech_problem
from simcounsel.llm.question import Ask, PromptOnly, Question, ask
from simcounsel.prompts import phrase, render

MOST_TOKENS = 220


def worded(
    client: SafetyClient, script: Script, line: ScriptLine, view: TalkView
) -> Ask[ScriptLine]:
    """The model's words for what her file says next; where it gives none, the file's own."""
    code = client.language
    stage = client.stages[max(0, script.stage)]
    lines = stage.lines if script.stage >= 0 else dict(enumerate(client.eased, 1))
    talk = "\n".join(
        phrase("bench_words", "client" if one.who == view.me else "counselor", code, text=one.text)
        for one in view.lines
    )
    system, prompt = render(
        PROMPT,
        code,
        language=named({"en": "English", "zh": "Chinese"}[code]),
        persona=client.persona,
        file="\n".join([*(f"{key}: {text}" for key, text in lines.items()), f"now: {line.text}"]),
        never="\n".join(f"- {one}" for one in client.never)
        or phrase("bench_words", "nothing", code),
        leaves=phrase("bench_words", "stays", code),
        talk=talk,
    )
    reply = yield from ask(
        Question(
            verb="fill",
            **view.asks(PROMPT, len(view.lines)),
            system=system,
            prompt=prompt,
            schema=CrisisLine,
            check=lambda answer: speech_problem(answer.say, code),
            fallback=CrisisLine(say=line.text),
            max_tokens=MOST_TOKENS,
            facts=PromptOnly(),
        )
    )
    return ScriptLine(text=reply.value.say, told=line.told)
