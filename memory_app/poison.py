"""Signs that a text was written to steer an agent rather than to tell what happened. Pure.

A sign quarantines a memory that did not come from a receipt; it is a filter, not the fence. The fence is that no code
reads rules from memory: what slips through is still data that can move nothing but soft parameters.
"""

from __future__ import annotations

import re
from typing import Final

from tools_app.core.invisible_text import count_invisible, drop_invisible

_MOST_HIDDEN: Final = 2
_LIMIT_WORDS: Final = (
    r"(limits?|caps?|allow-?lists?|guardian|approvals?|safety|hooks?|cage|guard-?rails?|simulations?|permits?|checks?)"
)
_SIGNS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (reason, re.compile(pattern, re.IGNORECASE | re.DOTALL))
    for reason, pattern in (
        (
            "tells its reader to ignore instructions",
            r"\b(ignore|disregard|forget|override)\b.{0,30}\b(previous|prior|above|earlier|all|any|every|your|other)\b"
            r".{0,30}\b(instructions?|rules?|prompts?|directives?|limits?|guidelines?)\b",
        ),
        (
            "speaks as the system or to the model",
            r"(<\|?(im_start|system|assistant|endoftext)|\[/?INST\]|\bsystem prompt\b"
            r"|^\s*(system|assistant|developer)\s*:|\byou are (now|no longer)\b|\bact as (a|an|the)\b|\bas an ai\b"
            r"|\bnew instructions?\b|\bdeveloper mode\b)",
        ),
        (
            "asks to loosen a protection",
            r"\b(disable|bypass|skip|remove|lift|turn off|switch off|circumvent|deactivate|raise|increase|loosen)\b"
            rf".{{0,30}}\b(the|your|all|any|every|its|this)\b.{{0,20}}\b{_LIMIT_WORDS}",
        ),
        (
            "claims that something was approved or needs no permit",
            r"\b(already|pre-?)\s?-?(approved|authori[sz]ed)\b"
            r"|\bno (permit|approval|review|simulation) (is )?(needed|required|necessary)\b"
            r"|\bwithout (a |any )?(permit|approval|review|simulation|confirmation)\b.{0,20}"
            r"\b(send|transfer|swap|approve|trade)",
        ),
        (
            "asks to move everything or to a given account",
            r"\b(send|transfer|move|withdraw|drain|forward|sweep)\b.{0,20}\b(all|everything|entire|whole|full|max(imum)?)"
            r"\b.{0,60}(0x[0-9a-f]{6,}|\bto (me|this|the following|my)\b)",
        ),
        (
            "asks for unlimited spending rights",
            r"\b(always|must|should|please|now|immediately)\b.{0,30}\b(approve|grant|allow)\b.{0,40}"
            r"\b(unlimited|infinite|max(imum)?|everything)\b",
        ),
        (
            "asks for a secret",
            r"\b(reveal|print|show|send|share|export|post|tell|give|output|leak)\b.{0,40}\b(private key|seed phrase|"
            r"mnemonic|pass ?phrase|api key|password|secret)\b",
        ),
        ("carries a link that would leak what it is shown with", r"!\[[^\]]*\]\(\s*https?://|\bdata:text/html"),
        ("carries a long encoded block", r"(?<![0-9a-zA-Z+/=])[A-Za-z0-9+/]{180,}={0,2}(?![0-9a-zA-Z+/=])"),
        (
            "says what the agent must do from now on",
            r"\b(from now on|in every future|for all future|whenever you|you must (always|never)|always (swap|send|buy|"
            r"sell|transfer|approve|use)\b.{0,40}\b(slippage|recipient|0x[0-9a-f]{6,}))",
        ),
    )
)


def find_poison(text: str) -> tuple[str, ...]:
    """The signs found in `text` as it came, each as a reason in words; empty when there are none.

    The words are read as a person sees them, so that nothing invisible between two letters hides a sign.
    """
    seen = drop_invisible(text)
    found = [reason for reason, pattern in _SIGNS if pattern.search(seen)]
    if count_invisible(text) > _MOST_HIDDEN:
        found.append("hides characters that nobody sees")
    return tuple(found)


def describe_poison(signs: tuple[str, ...]) -> str:
    """The reason of a quarantine, at most 200 characters."""
    return f"poison scan: its text {'; '.join(signs)}"[:200]
