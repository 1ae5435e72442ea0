"""What is said of drawn mutants that no test notices: module -> name of the mutant -> why."""

from __future__ import annotations

# Nobody could see a difference: they count neither as tried nor as noticed.
CHANGES_NOTHING: dict[str, dict[str, str]] = {
    "permits_app.actions.follow_deaths": {
        "follow_deaths: filter without phase=Phase.TERMINAL.value": (
            "announce_terminal looks at the phase under the golem's lock and announces nothing otherwise; the filter"
            " only spares it the golems that live"
        ),
    },
    "tools_app.protocols.lido.effects": {
        "LidoEffects.read_claim: raw > 0 -> raw >= 0": "nothing is worth nothing under either sign",
    },
}

# Somebody could, and nothing does.
SURVIVES: dict[str, dict[str, str]] = {
    "golem_project.heartbeat.rule_form": {
        "HeartbeatForm.columns: without 'base_interval_seconds'": (
            "no test edits the interval of a heartbeat while another hand has changed it"
        ),
    },
    "memory_app.actions.query_grimoire": {
        "module: 10 -> 11": "no test asks a store of more than ten without saying how many it wants",
    },
    "memory_app.actions.request_query_grimoire": {
        "_give_connections_back: connection.close() -> pass": (
            "tried before it had its test, who waits for an answer holds no connection; not tried anew since"
        ),
    },
    "golem_project.embedded.world.protocols.lido": {
        "EARLIER_GAIN: 20000 * WEI -> 20000 // WEI": (
            "the first report of the made-up Lido lies before the days that any tool looks at: its rate then only"
            " begins lower, and no test reads where it begins"
        ),
    },
    "tools_app.sandbox.running": {
        "_call: True -> False": (
            "a module is handed the same JSON with letters beyond ASCII as they are; no module of the suite reads the"
            " bytes of its parameters itself"
        ),
    },
}
