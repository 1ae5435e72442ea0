"""PiToolDef: one of the eight Pi-facing tools as a language model is shown it."""

from __future__ import annotations

from dataclasses import dataclass

from archetypes_app.models.api_key import Scope
from golem_project.pi.json_schema import Schema
from golem_project.pi.shorten_schema import show_parameters
from tools_app.toolkit.enums import Phase, PiTool


@dataclass(frozen=True, slots=True)
class Guideline:
    """One rule of use; `phases` empty means always."""

    text: str
    phases: tuple[Phase, ...] = ()

    def as_sentence(self) -> str:
        """The rule as unconditional text, its phases named in it."""
        if not self.phases:
            return self.text
        return f"In {' or '.join(self.phases)}: {self.text}"


@dataclass(frozen=True, slots=True)
class PiToolDef:
    """One of the eight. `parameters` is a closed and flat JSON Schema; `shown` the same as a model is shown it."""

    name: PiTool
    label: str
    description: str
    snippet: str
    guidelines: tuple[Guideline, ...]
    parameters: Schema
    scope: Scope
    is_write: bool
    schema_version: int = 2
    has_more: bool = False
    """Whether the golem has tools behind it that are not shown: then no list of words may keep them out."""

    @property
    def shown(self) -> Schema:
        """Every property of `parameters`, in few tokens."""
        return show_parameters(self.parameters, has_more=self.has_more)
