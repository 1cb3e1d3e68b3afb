"""What a judge of a corpus is given: with which scale it rates, in which language, and what it sees
of a dialogue.
"""

from typing import get_args

from simcounsel.corpus.blind import blind_lines, blinding_of, hides_names
from simcounsel.corpus.checks.language import language_of
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.errors import CorpusError
from simcounsel.instruments.from_transcript import FROM_TRANSCRIPT, from_transcript
from simcounsel.instruments.material import CLIENT, COUNSELOR, Material
from simcounsel.instruments.scale import Scale, find_scale
from simcounsel.specs.vocabulary import Language


def scale_for(name_or_file: str) -> Scale:
    """A scale with which a dialogue can be rated: an observer's as it is, a client's questionnaire
    as an observer of the transcript answers it. CorpusError when it is about something else;
    SpecError when there is none.
    """
    scale = find_scale(name_or_file.removesuffix(FROM_TRANSCRIPT))
    if scale.respondent == "self":
        return from_transcript(scale)
    if name_or_file.endswith(FROM_TRANSCRIPT):
        raise CorpusError(
            f"{name_or_file}: {scale.id} is an observer's scale already; name {scale.id}"
        )
    if scale.sees == "personas":
        raise CorpusError(
            f"{scale.id}: it compares two versions of a persona and judges no transcript; choose"
            " an observer's scale of a conversation, such as dialogue_quality, or a client's"
            " questionnaire"
        )
    return scale


def asked_in(dialogue: Dialogue) -> Language:
    """The language in which a judge is asked about a dialogue: the dialogue's own, as it is said or
    can be told from the lines, where our prompts are there in it; else English.
    """
    spoken = dialogue.language or language_of("\n".join(dialogue.lines()))
    return next((one for one in get_args(Language) if one == spoken), "en")


def material_of(dialogue: Dialogue, scale: Scale) -> Material:
    """What the judge sees: the lines, and the client's file where the scale compares it with
    them.
    """
    profile, absent = None, None
    if scale.sees == "persona and transcript":
        if dialogue.situation:
            profile = blinding_of(dialogue, CLIENT).text(dialogue.situation)
        else:
            absent = "nothing is known of the client's file"
    return Material(
        lines=blind_lines(dialogue, CLIENT, COUNSELOR),
        profile=profile,
        chats=(dialogue.id,),
        absent=absent,
        blinded=hides_names(dialogue),
        language=asked_in(dialogue),
    )
