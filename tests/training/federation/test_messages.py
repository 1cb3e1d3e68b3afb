"""What travels: there and back, how many bytes, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save

from tests.each import each
from training.errors import TrainingError
from training.federation.messages import decoded, encoded


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def lora(both: bool = True) -> dict[str, np.ndarray]:
    """SmolLM2-135M, rank 16 on q and v: 921,600 numbers; lora_A is 16 x 576 twice in a layer, lora_B 576 x 16 and 192 x 16."""
    drawn = rng(3)
    found = {}
    for layer in range(30):
        for name, out in (("q_proj", 576), ("v_proj", 192)):
            stem = f"base_model.model.model.layers.{layer}.self_attn.{name}"
            found[f"{stem}.lora_B.weight"] = (1e-3 * drawn.standard_normal((out, 16))).astype(
                np.float32
            )
            if both:
                found[f"{stem}.lora_A.weight"] = (1e-2 * drawn.standard_normal((16, 576))).astype(
                    np.float32
                )
    return found


def test_fp32_is_bit_exact_and_facts_go_along() -> None:
    weights = lora()
    message = decoded(encoded(weights, "fp32", {"round": "3"}, rng()), "fp32")
    assert all(np.array_equal(message.weights[key], value) for key, value in weights.items())
    assert message.facts["round"] == "3" and message.weights.keys() == weights.keys()


def test_traffic_of_smollm2_is_what_was_promised() -> None:
    raw = sum(value.nbytes for value in lora().values())
    assert raw == 4 * 30 * (2 * 16 * 576 + 576 * 16 + 192 * 16) == 3_686_400
    plain = len(encoded(lora(), "fp32", {"round": "1"}, rng()))
    small = len(encoded(lora(both=False), "int8", {"round": "1"}, rng()))
    assert raw < plain < 1.02 * raw
    assert small < 0.15 * raw
    assert len(encoded(lora(), "fp16", {}, rng())) < 0.51 * raw


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(1, 9),
    columns=st.integers(1, 9),
    size=st.floats(1e-6, 1e3),
    seed=st.integers(0, 999),
    send=st.sampled_from(["fp16", "int8"]),
)
def test_rounding_moves_no_number_by_more_than_a_step(
    rows: int, columns: int, size: float, seed: int, send: str
) -> None:
    weights = {
        "a": (size * rng(seed).standard_normal((rows, columns))).astype(np.float32),
        "b": np.zeros((2, 3), np.float32),
    }
    message = decoded(encoded(weights, send, {}, rng(seed)), send)  # type: ignore[arg-type]
    off = np.abs(message.weights["a"].astype(float) - weights["a"])
    magnitude = np.abs(weights["a"])
    line = magnitude.max(axis=int(np.argmax(magnitude.shape)), keepdims=True)
    step = line / 127 if send == "int8" else magnitude * 2**-11 + 2**-25
    assert (off <= step * (1 + 1e-5)).all()
    assert not message.weights["b"].any()


def test_int8_rounds_without_bias_and_repeats_by_its_key() -> None:
    weights = {"a": np.full((4, 4000), 0.1, np.float32)}
    weights["a"][:, 0] = 127
    back = decoded(encoded(weights, "int8", {}, rng(1)), "int8").weights["a"][:, 1:]
    assert set(np.unique(back)) == {0, 1}  # a step is 1; the nearest would always be 0
    assert back.mean() == pytest.approx(0.1, abs=0.01)  # standard error 0.0024
    assert (
        encoded(weights, "int8", {}, rng(1))
        == encoded(weights, "int8", {}, rng(1))
        != encoded(weights, "int8", {}, rng(2))
    )


def test_int8_scales_each_component_by_itself() -> None:
    small = {
        "b": np.tile(np.array([1.0, 1e-4], np.float32), (50, 1))
    }  # two components, of very different size
    back = decoded(encoded(small, "int8", {}, rng()), "int8").weights["b"]
    np.testing.assert_allclose(back, small["b"], rtol=0.02)


@each(
    ("bad", "why"),
    [
        (b"", "no message"),
        (b"\x00" * 40, "no message"),
        (save({"a": np.zeros(2, np.float32)}), "sent as nothing known"),
        (save({"a": np.zeros(2, np.float64)}, metadata={"send": "fp32"}), "float64, not float32"),
        (
            save({"a": np.zeros(2, np.float32)}, metadata={"send": "int8"}),
            "sent as int8, but fp32 was agreed",
        ),
    ],
)
def test_what_is_no_message_is_said(bad: bytes, why: str) -> None:
    with pytest.raises(TrainingError, match=why):
        decoded(bad, "fp32")


def test_missing_scales_are_said() -> None:
    with pytest.raises(TrainingError, match="0 scales do not fit"):
        decoded(save({"a": np.zeros((2, 2), np.int8)}, metadata={"send": "int8"}), "int8")


@pytest.mark.parametrize("send", ["fp32", "fp16", "int8"])
def test_what_is_not_finite_is_not_sent(send: str) -> None:
    for bad in (np.nan, np.inf):
        with pytest.raises(TrainingError, match="'a' has entries that are not finite"):
            encoded({"a": np.array([[bad, 1]], np.float32)}, send, {}, rng())  # type: ignore[arg-type]


def test_float16_does_not_overflow_silently() -> None:
    with pytest.raises(TrainingError, match="float16 ends at 65504"):
        encoded({"a": np.array([[1e5]], np.float32)}, "fp16", {}, rng())
