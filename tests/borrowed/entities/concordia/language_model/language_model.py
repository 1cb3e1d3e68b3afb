"""The base of models."""


class LanguageModel:
    """`sample_text(prompt, ...)`, `sample_choice(prompt, responses)`."""
