"""Leaves accounts and amounts of money out of words that nobody checked. Pure.

What an agent noted, or another golem left, may say that a pool was slow at noon. It may not say where money goes, or
how much: whoever reads it asks the registry and the chain, which cannot be talked into an answer.
"""

from __future__ import annotations

import re
from typing import Final

from memory_app.models.insight import Insight
from memory_app.models.provenance import Source, Trust
from tools_app.core.invisible_text import drop_invisible

ACCOUNT_LEFT_OUT: Final = "[an account, left out: the registry and the chain tell accounts]"
AMOUNT_LEFT_OUT: Final = "[an amount, left out: the chain tells amounts]"
_ACCOUNTS: Final = (
    # Hexadecimal, with letters of other alphabets that look like its two first, and with gaps between its digits.
    re.compile(r"[0oO\u039f\u041e\u043e][xX\u0425\u0445\u00d7][\s_-]?(?:[0-9a-fA-F][\s_.-]?){6,}"),
    re.compile(r"\b[\w-]{1,64}(?:\.[\w-]{1,64})*\.(?:eth|lens|sol|crypto|base)\b", re.IGNORECASE),
    re.compile(r"\b(?=[1-9A-HJ-NP-Za-km-z]*[0-9])[1-9A-HJ-NP-Za-km-z]{32,44}\b"),
)
_NUMBER: Final = r"[0-9][0-9,._'\u202f]*(?:\s?(?:k|mn?|bn?|thousand|million|billion)\b)?"
_AMOUNTS: Final = (
    re.compile(rf"[$\u20ac\u00a3]\s?{_NUMBER}", re.IGNORECASE),
    re.compile(rf"\b{_NUMBER}\s?(?!(?:UTC|AM|PM|BPS)\b)[A-Z][A-Za-z0-9]*[A-Z][A-Za-z0-9]*\b"),
    re.compile(rf"\b{_NUMBER}\s?(?:dollars?|euros?|usd|eth|ether|gwei|wei|tokens?|coins?)\b", re.IGNORECASE),
    re.compile(r"\b[0-9][0-9,_']{6,}\b"),
)


def leave_out_claims(text: str) -> str:
    """`text` with a mark in place of every account and every amount of money."""
    told = drop_invisible(text)
    for pattern in _ACCOUNTS:
        told = pattern.sub(ACCOUNT_LEFT_OUT, told)
    for pattern in _AMOUNTS:
        told = pattern.sub(AMOUNT_LEFT_OUT, told)
    return told


def is_only_said(*, trust: str, source: str) -> bool:
    """Whether somebody said it and nobody checked it: an agent, or a golem whose archive was taken over."""
    return trust != Trust.VERIFIED and source in (Source.AGENT, Source.IMPORT)


def tell_insight(insight: Insight) -> str:
    """The text of an insight as an agent is told it."""
    if is_only_said(trust=insight.trust, source=insight.source):
        return leave_out_claims(insight.text)
    return insight.text
