"""PatientHub's schemas of two simulators, by their names of fields (patienthub/schemas)."""

from pydantic import BaseModel, ConfigDict, Field


class PatientPsiShape(BaseModel):
    """One record. `id` and `intensity` are no fields of PatientHub's, which lets others be."""

    model_config = ConfigDict(extra="forbid", strict=True)
    name: str
    id: str
    history: str
    helpless_belief: list[str]
    unlovable_belief: list[str]
    worthless_belief: list[str]
    intermediate_belief: str
    intermediate_belief_depression: str
    coping_strategies: str
    situation: str
    auto_thought: str
    emotion: list[str]
    intensity: int | None = None
    behavior: str


class EeyoreProfile(BaseModel):
    """Whom Eeyore plays."""

    model_config = ConfigDict(extra="forbid", strict=True)
    name: str
    gender: str
    age: str
    marital_status: str = Field(alias="marital status")
    occupation: str
    situation: str = Field(alias="situation of the client")
    resistance: str = Field(alias="resistance toward the support")
    symptom_severity: dict[str, str] = Field(alias="symptom severity")
    cognition_distortion: dict[str, str] = Field(alias="cognition distortion exhibition")
    depression_severity: str = Field(alias="depression severity")
    suicidal_ideation_severity: str = Field(alias="suicidal ideation severity")
    homicidal_ideation_severity: str = Field(alias="homicidal ideation severity")
    counseling_history: str = Field(alias="counseling history")


class EeyoreShape(BaseModel):
    """One character."""

    model_config = ConfigDict(extra="forbid", strict=True)
    profile: EeyoreProfile


SHAPES: dict[str, type[BaseModel]] = {"patientpsi": PatientPsiShape, "eeyore": EeyoreShape}
