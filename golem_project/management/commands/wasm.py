"""`manage.py wasm wrap CORE`, `wasm check MODULE [DEFINITION]` and `wasm run MODULE DEFINITION`: what an author asks
before an upload.

Nothing is stored. `run` needs no database unless `--golem` names whose chain and memory the module reads.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NoReturn
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from archetypes_app.toolset import view_golem
from golem_project.management.commands.golem import find_golem
from permits_app.actions.bring_definition import check_texts
from tools_app import runner
from tools_app.core import clock
from tools_app.core.bounded_parsing import OutsideTextRefused, read_json
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.sandbox.compiling import Compiled, compile_module
from tools_app.sandbox.definition import Definition, read_definition
from tools_app.sandbox.interface import WIT_PATH
from tools_app.sandbox.limits import limits_of
from tools_app.sandbox.module_call import run_module
from tools_app.sandbox.owner_tool_call import describe_call
from tools_app.sandbox.wrap_module_as_component import wrap_module
from tools_app.toolkit.context import ReadContext, ServiceMissing
from tools_app.toolkit.declared_params import build_declared_model
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.schema import validate_params
from tools_app.toolkit.views import GolemView

_MOST_BYTES = 64 * 1024


class Command(BaseCommand):
    """Commands about one module."""

    help = "Make, check or run a module: `wasm wit`, `wasm wrap CORE`, `wasm check MODULE [DEFINITION]`, `wasm run`."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="what", required=True)
        commands.add_parser("wit", help="print the interface modules are written against")
        wrap = commands.add_parser("wrap", help="make a component of what a compiler of C, Rust or Go wrote")
        wrap.add_argument("core", type=Path, help="the plain module, which gets the interface around it")
        wrap.add_argument("-o", "--output", type=Path, required=True, help="where the component is written")
        check = commands.add_parser("check", help="compile and inspect a module, and its definition")
        check.add_argument("module", type=Path, help="a component, .wasm or as text")
        check.add_argument("definition", type=Path, nargs="?", help="its definition in TOML")
        run = commands.add_parser("run", help="call a module once, in dry mode")
        run.add_argument("module", type=Path, help="a component, .wasm or as text")
        run.add_argument("definition", type=Path, help="its definition in TOML")
        run.add_argument("--params", default="{}", help="its parameters, a JSON object")
        run.add_argument("--golem", default="", help="whose chain and memory it reads, by name or id")

    def handle(self, *args: object, what: str, **options: Any) -> None:  # Any: each has a type of its own
        try:
            if what == "wit":
                self.stdout.write(WIT_PATH.read_text(encoding="utf-8"))
            elif what == "wrap":
                self._wrap(**options)
            elif what == "check":
                self._check(**options)
            else:
                self._run(**options)
        except GolemError as error:
            raise CommandError(f"{error.code}: {error.detail}") from None
        except (OSError, UnicodeDecodeError, OutsideTextRefused) as error:
            raise CommandError(str(error)) from None

    def _wrap(self, *, core: Path, output: Path, **_: object) -> None:
        output.write_bytes(wrap_module(core.read_bytes()))

    def _check(self, *, module: Path, definition: Path | None, **_: object) -> None:
        compiled = compile_module(module.read_bytes())
        self._tell("module", f"{module.stat().st_size} bytes, sha256 {compiled.sha256}")
        self._tell("imports", ", ".join(sorted(compiled.imports)) or "nothing")
        if definition is None:
            return
        told = _read_pair(compiled, definition)
        limits = limits_of(told.budget)
        self._tell("definition", f"{told.name}, {told.hash}")
        self._tell("may use", ", ".join(sorted(told.capabilities)) or "nothing")
        self._tell("one call", f"{limits.fuel} fuel, {limits.milliseconds} ms, {limits.memory_bytes >> 20} MiB")

    def _run(self, *, module: Path, definition: Path, params: str, golem: str, **_: object) -> None:
        compiled = compile_module(module.read_bytes())
        told = _read_pair(compiled, definition)
        given = read_json(params, most_bytes=_MOST_BYTES)
        if not isinstance(given, dict):
            raise CommandError("--params is one JSON object")
        checked = validate_params(build_declared_model(told.name, told.body["parameters"]), given)
        ctx = _make_context(golem, int(told.budget))
        ran = run_module(
            compiled=compiled,
            params=describe_call(ctx, checked),
            allowed=told.capabilities,
            limits=limits_of(told.budget),
            ctx=ctx,
            step=lambda name: self._tell("step", name),
        )
        for line in ran.use.lines:
            self._tell("log", line)
        self._tell("used", f"{ran.use.fuel} fuel, {ran.use.milliseconds} ms, host calls {dict(ran.use.host_calls)}")
        if ran.error is not None:
            raise ran.error
        self.stdout.write(json.dumps(ran.answer, ensure_ascii=False, indent=2))

    def _tell(self, what: str, words: str) -> None:
        self.stdout.write(f"{what:<11}{words}")


def _read_pair(compiled: Compiled, definition: Path) -> Definition:
    told = read_definition(definition.read_text(encoding="utf-8"), module_sha256=compiled.sha256)
    check_texts(told)
    undeclared = sorted(map(str, compiled.imports - told.capabilities))
    if undeclared:
        raise CommandError(f"the module uses what its capabilities do not name: {', '.join(undeclared)}")
    return told


def _make_context(golem: str, budget_ms: int) -> ReadContext:
    deadline = Deadline.after_ms(budget_ms)
    if not golem:
        nobody = GolemView(UUID(int=0), "nobody", None, 0, "USDC", Phase.THRIVING)
        return ReadContext(nobody, clock.now(), deadline, _no_chain, lambda _: None)
    now = clock.now()
    return ReadContext(
        golem=view_golem(find_golem(golem)),
        now=now,
        deadline=deadline,
        open_chain=lambda chain_id: runner.open_reader(chain_id, now=now, deadline=deadline),
        report_step=lambda _: None,
        services=runner.list_services(),
    )


def _no_chain(chain_id: int) -> NoReturn:
    raise ServiceMissing("the module reads a chain; say whose with --golem")
