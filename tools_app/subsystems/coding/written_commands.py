"""A golem's workspace for programs that its owner wrote down. Keeps `sandbox.written_command.WorkspaceCommands`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tools_app.subsystems.coding.commands import describe_command, run_command
from tools_app.subsystems.coding.content import ResultShape
from tools_app.subsystems.coding.errors import WorkspaceChanged
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.plan import LocalEffect

_DEFINITION: Final = "definition"
_ARGV: Final = "argv"


class WrittenCommands:
    """Programs with their arguments, by the way of `coding_bash` but without its shell."""

    def preview(
        self, ctx: WriteContext, argv: Sequence[str], *, timeout_ms: int, tool: str, definition_hash: str
    ) -> LocalEffect:
        """See WorkspaceCommands."""
        return describe_command(
            ctx,
            shown=shlex.join(argv),
            details={"argv": list(argv), "tool": tool, "definition_hash": definition_hash},
            timeout_ms=timeout_ms,
            bound={_DEFINITION: definition_hash, _ARGV: list(argv)},
            note=f"; {tool} of the owner, {len(argv)} words that no shell reads",
        )

    def run(
        self,
        ctx: WriteContext,
        capability: Capability,
        argv: Sequence[str],
        *,
        timeout_ms: int,
        tool: str,
        definition_hash: str,
    ) -> Mapping[str, Any]:  # Any: JSON of an answer
        """See WorkspaceCommands."""
        if (capability.bound.get(_DEFINITION), capability.bound.get(_ARGV)) != (definition_hash, list(argv)):
            raise WorkspaceChanged("this is not the command that was previewed; preview it again")
        output = run_command(ctx, capability, tuple(argv), timeout_ms=timeout_ms)
        return output.as_untrusted(tool=tool, shape=ResultShape.BLOCKS)
