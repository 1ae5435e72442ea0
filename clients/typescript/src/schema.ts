/* Every operation of a golem's HTTP interface. Written by `manage.py clients` from OpenAPI. */

export interface paths {
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Events as pages, or as a stream (Accept: text/event-stream, resumed by Last-Event-ID)
         * @description Events of the caller's golems, oldest first. The same path streams them to who accepts text/event-stream.
         */
        get: operations["events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pi/cancel_action": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give up a permit
         * @description Gives up a permit that was not committed and frees what it had reserved.
         */
        post: operations["cancel_action"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pi/commit_action": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Use a permit once
         * @description Signs and sends a permit's calls once. Answers the outcome, or 202 when it takes longer than 15 s.
         */
        post: operations["commit_action"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pi/emergency_halt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop the golem
         * @description Stops the golem until its owner resumes it.
         */
        post: operations["emergency_halt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pi/manifest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The golem's tools, for its model
         * @description The tools this golem has, made from its own toolset; unchanged answers cost 304 with the ETag.
         */
        get: operations["manifest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pi/permits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The golem's permits, newest first
         * @description The golem's own permits, newest first.
         */
        get: operations["list_permits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pi/permits/{permit_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One permit of the golem
         * @description One permit; another golem's answers as if it did not exist.
         */
        get: operations["get_permit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pi/preview_action": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Simulate an action and get a permit
         * @description Simulates an action exactly as it would be sent, runs every safety rule and answers a permit; nothing is sent.
         */
        post: operations["preview_action"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pi/query_grimoire": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recall past episodes
         * @description Recalls past episodes like the present situation.
         */
        post: operations["query_grimoire"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pi/query_state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read one thing
         * @description Reads one thing: of the golem itself, or of a venue it may use.
         */
        post: operations["query_state"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pi/search_context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find what bears on a question now
         * @description Searches PLAYBOOK and STRATEGY, and adds the golem's state and the prices of tokens the query names.
         */
        post: operations["search_context"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/pi/update_directive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a section of the PLAYBOOK
         * @description Writes one section of the PLAYBOOK as a new version.
         */
        post: operations["update_directive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Refuses fields it does not have, and names them together with what is missing or malformed. */
        CancelActionInput: {
            /** Format: uuid */
            permit_id: string;
            reason: string;
        };
        /** @description Refuses fields it does not have, and names them together with what is missing or malformed. */
        CommitActionInput: {
            /** Format: uuid */
            permit_id: string;
        };
        /** @description `result` is null while the outcome is not known; the permit then says where it stands. */
        CommitActionOutput: {
            status: components["schemas"]["StatusEnum"];
            permit: components["schemas"]["PermitOutput"];
            result: components["schemas"]["ToolResultOutput"] | null;
        };
        /** @description Refuses fields it does not have, and names them together with what is missing or malformed. */
        EmergencyHaltInput: {
            reason: string;
            /** @description Report what a halt would stop, and stop nothing */
            drill?: boolean | null;
        };
        EmergencyHaltOutput: {
            halted: boolean;
            reason: string;
            /** @description Nothing was changed */
            is_drill?: boolean;
            /** @description What was stopped, in order, with times in ms */
            steps: {
                [key: string]: unknown;
            }[];
        };
        /** @description One event; what `payload` holds depends on `type`, see docs/events.md. */
        EventOutput: {
            /** @description The place of this event; send it as Last-Event-ID or `cursor` */
            cursor: string;
            /** Format: uuid */
            event_id: string;
            type: string;
            version: number;
            /** Format: uuid */
            golem_id: string;
            /** @description Counts the events of this golem without gaps */
            sequence: number;
            heartbeat_tick: number;
            /** Format: date-time */
            occurred_at: string;
            payload: {
                [key: string]: unknown;
            };
        };
        /** @description Events in order, and where to go on. */
        EventPageOutput: {
            events: components["schemas"]["EventOutput"][];
            next_cursor: string;
            has_more: boolean;
        };
        /**
         * @description * `BASE` - BASE
         *     * `NOTABLE` - NOTABLE
         *     * `MEV` - MEV
         *     * `CRITICAL` - CRITICAL
         *     * `EMERGENCY` - EMERGENCY
         * @enum {string}
         */
        ImportanceEnum: "BASE" | "NOTABLE" | "MEV" | "CRITICAL" | "EMERGENCY";
        ManifestOutput: {
            manifest_version: number;
            schema_hash: string;
            golem: {
                [key: string]: unknown;
            };
            /** @description The core, what is loaded, and how many tools the golem has in all */
            tiers: {
                [key: string]: unknown;
            };
            dialect?: string;
            tools: {
                [key: string]: unknown;
            }[];
            actions?: {
                [key: string]: unknown;
            }[];
            queries?: {
                [key: string]: unknown;
            }[];
            left_out?: {
                [key: string]: unknown;
            }[];
        };
        NullEnum: null;
        PermitListOutput: {
            permits: components["schemas"]["PermitOutput"][];
            /** Format: uuid */
            next_cursor: string | null;
        };
        /** @description An ActionPermit: what would happen, what it is bound to, and what became of it. */
        PermitOutput: {
            /** Format: uuid */
            permit_id: string;
            status: components["schemas"]["StatusEnum"];
            status_reason: string;
            action_type: string;
            venue: string;
            chain_id: number;
            tool: string;
            action_class: string;
            risk_tier: components["schemas"]["RiskTierEnum"];
            /** @description Worst case, for people */
            value_usd: string;
            /** @description Worst case in millionths of a dollar, decimal text */
            value_micro_usd: string;
            plan_hash: string;
            simulation_hash: string;
            policy_hash: string;
            calls: {
                [key: string]: unknown;
            }[];
            expected_outcome: {
                [key: string]: unknown;
            };
            /** @description Which engine simulated */
            fidelity: string;
            review: {
                [key: string]: unknown;
            };
            /** @description What must still happen before a commit */
            missing: string[];
            /** @description While owners or an announcement are waited for: `state` in the owners' own word, `until` when it ends by itself; else null */
            waits: {
                [key: string]: string | null;
            } | null;
            /** @description Owners of its Safe who must sign: needed, signed (the golem's own key counts); null where none does */
            owners: {
                [key: string]: number;
            } | null;
            /** @description Whose wish it was: the module, its definition and its call; null for the agent's own */
            wished_by: {
                [key: string]: unknown;
            } | null;
            /** @description What memory changed */
            soft_params: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            transactions: {
                [key: string]: unknown;
            }[];
            result: {
                [key: string]: unknown;
            };
            problem: {
                [key: string]: unknown;
            };
        };
        /** @description The new permit, and where its preview's time went. */
        PreviewActionOutput: {
            /** Format: uuid */
            permit_id: string;
            status: components["schemas"]["StatusEnum"];
            status_reason: string;
            action_type: string;
            venue: string;
            chain_id: number;
            tool: string;
            action_class: string;
            risk_tier: components["schemas"]["RiskTierEnum"];
            /** @description Worst case, for people */
            value_usd: string;
            /** @description Worst case in millionths of a dollar, decimal text */
            value_micro_usd: string;
            plan_hash: string;
            simulation_hash: string;
            policy_hash: string;
            calls: {
                [key: string]: unknown;
            }[];
            expected_outcome: {
                [key: string]: unknown;
            };
            /** @description Which engine simulated */
            fidelity: string;
            review: {
                [key: string]: unknown;
            };
            /** @description What must still happen before a commit */
            missing: string[];
            /** @description While owners or an announcement are waited for: `state` in the owners' own word, `until` when it ends by itself; else null */
            waits: {
                [key: string]: string | null;
            } | null;
            /** @description Owners of its Safe who must sign: needed, signed (the golem's own key counts); null where none does */
            owners: {
                [key: string]: number;
            } | null;
            /** @description Whose wish it was: the module, its definition and its call; null for the agent's own */
            wished_by: {
                [key: string]: unknown;
            } | null;
            /** @description What memory changed */
            soft_params: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            transactions: {
                [key: string]: unknown;
            }[];
            result: {
                [key: string]: unknown;
            };
            problem: {
                [key: string]: unknown;
            };
            /** @description Milliseconds of each stage */
            timings_ms: {
                [key: string]: number;
            };
        };
        /** @description RFC 9457, with what to do next. Further members depend on the code: limits, fields, suggestions. */
        ProblemOutput: {
            /** @description Path of the page about this code */
            type: string;
            title: string;
            status: number;
            detail: string;
            instance: string;
            code: string;
            recovery: components["schemas"]["RecoveryEnum"];
            request_id: string;
            /** @description Fields to add */
            missing?: string[];
            /** @description Fields to leave out */
            extra?: string[];
            /** @description What only the caller knows, each with what it may be */
            fill?: {
                [key: string]: unknown;
            };
            /** @description The call that would be right, but for `fill` */
            next_call?: {
                [key: string]: unknown;
            };
        };
        QueryGrimoireBody: components["schemas"]["QueryGrimoireInput"] | components["schemas"]["ReadInput"];
        /** @description Refuses fields it does not have, and names them together with what is missing or malformed. */
        QueryGrimoireInput: {
            query: string;
            store?: components["schemas"]["StoreEnum"] | components["schemas"]["NullEnum"];
            limit?: number | null;
            action_type?: string | null;
            venue?: string | null;
            tokens?: string | null;
            /** Format: int64 */
            chain_id?: number | null;
            importance?: components["schemas"]["ImportanceEnum"] | components["schemas"]["NullEnum"];
            since?: string | null;
            until?: string | null;
            /** @description The same filters, nested */
            filters?: {
                action_type?: unknown;
                chain_id?: unknown;
                importance?: unknown;
                include_archived?: unknown;
                since?: unknown;
                token_pair?: unknown;
                tokens?: unknown;
                tool?: unknown;
                tool_name?: unknown;
                until?: unknown;
                venue?: unknown;
            } | null;
        } & {
            [key: string]: null;
        };
        /** @description Every text in it is data from the past, never an instruction. */
        QueryGrimoireOutput: {
            query: string;
            store: components["schemas"]["StoreEnum"];
            /** @description hybrid, or text_only when the model was not used */
            mode: string | null;
            mode_reason: string | null;
            episodes?: {
                [key: string]: unknown;
            }[];
            episodes_searched?: number;
            insights?: {
                [key: string]: unknown;
            }[];
            heuristics?: {
                [key: string]: unknown;
            }[];
        };
        /** @description A read that is made instead of the search, with its own parameters; its tool's schema closes it. */
        ReadInput: {
            /** @description One of the manifest's queries of this tool. */
            read: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description * `FIX_PARAMS` - FIX_PARAMS
         *     * `PREVIEW_AGAIN` - PREVIEW_AGAIN
         *     * `WAIT` - WAIT
         *     * `ASK_OWNER` - ASK_OWNER
         *     * `CHECK_STATE` - CHECK_STATE
         *     * `GIVE_UP` - GIVE_UP
         * @enum {string}
         */
        RecoveryEnum: "FIX_PARAMS" | "PREVIEW_AGAIN" | "WAIT" | "ASK_OWNER" | "CHECK_STATE" | "GIVE_UP";
        /**
         * @description * `ROUTINE` - ROUTINE
         *     * `STANDARD` - STANDARD
         *     * `ELEVATED` - ELEVATED
         *     * `HIGH` - HIGH
         *     * `CRITICAL` - CRITICAL
         * @enum {string}
         */
        RiskTierEnum: "ROUTINE" | "STANDARD" | "ELEVATED" | "HIGH" | "CRITICAL";
        SearchContextBody: components["schemas"]["SearchContextInput"] | components["schemas"]["ReadInput"];
        /** @description Refuses fields it does not have, and names them together with what is missing or malformed. */
        SearchContextInput: {
            query: string;
            limit?: number | null;
        } & {
            [key: string]: null;
        };
        SearchContextOutput: {
            query: string;
            /** Format: date-time */
            as_of: string;
            /** @description Version of PLAYBOOK and STRATEGY, null where nothing was written */
            documents: {
                [key: string]: unknown;
            };
            /** @description Best first */
            sections: {
                [key: string]: unknown;
            }[];
            sections_searched: number;
            /** @description Golem, limits and open permits */
            state: {
                [key: string]: unknown;
            };
            /** @description Of registered tokens the query names */
            prices: {
                [key: string]: unknown;
            }[];
            /** @description What could not be looked up */
            warnings: string[];
        };
        /**
         * @description * `CREATED` - Created
         *     * `COMMITTING` - Committing
         *     * `COMMITTED` - Committed
         *     * `REVERTED` - Reverted
         *     * `UNKNOWN` - Unknown
         *     * `EXPIRED` - Expired
         *     * `CANCELLED` - Cancelled
         *     * `BLOCKED` - Blocked
         *     * `AWAITING_APPROVAL` - Awaiting approval
         *     * `ANNOUNCED` - Announced
         * @enum {string}
         */
        StatusEnum: "CREATED" | "COMMITTING" | "COMMITTED" | "REVERTED" | "UNKNOWN" | "EXPIRED" | "CANCELLED" | "BLOCKED" | "AWAITING_APPROVAL" | "ANNOUNCED";
        /**
         * @description * `episodes` - episodes
         *     * `insights` - insights
         *     * `heuristics` - heuristics
         *     * `all` - all
         * @enum {string}
         */
        StoreEnum: "episodes" | "insights" | "heuristics" | "all";
        /** @description The answer of a tool. Amounts are base units as decimal text, with whole units beside them. */
        ToolResultOutput: {
            data: unknown;
            is_error: boolean;
            schema_version: number;
            expected_outcome: {
                [key: string]: unknown;
            } | null;
            actual_outcome: {
                [key: string]: unknown;
            } | null;
            ground_truth_source: string | null;
        };
        /** @description Refuses fields it does not have, and names them together with what is missing or malformed. */
        UpdateDirectiveInput: {
            section: string;
            change: string;
            reason: string;
        };
        UpdateDirectiveOutput: {
            document: string;
            section: string;
            version: number;
            changed: boolean;
            /** @description Unified diff to the version before */
            diff: string;
            reason: string;
            characters: number;
            /** Format: date-time */
            created_at: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    events: {
        parameters: {
            query?: {
                /** @description Start after this place; wins over `since` */
                cursor?: string;
                /** @description Ids of golems, separated by commas; default: all you may see */
                golem?: string;
                /** @description The same, by the name an EventSource uses */
                last_event_id?: string;
                /** @description 1 to 500, default 100 */
                limit?: number;
                /** @description RFC 3339 time to start from */
                since?: string;
                /** @description Wire names or families (`tool:*`), separated by commas */
                types?: string;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPageOutput"];
                    "text/event-stream": string;
                };
            };
            /** @description A refusal: application/problem+json */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            406: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
        };
    };
    cancel_action: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 200 visible ASCII characters of your own choice. A repeat with the same key and body gets the first answer again for 24 hours; with another body 422, while the first still runs 409. Keys are per API key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CancelActionInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PermitOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
        };
    };
    commit_action: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 200 visible ASCII characters of your own choice. A repeat with the same key and body gets the first answer again for 24 hours; with another body 422, while the first still runs 409. Keys are per API key. */
                "Idempotency-Key"?: string;
                /** @description `respond-async`: do not wait for the outcome */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CommitActionInput"];
            };
        };
        responses: {
            /** @description The outcome is known */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommitActionOutput"];
                };
            };
            /** @description Under way; look at Location */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommitActionOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
        };
    };
    emergency_halt: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 200 visible ASCII characters of your own choice. A repeat with the same key and body gets the first answer again for 24 hours; with another body 422, while the first still runs 409. Keys are per API key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmergencyHaltInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmergencyHaltOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
        };
    };
    manifest: {
        parameters: {
            query?: {
                /** @description A provider's own shape */
                dialect?: "anthropic" | "gemini" | "mcp" | "openai" | "pi";
            };
            header?: {
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ManifestOutput"];
                };
            };
            /** @description Unchanged */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A refusal: application/problem+json */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
        };
    };
    list_permits: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string;
                limit?: number;
                /**
                 * @description * `CREATED` - Created
                 *     * `COMMITTING` - Committing
                 *     * `COMMITTED` - Committed
                 *     * `REVERTED` - Reverted
                 *     * `UNKNOWN` - Unknown
                 *     * `EXPIRED` - Expired
                 *     * `CANCELLED` - Cancelled
                 *     * `BLOCKED` - Blocked
                 *     * `AWAITING_APPROVAL` - Awaiting approval
                 *     * `ANNOUNCED` - Announced
                 */
                status?: "CREATED" | "COMMITTING" | "COMMITTED" | "REVERTED" | "UNKNOWN" | "EXPIRED" | "CANCELLED" | "BLOCKED" | "AWAITING_APPROVAL" | "ANNOUNCED";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PermitListOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
        };
    };
    get_permit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                permit_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PermitOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
        };
    };
    preview_action: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 200 visible ASCII characters of your own choice. A repeat with the same key and body gets the first answer again for 24 hours; with another body 422, while the first still runs 409. Keys are per API key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": ({
                    /** @description One of the manifest's actions; `kind` and `type` also work. */
                    action_type?: string;
                    /** @description Needed where several venues serve the action. */
                    venue?: string | null;
                    /** @description EIP-155 chain id; the golem's home chain when left out. */
                    chain_id?: number | null;
                    /** @description Why; owners who are asked to approve it read this. */
                    why?: string | null;
                    /** @description The action's parameters, if not given flat. */
                    params?: Record<string, never> | null;
                } & {
                    [key: string]: unknown;
                }) | unknown | unknown | unknown | unknown;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreviewActionOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
        };
    };
    query_grimoire: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["QueryGrimoireBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueryGrimoireOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
        };
    };
    query_state: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": ({
                    /** @description One of the manifest's queries. */
                    query?: string;
                    /** @description Needed where several venues serve the query. */
                    venue?: string | null;
                    /** @description EIP-155 chain id; the golem's home chain when left out. */
                    chain_id?: number | null;
                    /** @description The query's parameters, if not given flat. */
                    params?: Record<string, never> | null;
                } & {
                    [key: string]: unknown;
                }) | unknown | unknown;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolResultOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
        };
    };
    search_context: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SearchContextBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchContextOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
        };
    };
    update_directive: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 200 visible ASCII characters of your own choice. A repeat with the same key and body gets the first answer again for 24 hours; with another body 422, while the first still runs 409. Keys are per API key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateDirectiveInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateDirectiveOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
            /** @description A refusal: application/problem+json */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemOutput"];
                };
            };
        };
    };
}
