"""A synthesis: a record (see `runs.record`) in which dialogues are written, and nobody lives.

synthesis.json   the settings with their situations, in full; versions, models, parentage
events.jsonl     all that happened, a wave of sessions after the other
calls.jsonl      all that was asked of models

Earlier versions called the first `manifest.json`, as that of a run. They are read as they are; the
first that is written to one gives it its name of today, with the same fields.
"""

from simcounsel.corpus.synthesis.kind import SYNTHESIS
from simcounsel.corpus.synthesis.settings import Synthesis
from simcounsel.errors import RunError
from simcounsel.runs.manifest import Manifest, write_manifest
from simcounsel.runs.record import Record


class SynthesisManifest(Manifest):
    """Where a synthesis comes from."""

    synthesis: Synthesis
    """What is written."""


class SynthesisRecord(Record[SynthesisManifest]):
    """A synthesis' folder. `create` begins one, `open` goes on with it."""

    kind = SYNTHESIS
    manifest_class = SynthesisManifest

    @property
    def settings(self) -> Synthesis:
        """As they were when it began."""
        return self.manifest.synthesis

    about = settings

    @property
    def length(self) -> int:
        """How many waves there will be."""
        return self.settings.waves

    def begin_writing(self) -> int:
        """As of any record; one of an earlier version becomes one of today."""
        done = super().begin_writing()
        file = self.kind.manifest_in(self.folder)
        if file.name != self.kind.file:
            try:
                write_manifest(self.folder / self.kind.file, self.manifest.model_dump(mode="json"))
                file.unlink()
            except OSError as error:
                self.end_writing()
                raise RunError(
                    f"{self.folder}: cannot be written ({error.strerror}); free some space"
                ) from None
        return done
