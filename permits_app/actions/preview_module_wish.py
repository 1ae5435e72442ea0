"""An agent takes up what a module wished for: the preview gets the wish's own parameters, and the permit its origin.

The wish has no force. It is looked up for this golem alone, in its time, while the definition it came from is still
approved; then it is previewed like anything an agent asks for. Locks nothing and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from permits_app.errors import WishDiffers, WishNotFound
from permits_app.previews.request_words import WISH_ID, read_params
from tools_app.core.clock import AHEAD
from tools_app.core.json_types import JsonObject
from tools_app.models import ActionWish
from tools_app.select_tool_for_venue import normalize_key
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.tooldef import ForeignReadTool


def preview_module_wish(
    *, golem_id: UUID, body: Mapping[str, object], toolset: Toolset, now: datetime
) -> tuple[Mapping[str, object], JsonObject]:
    """`body` with the parameters of the wish it names, and whose wish that is; unchanged and nothing without one.

    Raises WishNotFound for none of this golem, an old one, or one whose module was revoked; WishDiffers where the body
    asks for something else than the wish.
    """
    given = body.get(WISH_ID)
    if given is None:
        return body, {}
    wish = _find(golem_id, given, now)
    row = wish.definition if wish is not None else None
    pinned = {tool.pinned_hash for tool in toolset if isinstance(tool, ForeignReadTool)}
    if wish is None or row is None or row.definition_hash not in pinned:
        raise WishNotFound("there is no such wish: it is not this golem's, too old, or its module was revoked")
    differing = sorted(name for name, value in _asked(body).items() if not _agrees(value, _wished(wish).get(name)))
    if differing:
        raise WishDiffers(f"the wish says otherwise: {', '.join(differing)}", fields=differing)
    origin = {
        "wish_id": str(wish.pk),
        "tool": row.name,
        "version": row.version,
        "definition_hash": row.definition_hash,
        "call_id": str(wish.run_id),
        "why": {"untrusted": True, "value": wish.why},
    }
    return {**_wished(wish), WISH_ID: given, **({"why": body["why"]} if body.get("why") else {})}, origin


def _find(golem_id: UUID, given: object, now: datetime) -> ActionWish | None:
    try:
        wish_id = UUID(str(given))
    except ValueError:
        return None
    rows = ActionWish.objects.select_related("definition")
    # One that was made in a future that did not come is over.
    return rows.filter(pk=wish_id, golem_id=golem_id, expires_at__gt=now, created_at__lte=now + AHEAD).first()


def _wished(wish: ActionWish) -> dict[str, object]:
    venue = {"venue": wish.venue} if wish.venue else {}
    return {"action_type": wish.action_type, **venue, **wish.params}


def _asked(body: Mapping[str, object]) -> dict[str, object]:
    words = {name: body[name] for name in ("action_type", "venue") if body.get(name) is not None}
    return {**words, **{name: value for name, value in read_params(body).items() if value is not None}}


def _agrees(asked: object, wished: object) -> bool:
    if isinstance(asked, str) and isinstance(wished, str):
        return normalize_key(asked) == normalize_key(wished)
    return bool(asked == wished)
