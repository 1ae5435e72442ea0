"""Lists the bad fields of a body as one flat object, each with its fault."""

from __future__ import annotations

from collections.abc import Mapping


def flatten_detail(detail: object, path: str = "") -> dict[str, str]:
    """A serializer's nested messages as one level: `{"filters.tags": "…"}`."""
    if isinstance(detail, Mapping):
        flat: dict[str, str] = {}
        for name, inner in detail.items():
            place = path if name == "non_field_errors" else f"{path}.{name}".lstrip(".")
            flat.update(flatten_detail(inner, place))
        return flat
    if isinstance(detail, list):
        return {path or "body": " ".join(str(text) for text in detail)}
    return {path or "body": str(detail)}
