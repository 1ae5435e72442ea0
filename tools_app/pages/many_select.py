"""A select of hundreds of options, written in one piece: a template for each takes a page of a few of them seconds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from unfold.widgets import UnfoldAdminSelectWidget

_END = "</select>"


class ManySelect(UnfoldAdminSelectWidget):
    """As its parent writes it, without groups."""

    def render(
        self, name: str, value: object, attrs: Mapping[str, object] | None = None, renderer: object = None
    ) -> SafeString:
        """The select of the template, with its options put in."""
        options = _write_options(tuple(self.choices))
        for chosen in self.format_value(value):
            option = _begin(chosen)
            options = options.replace(f"{option}>", f"{option} selected>", 1)
        bare = UnfoldAdminSelectWidget()
        bare.attrs = self.attrs
        before, end, after = bare.render(name, None, attrs, renderer).partition(_END)
        # Each of the four was escaped where it was written.
        return mark_safe(f"{before}{options}{end}{after}")  # noqa: S308


def _begin(value: Any) -> SafeString:  # Any: Django hands on any value
    return format_html('<option value="{}"', str(value))


@lru_cache(maxsize=16)
def _write_options(choices: tuple[tuple[Any, Any], ...]) -> str:  # Any: Django hands on any value
    return str(
        format_html_join(
            "\n", "{}>{}</option>", ((_begin(value), conditional_escape(label)) for value, label in choices)
        )
    )
