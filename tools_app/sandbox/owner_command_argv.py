"""The program and arguments of a command an owner wrote, and a call's values in their places. Pure.

A value is one whole argument and nothing reads it again: there is no shell, and a value is neither the program nor
what an interpreter would run. What a program does with its arguments is its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from tools_app.core.errors import InvalidParams
from tools_app.sandbox.definition import DefinitionRefused

_REFERENCE: Final = re.compile(r"^\$([a-z][a-z0-9_]*)$")
_END_OF_OPTIONS: Final = "--"
# Kinds whose values are closed: none of them is code, the name of a program, or an option.
_CLOSED: Final = frozenset({"choice", "flag", "integer", "amount", "chain_id", "address"})
# What follows these is code, or a program, in many programs.
_CODE_OPTIONS: Final = frozenset({"-c", "-e", "-x", "--eval", "--exec", "--execute", "--command", "--config", "-exec"})
# Programs whose first words may be code, or another program.
_INTERPRETERS: Final = re.compile(
    r"^(?:(?:ba|da|a|z|k|c|tc|fi|pw)?sh|busybox|toybox|env|xargs|eval|exec|sudo|su|doas|ssh|nohup|setsid|setpriv|nice"
    r"|ionice|stdbuf|timeout|time|watch|parallel|chroot|unshare|nsenter|bwrap|script|expect|make|find|vi|vim|ed|ex|sed"
    r"|[gmn]?awk|perl[0-9.]*|python[0-9.]*|pypy[0-9.]*|ruby[0-9.]*|node|nodejs|deno|bun|php[0-9.]*|lua[0-9.]*|tclsh)$"
)
_PYTHON: Final = re.compile(r"^(?:python|pypy)[0-9.]*$")


def check_argv(argv: Sequence[str], *, declared: Mapping[str, Mapping[str, object]]) -> set[str]:
    """The parameters that `argv` uses. Raises DefinitionRefused for one whose values could be more than a value."""
    used: set[str] = set()
    for place, item in enumerate(argv):
        if not item or not item.isprintable():
            raise DefinitionRefused(f"command.argv[{place}]: one printable line", where="command.argv")
        if not item.startswith("$"):
            continue
        found = _REFERENCE.match(item)
        if found is None:
            raise DefinitionRefused(
                f"command.argv[{place}]: an argument is a text, or $name of a parameter and nothing beside it",
                where="command.argv",
            )
        used.add(found[1])
        _check_place(argv, place, declared.get(found[1], {}))
    if argv[0].startswith("-"):
        raise DefinitionRefused("command.argv[0] is a program", where="command.argv")
    return used


def _check_place(argv: Sequence[str], place: int, told: Mapping[str, object]) -> None:
    if place == 0:
        raise DefinitionRefused("command.argv[0] is a program and no parameter", where="command.argv")
    before = argv[:place]
    if before[-1].startswith("-") and before[-1] != _END_OF_OPTIONS and told.get("required", True) is not True:
        raise DefinitionRefused(
            f"command.argv[{place}]: what follows the option {before[-1]!r} is required", where="command.argv"
        )
    if told.get("kind") not in _CLOSED and (before[-1] in _CODE_OPTIONS or _may_be_code(before)):
        raise DefinitionRefused(
            f"command.argv[{place}]: a value there could be code or a program; name a program of the folder such as"
            " ./check.sh before it, or let it be a choice",
            where="command.argv",
        )


def _may_be_code(before: Sequence[str]) -> bool:
    """Whether the next word is still the interpreter's own, and not an argument of the file or module it runs."""
    found = [place for place, item in enumerate(before) if _INTERPRETERS.match(_base(item))]
    if not found:
        return False
    after = before[found[-1] + 1 :]
    if _PYTHON.match(_base(before[found[-1]])) and len(after) > 1 and after[0] == "-m":
        return after[1].startswith("$")
    return not (after and after[0].startswith("./"))


def _base(item: str) -> str:
    return PurePosixPath(item).name


def fill_argv(argv: Sequence[str], given: Mapping[str, object]) -> tuple[str, ...]:
    """The arguments of one call; what was not given is left out. Raises InvalidParams.

    A value that begins with a hyphen could be an option, unless `--` stands before it.
    """
    filled: list[str] = []
    is_past_options = False
    for item in argv:
        found = _REFERENCE.match(item)
        if found is None:
            filled.append(item)
            is_past_options = is_past_options or item == _END_OF_OPTIONS
            continue
        value = given.get(found[1])
        if value is None:
            continue
        text = ("true" if value else "false") if isinstance(value, bool) else str(value)
        if not text or not text.isprintable() or (text.startswith("-") and not is_past_options):
            raise InvalidParams(
                f"{found[1]} cannot be an argument: one printable line that does not begin with a hyphen",
                fields={found[1]: "one line, not an option"},
            )
        filled.append(text)
    return tuple(filled)
