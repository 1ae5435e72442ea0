"""Derives the hints that every interface gives with a tool: reads only, destructive, idempotent.

A hint decides nothing: scopes, hooks and limits hold whatever a client believes. Words: Model Context Protocol,
"Tool annotations".
"""

from __future__ import annotations

from archetypes_app.models.api_key import Scope
from golem_project.pi.pi_tool import PiToolDef
from tools_app.toolkit.enums import CapabilityTier
from tools_app.toolkit.tooldef import ReadTool, ToolDef

_LOCAL_VENUES = frozenset({"memory", "golem"})
_ONCE = frozenset({Scope.READ, Scope.COMMIT, Scope.HALT})
"""Scopes whose calls may be repeated: a read changes nothing, a permit is used once, what is halted stays halted."""
_FINAL = frozenset({Scope.COMMIT, Scope.HALT})
_OUTWARD = frozenset({Scope.READ, Scope.PREVIEW, Scope.COMMIT, Scope.HALT})


def annotate(tool: ToolDef) -> dict[str, bool]:
    """Of an action or query: whether it only reads, may end something that was, may be repeated, reaches outside."""
    is_read = isinstance(tool, ReadTool)
    return {
        "read_only": is_read,
        "destructive": not is_read,
        "idempotent": is_read,
        "open_world": tool.venue not in _LOCAL_VENUES,
        "needs_owner_approval": tool.capability is CapabilityTier.PRIVILEGED,
    }


def annotate_pi_tool(tool: PiToolDef) -> dict[str, bool]:
    """The same of one of the eight: a preview sends nothing, so only a commit and a halt cannot be taken back."""
    return {
        "read_only": not tool.is_write,
        "destructive": tool.scope in _FINAL,
        "idempotent": tool.scope in _ONCE,
        "open_world": tool.scope in _OUTWARD,
    }
