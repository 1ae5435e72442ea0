"""What is said of drawn mutants that no test notices: module -> name of the mutant -> why."""

from __future__ import annotations

# Nobody could see a difference: they count neither as tried nor as noticed.
CHANGES_NOTHING: dict[str, dict[str, str]] = {
    "golem_project.embedded.world.node": {
        "ask_chain_id: connection.close() -> pass": (
            "nothing holds the connection when the function ends, and CPython closes it then"
        ),
    },
    "golem_project.heartbeat.thinking.tool_calls": {
        "ToolDesk._commit: 1000 -> 1001": "a thousandth less of the seconds that are left decides nothing",
        "ToolDesk._find_waiting: filter without golem=self._golem": (
            "the hash it looks for is made of the golem too: no permit of another one has it"
        ),
    },
    "golem_project.stream.webhooks": {
        "disable_endpoint: 200 -> 201": "every reason it is given is written here and far shorter",
    },
    "permits_app.permits.position_range_chart": {
        "_price: 40 -> 41": "what is shown is rounded to far fewer digits",
    },
    "tools_app.standards.aave_like.lending": {
        "_is_twice: 0 -> 1": "a leg of nothing is never listed",
    },
    "golem_project.embedded.load_and_fork": {
        "_MOST_LOOKS: 5000 -> 5001": "a millisecond more of patience with the process that starts it decides nothing",
    },
    "golem_project.embedded.world.protocols.ethena": {
        "REWARD_USD: 100 -> 101": "nothing reads it; it stays, for the local chains people keep name this file",
    },
    "golem_project.embedded.world.protocols.rocketpool": {
        "deploy: 1 -> 2 (#3)": "operators get other names; how many there are, and what they run, is all that is read",
    },
    "memory_app.actions.store_episode": {
        "_find_near: filter without golem_id=golem_id (#2)": (
            "the episodes that are asked for are this golem's; the filter only lets the index of vectors serve"
        ),
    },
    "permits_app.actions.carry_out_deaths": {
        "carry_out_deaths: filter without phase=Phase.TERMINAL.value": (
            "announce_terminal looks at the phase under the golem's lock and announces nothing otherwise; the filter"
            " only spares it the golems that live"
        ),
    },
    "permits_app.policy_cage.preflight": {
        "_classify: 0 -> 1": (
            "the larger of it and of what counts as dust is taken, and dust is never less than ten thousand micro-USD"
        ),
    },
    "tools_app.chain.abi": {
        "_PLAIN: without str": "says which arguments are answered from memory; their bytes are the same when made anew",
    },
    "tools_app.protocols.lido.effects": {
        "LidoEffects.read_claim: raw > 0 -> raw >= 0": "nothing is worth nothing under either sign",
    },
}

# Somebody could, and nothing does.
SURVIVES: dict[str, dict[str, str]] = {
    "golem_project.embedded.servers": {
        "EmbeddedServers.start_postgres: self._use is None -> self._use is not None": (
            "who else uses the database is counted wrongly; no test was asked that starts two supervisors on it"
        ),
    },
    "golem_project.embedded.stack": {
        "Stack.run_command: self._end_loading() -> pass": (
            "a process that loaded the product stays until the stack stops; no test counts processes after a command"
        ),
    },
    "golem_project.help.paragraphs": {
        "PARAGRAPHS: without 'phases' (#2)": (
            "the page of phase changes links to the document and not to its section; no test says which it is"
        ),
    },
    "permits_app.policy_cage.conditions": {
        "Must.HAVE_BITS: 6 -> 7": (
            "the number is the contract's; tests of contracts take too long to be asked, and were not asked by hand"
        ),
    },
    "tools_app.subsystems.coding.limits": {
        "CodingLimits.folder_bytes: 1024 -> 1025 (#2)": "no test fills a folder of its real size to the last byte",
    },
    "permits_app.policy_cage.preflight": {
        "_describe_positions: 0 -> 1 (#6)": (
            "a gain of one base unit is no gain; only an asset whose one unit is worth more than dust would tell"
        ),
    },
    "tools_app.toolkit.markets": {
        "Pool.pool_tick: 0 -> 1": "a pool of constant product has no tick, and nothing that was asked reads it there",
    },
    "archetypes_app.archetype_data.strategy": {
        "STRATEGY: without C.SAFETY": (
            "what the strategist reads stands in its table alone; no test asks it for a read of safety"
        ),
    },
    "golem_project.heartbeat.thinking.tool_selection": {
        "_BY_CLASS: 2 -> 3 (#2)": (
            "a weight shows where it changes which twelve tools a tick is given; in the recorded situations it does not"
        ),
    },
}
