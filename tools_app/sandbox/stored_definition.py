"""A stored definition of any form, checked as if it were new, and as the TOML it is read from."""

from __future__ import annotations

from collections.abc import Mapping

import tomli_w

from tools_app.sandbox import definition, owner_toml_definition
from tools_app.sandbox.definition import Definition, DefinitionRefused


def check_stored(body: Mapping[str, object]) -> Definition:
    """The definition of a stored body. Raises DefinitionRefused."""
    match body.get("format"):
        case definition.FORMAT:
            return definition.check_definition(body)
        case owner_toml_definition.FORMAT:
            return owner_toml_definition.check_written(body)
    raise DefinitionRefused("this is no definition of a tool")


def write_toml(body: Mapping[str, object]) -> str:
    """The text that reads back to the same definition; a module's bytes are a file beside it."""
    return tomli_w.dumps({name: value for name, value in body.items() if name not in ("format", "module")})
