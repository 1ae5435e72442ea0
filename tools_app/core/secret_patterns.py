"""Recognises secrets of others by their form: keys of services, private keys, a wallet's words.

Each form is told by what it begins with, as its maker publishes it; lengths are the shortest that was handed out. What
has no form of its own, such as 64 hexadecimal digits that may be a key or the hash of a transaction, is not among them:
a key of this process is known by its fingerprint (`taint.py`).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

FORMS: Final[tuple[re.Pattern[str], ...]] = tuple(
    re.compile(form)
    for form in (
        # Makers of language models; a name with hyphens alone, such as sk-learn, has no digit.
        r"(?<![A-Za-z0-9_-])sk-(?=[A-Za-z_-]{0,120}[0-9])[A-Za-z0-9_-]{20,}",
        r"(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{30,}",
        # Payments.
        r"(?<![A-Za-z0-9_])[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
        r"(?<![A-Za-z0-9_])whsec_[A-Za-z0-9+/=]{24,}",
        # Clouds and mail.
        r"(?<![A-Z0-9])A(?:KI|SI)A[A-Z0-9]{16}(?![A-Z0-9])",
        r"(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{35}",
        r"(?<![A-Za-z0-9_-])ya29\.[A-Za-z0-9_-]{20,}",
        r"(?<![A-Za-z0-9_-])GOCSPX-[A-Za-z0-9_-]{20,}",
        r"(?<![A-Za-z0-9_])dop_v1_[0-9a-f]{64}",
        r"(?<![A-Za-z0-9_])shpat_[0-9a-fA-F]{32}",
        r"(?<![A-Za-z0-9_-])SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}",
        # Where code and packages lie.
        r"(?<![A-Za-z0-9])gh[oprsu]_[A-Za-z0-9]{36,}",
        r"(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{40,}",
        r"(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{20,}",
        r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}",
        r"(?<![A-Za-z0-9])pypi-[A-Za-z0-9_-]{50,}",
        # Messengers.
        r"(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,}",
        r"(?<![A-Za-z0-9])xapp-[A-Za-z0-9-]{20,}",
        r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
        # Signed tokens, and keys as files and texts hold them.
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,}",
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,8000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?",
        r"(?<![A-Z0-9-])AGE-SECRET-KEY-1[0-9A-Z]{58}",
        r"(?<![A-Za-z0-9])[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,}",
    )
)
MARKS: Final = (
    *("sk-", "hf_", "k_live_", "k_test_", "whsec_", "akia", "asia", "aiza", "ya29.", "gocspx-", "dop_v1_", "shpat_"),
    *("sg.", "gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_", "glpat-", "npm_", "pypi-", "xox", "xapp-", ":aa"),
    *("eyj", "-----begin", "age-secret-key-1", "prv"),
)
"""In small letters; every text that has one of the forms in it has one of these."""

LABELLED: Final = re.compile(
    r"(?i)\b(api[-_]?key|client[-_]?secret|secret[-_]?access[-_]?key|secret[-_]?key)"
    r"(['\"]?\s{0,9}[:=]\s{0,9}['\"]?)[^\s'\",;&}]{12,}"
)
LABELS: Final = ("apikey", "api_key", "api-key", "secret")
"""The same for what is told by its label alone."""

_SHORTEST: Final = 20
"""No form is shorter."""
_LEAST_WORDS: Final = 12
_LEAST_DIFFERENT: Final = 8
"""A word that is said again and again is no key."""
_RUN: Final = re.compile(r"(?<![a-z])(?:[a-z]{3,8}[ ,\n]{1,3}){11,}[a-z]{3,8}(?![a-z])")


def remove(text: str, instead: str) -> tuple[str, int]:
    """`text` with `instead` in the place of each of them, and how many kinds of them were there."""
    count = 0
    if len(text) < _SHORTEST:
        return text, count
    low = text.lower()
    if _has_one(low, MARKS):
        for form in FORMS:
            text, found = form.subn(instead, text)
            count += bool(found)
    if _has_one(low, LABELS):
        text, found = LABELLED.subn(rf"\1\2{instead}", text)
        count += bool(found)
    for words in find_word_lists(text):
        text = text.replace(words, instead)
        count += 1
    return text, count


def _has_one(low: str, marks: tuple[str, ...]) -> bool:
    # A loop is twice as quick as a generator here, and this is asked of every text.
    for mark in marks:
        if mark in low:
            return True
    return False


def find_word_lists(text: str) -> list[str]:
    """Twelve words or more in a row that are all on the list by which wallets write their keys (BIP-39, English)."""
    if text.count(" ") + text.count("\n") < _LEAST_WORDS - 1 or not _may_list_words(text):
        return []
    return [found for run in _RUN.finditer(text) for found in _list_known(run[0])]


def _may_list_words(text: str) -> bool:
    """Whether as many plain words in a row are on the list; of twelve the first and the last may have a quote."""
    known, row = _read_words(), 0
    for word in text.split():
        row = row + 1 if word.rstrip(",") in known else 0
        if row >= _LEAST_WORDS - 2:
            return True
    return False


def _list_known(run: str) -> list[str]:
    """The longest stretches of known words in a run of words."""
    known, found = _read_words(), []
    stretch: list[tuple[int, int]] = []
    for word in (*re.finditer(r"[a-z]+", run), None):
        if word is not None and word[0] in known:
            stretch.append(word.span())
            continue
        words = {run[start:end] for start, end in stretch}
        if len(stretch) >= _LEAST_WORDS and len(words) >= _LEAST_DIFFERENT:
            found.append(run[stretch[0][0] : stretch[-1][1]])
        stretch = []
    return found


@cache
def _read_words() -> frozenset[str]:
    # The file of a package that is here for signing; nothing else of it is loaded for this.
    from importlib.util import find_spec

    spec = find_spec("eth_account")
    if spec is None or spec.origin is None:
        return frozenset()
    words = Path(spec.origin).parent / "hdaccount" / "wordlist" / "english.txt"
    return frozenset(words.read_text(encoding="utf-8").split())
