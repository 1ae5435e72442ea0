"""What a built-in archetype is given, and what owners and members may do at all: as it is written down.

A category that goes from an archetype takes tools from every golem that delegates to it, and a verb that comes to an
owner opens a page; neither breaks anything that runs. `GOLEM_KEEP_GIVEN=1` on a run of this file writes the
archetypes' lines anew, so that a review sees what changed; what people may do is written here by hand.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from archetypes_app.archetype_data.definition import BuiltinArchetype
from archetypes_app.builtin_archetypes import BUILTIN_ARCHETYPES
from archetypes_app.owner_group import MEMBER_PERMISSIONS, OWNER_PERMISSIONS
from tests.admin.rows import MAKERS, SEEN_BY_OPERATORS_ALONE

WRITTEN: Final = Path(__file__).with_name("what_archetypes_are_given.json")
ADDED: Final = frozenset(
    {
        *("archetypes_app.golem", "archetypes_app.archetype", "archetypes_app.toolprofile"),
        *("archetypes_app.tooloverride", "archetypes_app.codingworkspace", "archetypes_app.apikey"),
        *("archetypes_app.heartbeat", "permits_app.allowlistentry", "permits_app.declaredpeg"),
        *("permits_app.knownaddress", "permits_app.haltsetting", "permits_app.policycage"),
        *("permits_app.spendinglimits", "permits_app.wallet", "tools_app.tooldefinition", "stream.webhookendpoint"),
        "a2a.openedread",
    }
)
CHANGED: Final = frozenset(
    {
        *("archetypes_app.golem", "archetypes_app.archetype", "archetypes_app.toolprofile"),
        *("archetypes_app.tooloverride", "archetypes_app.codingworkspace", "archetypes_app.definitionapproval"),
        *("archetypes_app.heartbeat", "permits_app.actionpermit", "permits_app.allowlistentry"),
        *("permits_app.declaredpeg", "permits_app.knownaddress", "permits_app.changerequest"),
        *("permits_app.haltsetting", "permits_app.policycage", "permits_app.spendinglimits", "permits_app.venuetrust"),
        *("permits_app.standingplan", "memory_app.episode", "memory_app.insight", "memory_app.directive"),
        "memory_app.dreamjournal",
    }
)
DELETED: Final = frozenset(
    {
        *("archetypes_app.archetype", "archetypes_app.toolprofile", "archetypes_app.tooloverride"),
        *("permits_app.allowlistentry", "permits_app.declaredpeg", "permits_app.knownaddress"),
    }
)
# Rows that stand on the page of another, and have none of their own.
INLINE: Final = frozenset({"archetypes_app.tooloverride", "permits_app.policyversion"})
OWNERS_ALONE: Final = frozenset(
    {
        *("archetypes_app.archetype", "archetypes_app.toolprofile", "archetypes_app.codingworkspace"),
        *("permits_app.knownaddress", "permits_app.wallet", "tools_app.tooldefinition"),
    }
)


def list_models(verb: str, *, members: bool = False) -> set[str]:
    """The models that owners, or members, may `verb`."""
    given = MEMBER_PERMISSIONS if members else OWNER_PERMISSIONS
    assert all(len(verbs) == len(set(verbs)) for verbs in given.values())
    return {f"{app}.{model}" for (app, model), verbs in given.items() if verb in verbs}


def test_owners_look_at_every_page_but_those_of_operators_and_change_what_is_written_here() -> None:
    assert list_models("view") == (set(MAKERS) - set(SEEN_BY_OPERATORS_ALONE)) | INLINE
    assert [list_models(verb) for verb in ("add", "change", "delete")] == [ADDED, CHANGED, DELETED]


def test_members_look_at_the_same_and_make_neither_golems_nor_what_is_an_owners_own() -> None:
    assert list_models("view", members=True) == list_models("view")
    assert list_models("add", members=True) == ADDED - OWNERS_ALONE - {"archetypes_app.golem"}
    assert list_models("change", members=True) == CHANGED - OWNERS_ALONE
    assert list_models("delete", members=True) == DELETED - OWNERS_ALONE


def describe(each: BuiltinArchetype) -> str:
    """One line: what it is, its tools, whom it asks."""
    flags = [name for name in ("is_terminal_node", "is_read_only", "keeps_local_writes") if getattr(each, name)]
    told = {
        "of": [each.category, each.inference_tier, *flags],
        "categories": sorted(each.tool_categories),
        "profiles": each.profiles,
        "includes": each.includes,
        "asks": each.delegates_to,
        "stands on": [[words, *tools] for words, tools in each.stands_on],
        "says": [len(each.expertise), len(each.safety_rules)],
    }
    return json.dumps({name: value for name, value in told.items() if value})


def test_an_archetype_is_given_what_is_written_down() -> None:
    given = {each.name: describe(each) for each in BUILTIN_ARCHETYPES}
    assert len(given) == len(BUILTIN_ARCHETYPES)
    if os.environ.get("GOLEM_KEEP_GIVEN") == "1":
        WRITTEN.write_text(json.dumps(given, indent=1) + "\n", encoding="utf-8")
        return
    assert given == json.loads(WRITTEN.read_text(encoding="utf-8"))
