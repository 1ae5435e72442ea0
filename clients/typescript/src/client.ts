/**
 * The operations of `schema.ts`, sent so that nothing happens twice: a write keeps its Idempotency-Key over its attempts, and
 * is tried again only when no answer came or the server is busy. The token goes to one server; redirects are not followed.
 */
import createClient, { type Client } from "openapi-fetch";

import { GolemProblem, GolemUnreachable, type Problem } from "./problem.js";
import type { components, paths } from "./schema.js";

const IDEMPOTENCY_KEY = "Idempotency-Key";
const LONGEST_PAUSE_MS = 10_000;
const BUSY = new Set([429, 502, 503, 504]);
const BUSY_CODES = new Set<unknown>([
  "IDEMPOTENCY_KEY_IN_USE",
  "TOO_MANY_COMMITS_WAITING",
  "TOO_MANY_PREVIEWS_WAITING",
  "TOO_MANY_REQUESTS_AT_ONCE",
  "TOO_MANY_WAITING_HERE",
]);
const UNSETTLED = new Set<string>(["COMMITTING", "UNKNOWN"]);

export type GolemClient = Client<paths>;

export interface GolemOptions {
  attempts?: number;
  /** Longer than the server waits for a preview or an outcome. */
  timeoutMs?: number;
  sleep?: (milliseconds: number) => Promise<void>;
}

const sleepFor = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** One golem through one token. A refusal is thrown as GolemProblem, silence as GolemUnreachable. */
export function createGolemClient(baseUrl: string, token: string, options: GolemOptions = {}): GolemClient {
  const { protocol } = new URL(baseUrl);
  if (protocol !== "http:" && protocol !== "https:") throw new Error("baseUrl must be http or https");
  const { attempts = 4, timeoutMs = 90_000, sleep = sleepFor } = options;
  return createClient<paths>({
    baseUrl,
    headers: { Authorization: `Bearer ${token}`, Accept: "application/json" },
    redirect: "error",
    fetch: (request) => send(request, { attempts, timeoutMs, sleep }),
  });
}

/** The permit once its outcome is known, or as it stands after `seconds`. */
export async function waitForOutcome(
  client: GolemClient,
  permitId: string,
  seconds = 60,
): Promise<components["schemas"]["PermitOutput"]> {
  const deadline = Date.now() + seconds * 1_000;
  for (;;) {
    const path = { permit_id: permitId };
    const { data } = await client.GET("/api/v1/pi/permits/{permit_id}", { params: { path } });
    if (data === undefined) throw new GolemProblem(502, { detail: "the answer was empty" });
    if (!UNSETTLED.has(data.status) || Date.now() >= deadline) return data;
    await sleepFor(1_000);
  }
}

async function send(request: Request, options: Required<GolemOptions>): Promise<Response> {
  if (request.method === "POST" && !request.headers.has(IDEMPOTENCY_KEY)) {
    request.headers.set(IDEMPOTENCY_KEY, crypto.randomUUID());
  }
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt >= options.attempts;
    const response = await readWhole(request.clone(), options.timeoutMs);
    if (response === undefined) {
      if (isLast) throw new GolemUnreachable(attempt, request.headers.get(IDEMPOTENCY_KEY) ?? "");
      await options.sleep(pauseAfter(attempt));
      continue;
    }
    if (response.ok || response.status === 304) return response;
    const members = (await response.json().catch(() => ({}))) as Problem;
    const pause = readPause(response.status, members, attempt);
    if (isLast || pause === undefined) throw new GolemProblem(response.status, members);
    await options.sleep(pause);
  }
}

/** The answer with its body, so that one cut off in the middle counts as none; undefined where none came. */
async function readWhole(request: Request, timeoutMs: number): Promise<Response | undefined> {
  try {
    const response = await fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]) });
    const body = response.status === 304 ? null : await response.arrayBuffer();
    return new Response(body, { status: response.status, headers: response.headers });
  } catch (error) {
    if (request.signal.aborted) throw error;
    return undefined;
  }
}

const pauseAfter = (attempt: number) => Math.min(LONGEST_PAUSE_MS, 250 * 2 ** attempt);

/** Milliseconds until the same request is worth another attempt; undefined where it is not. */
function readPause(status: number, members: Problem, attempt: number): number | undefined {
  if (!BUSY.has(status) && !BUSY_CODES.has(members.code)) return undefined;
  const asked = members.retry_after_seconds;
  const pause = typeof asked === "number" ? asked * 1_000 : pauseAfter(attempt);
  return pause >= 0 && pause <= LONGEST_PAUSE_MS ? pause : undefined;
}
