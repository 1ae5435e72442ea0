/** What the golem's key is shown: the tools as pi takes them, and what only a person or the guard needs to know. */
import type { GolemServer, Json } from "./server.js";

export interface ShownTool {
  name: string;
  label: string;
  description: string;
  promptSnippet: string;
  promptGuidelines: string[];
  parameters: Json;
}

export interface Manifest {
  etag: string;
  golem: string;
  tools: ShownTool[];
  /** That the golem has more tools than are shown and how they are called; empty where all are shown. */
  moreTools: string;
  /** Names of the tools that have an effect. */
  writes: Set<string>;
  /** Steps to show while an action is under way, by action type. */
  steps: Map<string, string[]>;
}

/** The manifest as it is now; `known` again while nothing changed. */
export async function readManifest(server: GolemServer, known: Manifest | undefined): Promise<Manifest> {
  const path = "/api/v1/pi/manifest";
  const full = await server.get(path, known ? { "If-None-Match": known.etag } : {});
  if (full.status === 304 && known) return known;
  const shown = await server.get(`${path}?dialect=pi`);
  const told = full.body as { golem: { name: string }; tools: Json[]; actions: Json[] };
  const tools = (shown.body.tools as (ShownTool & Json)[]).map((tool) => ({
    ...tool,
    parameters: widenWords(tool.parameters),
    // A guideline stands among those of every other tool, so it names its own.
    promptGuidelines: tool.promptGuidelines.map((line) => (line.includes(tool.name) ? line : `${tool.name}: ${line}`)),
  }));
  return {
    etag: full.etag,
    golem: told.golem.name,
    tools,
    moreTools: typeof full.body.more_tools === "string" ? full.body.more_tools : "",
    writes: new Set(told.tools.filter((tool) => tool.is_write).map((tool) => String(tool.name))),
    steps: new Map(told.actions.map((each) => [String(each.action_type), each.progress_steps as string[]])),
  };
}

/**
 * The words that choose a tool stay listed, and any other word goes through to the server as well, with whatever it
 * takes: what the server answers (the parameters of a tool that is not shown, what was meant) helps a model more than
 * pi's own check, which only says no.
 */
function widenWords(parameters: Json): Json {
  const properties = { ...(parameters.properties as Record<string, Json>) };
  const words = ["action_type", "query", "read", "venue"].filter((word) => word in properties);
  for (const word of words) {
    const { enum: values, type: _type, ...rest } = properties[word] ?? {};
    if (Array.isArray(values)) properties[word] = { ...rest, anyOf: [{ type: "string", enum: values }, { type: "string" }] };
  }
  return { ...parameters, properties, ...(words.length > 0 ? { additionalProperties: true } : {}) };
}
