"""Tells what an agent may say of itself, field by field, as the text of a JSON object: `registration` and `updates`."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from tools_app.core.bounded_parsing import OutsideTextRefused, read_exact_json
from tools_app.core.errors import InvalidParams
from tools_app.core.guarded_http import AddressRefused, check_url
from tools_app.core.taint import redact_text
from tools_app.toolkit.canonical_param_values import Meaning
from tools_app.toolkit.params import PLAIN

MOST_CHARACTERS: Final = 3_000
MOST_DEPTH: Final = 4


def check_endpoint(text: str) -> str:
    """An address that somebody could ask over https."""
    try:
        check_url(text, allows_private=False)
    except AddressRefused as refused:
        raise ValueError(str(refused)) from None
    return text


AgentName = Annotated[str, Field(min_length=1, max_length=80, description="Name of the agent."), PLAIN]
AgentText = Annotated[str, Field(min_length=1, max_length=600, description="What it does, in plain text."), PLAIN]
Endpoint = Annotated[
    str, Field(min_length=8, max_length=200, description="https address."), PLAIN, AfterValidator(check_endpoint)
]
Image = Annotated[str, Field(min_length=8, max_length=200, description="https address of a picture."), PLAIN]
RegistrationText = Annotated[
    str,
    Field(
        max_length=MOST_CHARACTERS,
        description=(
            'The text of a JSON object without null, such as {"a2a_endpoint": "https://\u2026"}; also tool_endpoint,'
            " tool_version, a2a_version, a2a_skills, ens, did, x402_support, supported_trusts (reputation,"
            " crypto-economic, tee-attestation)."
        ),
    ),
    PLAIN,
    Meaning.JSON,
]
UpdatesText = Annotated[
    str,
    Field(
        max_length=MOST_CHARACTERS,
        description=(
            'The text of a JSON object without null, such as {"active": false}; also name, description, image,'
            " tool_endpoint, a2a_endpoint."
        ),
    ),
    PLAIN,
    Meaning.JSON,
]
Version = Annotated[str, Field(pattern=r"^[0-9A-Za-z._\-]{1,24}$")]
Skill = Annotated[str, Field(pattern=r"^[0-9A-Za-z._:/\-]{1,64}$")]
Handle = Annotated[str, Field(pattern=r"^[0-9A-Za-z._:%#\-]{3,120}$")]
Role = Literal["infrastructure"]
Trust = Literal["reputation", "crypto-economic", "tee-attestation"]


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class RegistrationFields(_Fields):
    """What a new agent says beside its name."""

    tool_endpoint: Endpoint | None = None
    tool_version: Version | None = None
    a2a_endpoint: Endpoint | None = None
    a2a_version: Version | None = None
    a2a_skills: Annotated[list[Skill], Field(max_length=10)] | None = None
    ens: Handle | None = None
    did: Handle | None = None
    x402_support: bool = False
    role: Role | None = None
    supported_trusts: Annotated[list[Trust], Field(max_length=3)] | None = None


class UpdateFields(_Fields):
    """What of an agent becomes another."""

    name: AgentName | None = None
    description: AgentText | None = None
    image: Endpoint | None = None
    tool_endpoint: Endpoint | None = None
    a2a_endpoint: Endpoint | None = None
    active: bool | None = None


F = TypeVar("F", bound=_Fields)


def parse_fields(kind: type[F], text: str, *, parameter: str) -> F:
    """The fields of a parameter. Raises InvalidParams, which names every bad one."""
    try:
        return kind.model_validate(read_exact_json(text, most_bytes=4 * MOST_CHARACTERS, most_depth=MOST_DEPTH))
    except OutsideTextRefused as refused:
        raise InvalidParams(f"{parameter}: {refused}", fields={parameter: str(refused)}) from None
    except ValidationError as error:
        fields = {".".join((parameter, *map(str, each["loc"]))): _say(each) for each in error.errors()}
        words = "; ".join(f"{name}: {problem}" for name, problem in fields.items())
        raise InvalidParams(words, fields=fields, allowed=sorted(kind.model_fields)) from None


def check_published(**texts: str | None) -> None:
    """What is published stays for everybody to read. Raises InvalidParams for what looks like a secret."""
    for name, text in texts.items():
        if text is not None and redact_text(text) != text:
            raise InvalidParams(
                f"{name}: it holds what looks like a secret, and would be public for ever",
                fields={name: "nothing that looks like a key, a token or a password"},
            )


def check_image(image: str | None) -> None:
    """Raises InvalidParams for an address nobody could ask over https."""
    try:
        if image is not None:
            check_endpoint(image)
    except ValueError as refused:
        raise InvalidParams(f"image: {refused}", fields={"image": str(refused)}) from None


def _say(each: Any) -> str:  # Any: a stranger's JSON
    if each["type"] == "extra_forbidden":
        return "this field does not exist here"
    return str(each["msg"]).removeprefix("Value error, ")
