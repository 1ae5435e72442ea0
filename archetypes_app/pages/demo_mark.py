"""The mark of a golem that the demo or a measurement made."""

from __future__ import annotations

from django.utils.safestring import SafeString

from archetypes_app.models import Golem
from archetypes_app.models.golem import Maker
from tools_app.pages.html import show_badge

_WORDS = {Maker.DEMO: "demo", Maker.MEASUREMENT: "measurement"}


def show_maker(golem: Golem) -> SafeString:
    """Empty for a golem of somebody's own."""
    words = _WORDS.get(Maker(golem.made_by))
    return show_badge(words, "quiet") if words else SafeString("")
