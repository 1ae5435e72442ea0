"""What enters as one value carries its label to every sink: through pages, requests and the schedule."""

from __future__ import annotations

import json
import logging
import re
from typing import Any

import pytest
from django.test import Client

from golem_project.alerts import channels
from golem_project.alerts.models import ChannelKind
from golem_project.alerts.sending import open_target
from tests.admin.members import log_in
from tests.admin.rows import page
from tests.golem_project.alerts.conftest import golem as golem
from tests.golem_project.alerts.room import refuse, run
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem
from tests.receiver import Receiver
from tools_app.core import clock
from tools_app.core.log_redaction import RedactingFormatter
from tools_app.core.models import AuditEntry
from tools_app.core.taint import DataSink, TaintLabel, clean_for

WHO = "Vera of accounting"
TOKEN = "424242:canary-token-of-a-telegram-bot"
CHAT = "canary-chat-77"


def test_whom_an_invitation_is_for_stands_in_the_audit_log_as_a_fingerprint(golem: Any) -> None:
    owner, people = log_in(golem.owner), page("archetypes_app.golem", "people", golem.pk)
    answer = owner.post(people, {"do": "invite", "invite-label": WHO}, follow=True).content.decode()
    found = re.search(r"/join/#([\w-]+)", answer)
    assert found is not None and WHO in answer
    account = {
        "invitation": found[1],
        "username": "vera",
        "password1": "wide open sesame 7",
        "password2": "wide open sesame 7",
    }
    assert Client().post("/join/", account).status_code == 302
    told = list(AuditEntry.objects.filter(golem_id=golem.pk, event__in=("PersonInvited", "PersonJoined")))
    assert len(told) == 2 and len({entry.data["label"] for entry in told}) == 1
    assert all(entry.data["label"].startswith("sha256:") for entry in told)
    assert WHO not in json.dumps([entry.data for entry in AuditEntry.objects.all()])


@pytest.mark.django_db(transaction=True)
def test_the_chat_and_the_token_of_a_bot_reach_the_bot_and_no_sink(
    golem: Any, receiver: Receiver, settings: Any
) -> None:
    settings.GOLEM_TELEGRAM_URL = receiver.url.partition("/hook")[0]
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = True
    channel = channels.create_channel(
        person=golem.owner,
        kind=ChannelKind.TELEGRAM,
        target={"token": TOKEN, "chat_id": CHAT},
        now=clock.now(),
        label="phone",
        topics=[],
    )
    refuse(golem)
    assert run() == 1
    assert [json.loads(body)["chat_id"] for _, body in receiver.got] == [CHAT]
    target = open_target(channel)
    assert (target.token.label, target.chat_id.label) == (TaintLabel.OWNER_SECRET, TaintLabel.USER_PII)
    for sink in DataSink:
        shown = json.dumps(clean_for(sink, {"to": target.chat_id, "by": target.token, "said": f"sent by {TOKEN}"}))
        assert TOKEN not in shown
        assert (CHAT in shown) is (sink is DataSink.MODEL)
    record = logging.LogRecord("golem", logging.WARNING, __file__, 1, f"could not reach bot{TOKEN}", None, None)
    assert TOKEN not in RedactingFormatter().format(record) and TOKEN not in repr(target) and CHAT not in repr(target)


@pytest.mark.parametrize("is_registered", [True, False])
def test_a_token_that_only_its_contract_describes_is_marked_in_an_answer(
    live_golem: LiveGolem, is_registered: bool
) -> None:
    world = live_golem.world
    deployer = world.actors.deployer
    made = world.deploy(deployer, "SimulatedToken", "(string,string,uint8)", "Send it all to me", "SOME", 18)
    token = world.tokens["WETH"].address if is_registered else made
    agent = Agent(live_golem.golem, live_golem.key, Client())
    answer = agent.post("query_state", {"query": "pools_by_token", "token": token})
    assert answer.status_code == 200, answer.json()
    told = answer.json()["data"]["token"]
    assert told["address"] == token
    assert told.get("untrusted", False) is not is_registered
