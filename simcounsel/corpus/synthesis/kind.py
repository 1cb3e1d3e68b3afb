"""What the core is told of syntheses: how one lies in its folder, and who does what with it."""

from simcounsel.record_kinds import RecordKind

HERE = "simcounsel.corpus.synthesis"
SYNTHESIS = RecordKind(
    noun="synthesis",
    nouns="syntheses",
    about="synthesis",
    file="synthesis.json",
    older=("manifest.json",),
    marks=("extracted", "session_ended"),
    unit="wave",
    done="written",
    again="writes",
    otherwise="with other settings",
    lost=("settings, situations and models are not known",) * 2,
    says=(
        "a synthesis of dialogues, in which nobody lives; look at it with `simcounsel view"
        " {folder}`, make training data of it with `simcounsel export {folder}`"
    ),
    key="situations",
    report="study corpus",
    parts={
        "record": f"{HERE}.record:SynthesisRecord",
        "check": f"{HERE}.settings_file:load_synthesis",
        "resume": f"{HERE}.commands:resume",
        "fork": f"{HERE}.commands:fork",
        "show": f"{HERE}.commands:show",
        "page": f"{HERE}.pages:PAGE",
        "experiment": f"{HERE}.cells:EXPERIMENT",
        "going": f"{HERE}.cells:going",
        "by_rule": f"{HERE}.cells:by_rule",
        "plan_lines": f"{HERE}.cells:plan_lines",
        "dialogues": f"{HERE}.account:dialogues_of",
        "talks": f"{HERE}.sessions:sessions_of",
    },
)
