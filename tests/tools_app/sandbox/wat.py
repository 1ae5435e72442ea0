"""Modules written as text: the wiring of a component around the body of its `run`, hostile or not."""

from __future__ import annotations

from collections.abc import Iterable

_ASKS = "(param i32 i32 i32)"
_TELLS = "(param i32 i32)"
_ASKING = {"chain-read", "token", "price", "recall"}
_ANSWER_AT = 16


def write_component(
    body: str,
    *,
    uses: Iterable[str] = (),
    memory: str = "1",
    extra: str = "",
    data: str = "",
    host: str = "golem:tool/host@1.0.0",
) -> bytes:
    """A component whose `run` (parameters at local 0, their length at local 1) is `body`; it leaves the address of the
    answer: a word that is 0 for ok, the text's address, its length. `data` lies from 2048 on, allocations from 8192.
    """
    names = sorted(uses)
    imports = "".join(f'(export "{name}" (func {_component_type(name)}))' for name in names)
    lowered = "".join(
        f'(core func ${name} (canon lower (func $host "{name}") (memory (core memory $libc "memory"))'
        f' (realloc (core func $libc "realloc"))))'
        for name in names
    )
    taken = "".join(f'(import "host" "{name}" (func ${name} {_ASKS if name in _ASKING else _TELLS}))' for name in names)
    given = "".join(f'(export "{name}" (func ${name}))' for name in names)
    with_host = f'(with "host" (instance {given}))' if names else ""
    declared = f'(import "{host}" (instance $host {imports}))' if names else ""
    return f"""(component {declared}
  (core module $libc
    (memory (export "memory") {memory})
    (global $top (mut i32) (i32.const 8192))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
      (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
      (global.set $top (i32.add (local.get $at) (local.get 3)))
      (block $fits
        (loop $grow
          (br_if $fits (i32.le_u (global.get $top) (i32.mul (memory.size) (i32.const 65536))))
          (if (i32.eq (memory.grow (i32.const 1)) (i32.const -1)) (then (unreachable)))
          (br $grow)))
      (local.get $at)))
  (core instance $libc (instantiate $libc))
  {lowered}
  (core module $main
    (import "libc" "memory" (memory 1))
    {taken} {extra}
    (data (i32.const 2048) "{data}")
    (func $answer (param i32 i32 i32) (result i32)
      (i32.store (i32.const {_ANSWER_AT}) (local.get 0))
      (i32.store (i32.const {_ANSWER_AT + 4}) (local.get 1))
      (i32.store (i32.const {_ANSWER_AT + 8}) (local.get 2))
      (i32.const {_ANSWER_AT}))
    (func $run (export "run") (param i32 i32) (result i32) {body}))
  (core instance $main (instantiate $main (with "libc" (instance $libc)) {with_host}))
  (func (export "run") (param "call" string) (result (result string (error string)))
    (canon lift (core func $main "run")
      (memory (core memory $libc "memory")) (realloc (core func $libc "realloc")))))""".encode()


def _component_type(name: str) -> str:
    if name in _ASKING:
        return '(param "request" string) (result (result string (error string)))'
    return f'(param "{"step" if name == "progress" else "line"}" string)'


def write_text(text: str) -> str:
    """`text` as the contents of a data segment."""
    return "".join(f"\\{byte:02x}" for byte in text.encode())


def answering(text: str, **more: object) -> bytes:
    """A module that answers `text` whatever it is asked."""
    body = f"(call $answer (i32.const 0) (i32.const 2048) (i32.const {len(text.encode())}))"
    return write_component(body, data=write_text(text), **more)  # type: ignore[arg-type]


def asking(function: str, request: str) -> bytes:
    """A module that asks the host once and hands its answer on as it is: the text of an ok or of an error."""
    body = (
        f"(call ${function} (i32.const 2048) (i32.const {len(request.encode())}) (i32.const {_ANSWER_AT}))"
        f"(i32.const {_ANSWER_AT})"
    )
    return write_component(body, uses=[function], data=write_text(request))
