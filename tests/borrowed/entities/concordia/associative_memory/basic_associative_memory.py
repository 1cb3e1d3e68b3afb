"""Texts with their vectors."""


class AssociativeMemoryBank:
    def __init__(self, sentence_embedder=None):
        self.embed, self.rows = sentence_embedder, []

    def add(self, text):
        if text not in [one for one, _ in self.rows]:
            self.rows.append((text, self.embed(text)))

    def extend(self, texts):
        for text in texts:
            self.add(text)

    def nearest(self, text):
        near = self.embed(text)
        return max(self.rows, key=lambda row: float(row[1] @ near))[0]

    def get_all_memories_as_text(self):
        return [text for text, _ in self.rows]
