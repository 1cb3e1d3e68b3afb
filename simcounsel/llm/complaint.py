"""What a model is told of an answer that cannot be used."""


class Complaint(str):
    """What was wrong with an answer, in words for the model that gave it, with the answer."""

    answer: str

    def __new__(cls, text: str, answer: str = "") -> "Complaint":
        """answer: as it came; '' where none came."""
        self = super().__new__(cls, text)
        self.answer = answer
        return self
