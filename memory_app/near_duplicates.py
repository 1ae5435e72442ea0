"""Near duplicates: the same thing said in almost the same words. Pure.

Shingles of four characters find texts that share most of their letters (MinHash bands make that a lookup), vectors
find those that share their meaning. Either way the numbers, the negations and the verdict must be the same: a
position 4812 is no position 5530, and what worked is no copy of what failed.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

SHINGLE = 4
BANDS = 12
ROWS = 3
LEAST_JACCARD = 0.6
LEAST_COSINE = 0.9
LEAST_JACCARD_WITH_COSINE = 0.3
_PRIME = (1 << 61) - 1
_WORD = re.compile(r"[^\W_]+(?:[.,][0-9]+)*")
_HAS_DIGIT = re.compile(r"[0-9]")
_VERDICT_WORDS = frozenset(
    "not no never none nobody nothing without cannot failed fails fail reverted reverts revert refused lost loss "
    "gained profit less more higher lower above below before after up down rose fell".split()
)


def _coefficients(index: int) -> tuple[int, int]:
    digest = hashlib.blake2b(f"near {index}".encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "big") % (_PRIME - 1) + 1, int.from_bytes(digest[8:], "big") % _PRIME


_PERMUTATIONS = tuple(_coefficients(index) for index in range(BANDS * ROWS))


def split_words(text: str) -> list[str]:
    """The words and numbers of `text` in order, in lower case, without signs."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def make_shingles(text: str) -> frozenset[str]:
    """Every run of four characters of the words of `text`, joined by single spaces."""
    joined = " ".join(split_words(text))
    return frozenset(joined[at : at + SHINGLE] for at in range(max(1, len(joined) - SHINGLE + 1)))


def make_near_keys(text: str) -> list[int]:
    """One key a band; two texts whose shingles overlap by 0.7 share one in 99 of 100 cases. Fits 63 bits."""
    hashes = [
        int.from_bytes(hashlib.blake2b(shingle.encode(), digest_size=8).digest(), "big")
        for shingle in make_shingles(text)
    ]
    least = [min((a * value + b) % _PRIME for value in hashes) for a, b in _PERMUTATIONS]
    keys = []
    for band in range(BANDS):
        part = ",".join(map(str, least[band * ROWS : (band + 1) * ROWS]))
        digest = hashlib.blake2b(f"{band}:{part}".encode(), digest_size=8).digest()
        keys.append(int.from_bytes(digest, "big") >> 1)
    return keys


def measure_jaccard(one: str, other: str) -> float:
    """The part of all shingles that both texts have, 0 to 1."""
    first, second = make_shingles(one), make_shingles(other)
    return len(first & second) / len(first | second)


def is_near_duplicate(one: str, other: str, *, cosine: float | None = None) -> bool:
    """Whether `other` says what `one` says. `cosine` is the similarity of their vectors, where both have one."""
    if _facts(one) != _facts(other):
        return False
    overlap = measure_jaccard(one, other)
    alike = cosine is not None and cosine >= LEAST_COSINE and overlap >= LEAST_JACCARD_WITH_COSINE
    return alike or overlap >= LEAST_JACCARD


def measure_cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Similarity of two unit vectors."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def _facts(text: str) -> tuple[Counter[str], Counter[str]]:
    words = split_words(text)
    return (
        Counter(word for word in words if _HAS_DIGIT.search(word)),
        Counter(word for word in words if word in _VERDICT_WORDS),
    )
