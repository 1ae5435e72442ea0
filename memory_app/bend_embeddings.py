"""Bends the model's vectors of episodes and of questions to them towards what is alike in this trade.

The embedding model was taught on everyday texts: "closed by force" and "liquidated" lie far apart to it. One matrix
moves what says the same thing here together and the rest apart. `tests/bench/likeness.py` fits it to sentences that say
one thing in several ways; a vector v becomes v + vW at length one. Vectors of insights and of situations stay as they
are, and so does what is held against texts that steer. numpy is loaded when the first vector is bent.

See docs/decisions/0626-vectors-of-episodes-are-bent-to-the-trade.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from memory_app.errors import EmbeddingUnavailable

FILE: Final = Path(__file__).with_name("bend_embeddings.f16")
"""W, row by row: half-precision numbers, little-endian, dimensions times dimensions."""
SHA256: Final = "cd577fd18b585e95207ebfee531c66889244e7b710d86e3180a29525cfc05433"


def bend(vectors: Sequence[Sequence[float]]) -> list[list[float]]:
    """Each of `vectors`, bent, at length one; one of zeros stays. Raises EmbeddingUnavailable without its matrix."""
    return _turn(vectors, _read()[0])


def straighten(vector: Sequence[float]) -> list[float]:
    """What the model wrote where `vector` is what `bend` made of it, at length one. Raises EmbeddingUnavailable."""
    return _turn([vector], _read()[1])[0]


def _turn(
    vectors: Sequence[Sequence[float]],
    matrix: Any,  # Any: fastembed and numpy are untyped here
) -> list[list[float]]:
    import numpy as np

    if not vectors:
        return []
    turned = np.asarray(vectors, dtype=np.float64) @ matrix
    lengths = np.linalg.norm(turned, axis=1, keepdims=True)
    made: list[list[float]] = (turned / np.where(lengths > 0, lengths, 1.0)).tolist()
    return made


@cache
def _read() -> tuple[Any, Any]:  # Any: fastembed and numpy are untyped here
    """The matrix that bends, and the one that takes it back."""
    import numpy as np

    try:
        content = FILE.read_bytes()
    except OSError as error:
        raise EmbeddingUnavailable(f"{FILE.name} is missing; check the product out again") from error
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise EmbeddingUnavailable(f"{FILE.name} is not the file this product was built with")
    size = settings.GOLEM_EMBEDDING_DIMENSIONS
    matrix = np.eye(size) + np.frombuffer(content, dtype="<f2").reshape(size, size).astype(np.float64)
    return matrix, np.linalg.inv(matrix)
