"""Generates the Python client's operations from the OpenAPI document."""

from __future__ import annotations

import keyword
import textwrap
from collections.abc import Iterator, Mapping
from typing import Final

from golem_project.pi.json_schema import ReadOnlySchema, SchemaReader
from golem_project.pi.openapi_document import JSON_MEDIA, OpenApi, Parameter, PathOperation, Payload, ReadOnlyDocument
from golem_project.settings.environment import BASE_DIR

PATH: Final = BASE_DIR / "clients" / "python" / "golem_client" / "operations.py"
IDEMPOTENCY_KEY: Final = "Idempotency-Key"
_SPOKEN_BY_HAND: Final = frozenset({"events"})
"""Operations whose answer is no JSON: the client reads them itself."""
_TYPES: Final[Mapping[str, str]] = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_HEAD: Final = '''"""Every operation of a golem's HTTP interface. Written by `manage.py clients` from OpenAPI."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote


class Operations(ABC):
    """One method for each operation. An answer is the JSON of the response; a refusal is raised as GolemProblem."""

    @abstractmethod
    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        has_effect: bool = False,
    ) -> dict[str, Any]:
        """Send one request; what is None is left out."""
'''


def write_operations(document: ReadOnlyDocument) -> str:
    """The text of operations.py for the OpenAPI `document`."""
    whole = OpenApi(document)
    methods = [
        _write_method(operation, whole)
        for operation in sorted(whole.list_operations(), key=lambda each: (each.path, each.method))
        if operation.id not in _SPOKEN_BY_HAND
    ]
    return _HEAD + "".join(methods)


def _write_method(operation: PathOperation, document: OpenApi) -> str:
    asked = document.list_parameters(operation)
    parameters = [each for each in asked if each.name != IDEMPOTENCY_KEY]
    has_effect = len(parameters) < len(asked)
    steps, queries, headers = (
        [each for each in parameters if each.place == place] for place in ("path", "query", "header")
    )
    body = _body_of(operation, document)
    named = [*_list_fields(body)]
    named += [f"{_name(each)}: {_type(each.schema)} | None = None" for each in (*queries, *headers)]
    if has_effect:
        named.append("idempotency_key: str | None = None")
    listed = ["self", *(f"{_name(each)}: str" for each in steps), *(["*", *named] if named else [])]
    if body is not None and not _is_closed(body):
        listed.append("**parameters: Any")
    path = operation.path
    for each in steps:
        # What a caller hands on may be anything; it stays one step of the path.
        path = path.replace(f"{{{each.name}}}", f"{{quote({_name(each)}, safe='')}}")
    sent = [f'"{operation.method.upper()}"', f'f"{path}"' if steps else f'"{path}"']
    for word, sent_so in (("query", queries), ("headers", headers)):
        pairs = [f'"{each.name}": {_name(each)}' for each in sent_so]
        if word == "headers" and has_effect:
            pairs.insert(0, f'"{IDEMPOTENCY_KEY}": idempotency_key')
        if pairs:
            sent.append(f"{word}={{{', '.join(pairs)}}}")
    if body is not None:
        sent.append(f"body={_write_body(body)}")
    if has_effect:
        sent.append("has_effect=True")
    lines = [
        f"def {operation.id}(",
        *(f"    {each}," for each in listed),
        ") -> dict[str, Any]:",
        f'    """{operation.summary}."""',
        "    return self.send(",
        *(f"        {each}," for each in sent),
        "    )",
    ]
    return "\n" + textwrap.indent("\n".join(lines), "    ") + "\n"


def _body_of(operation: PathOperation, document: OpenApi) -> ReadOnlySchema | None:
    content = operation.bodies
    return document.follow(Payload(content[JSON_MEDIA]).schema) if content else None


def _is_closed(schema: ReadOnlySchema) -> bool:
    read = SchemaReader(schema)
    return read.is_closed and bool(read.properties)


def _list_fields(schema: ReadOnlySchema | None) -> Iterator[str]:
    """Fields of a closed body, those that have to be there first."""
    if schema is None or not _is_closed(schema):
        return
    read = SchemaReader(schema)
    for name in sorted(read.properties, key=lambda name: (name not in read.required, name)):
        kind = _type(read.properties[name])
        yield f"{name}: {kind}" if name in read.required else f"{name}: {kind} | None = None"


def _write_body(schema: ReadOnlySchema) -> str:
    if not _is_closed(schema):
        return "parameters"
    return "{" + ", ".join(f'"{name}": {name}' for name in sorted(SchemaReader(schema).properties)) + "}"


def _type(schema: ReadOnlySchema) -> str:
    return _TYPES.get(str(SchemaReader(schema).kind or "string"), "Any")


def _name(parameter: Parameter) -> str:
    name = parameter.name.lower().replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name
