/**
 * The golem's server over HTTP. A write keeps its Idempotency-Key over its attempts, so an answer that was lost is given
 * again and its effect happens once. Redirects are not followed: the token goes to the server it is for.
 */
import { randomUUID } from "node:crypto";

const ATTEMPTS = 3;
const TIMEOUT_MS = 90_000;
const LONGEST_PAUSE_MS = 10_000;

export type Json = Record<string, unknown>;

/** A refusal: what its problem document says. */
export class GolemProblem extends Error {
  constructor(
    readonly status: number,
    readonly members: Json,
  ) {
    super(describeProblem(status, members));
    this.name = "GolemProblem";
  }

  get code(): string {
    return String(this.members.code ?? `HTTP_${this.status}`);
  }
}

/** No answer came; a write may have happened or not. */
export class GolemUnreachable extends Error {
  constructor(readonly idempotencyKey: string) {
    super(
      "GOLEM_UNREACHABLE: the golem's server gave no answer." +
        (idempotencyKey ? " Whether it happened is not known: look at the permits before anything else." : ""),
    );
    this.name = "GolemUnreachable";
  }
}

export interface Answer {
  status: number;
  etag: string;
  body: Json;
}

export class GolemServer {
  readonly #base: string;
  readonly #token: string;

  constructor(address: string, token: string) {
    const url = new URL(address);
    if (url.protocol !== "http:" && url.protocol !== "https:") throw new Error("GOLEM_URL must be http or https");
    this.#base = address.replace(/\/+$/, "");
    this.#token = token;
  }

  get(path: string, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Answer> {
    return this.#send("GET", path, undefined, headers, signal);
  }

  /** One of the eight; `hasEffect` gives it an Idempotency-Key. */
  call(tool: string, body: Json, hasEffect: boolean, signal?: AbortSignal): Promise<Answer> {
    const headers: Record<string, string> = hasEffect ? { "Idempotency-Key": randomUUID() } : {};
    return this.#send("POST", `/api/v1/pi/${encodeURIComponent(tool)}`, body, headers, signal);
  }

  async #send(
    method: string,
    path: string,
    body: Json | undefined,
    headers: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<Answer> {
    const key = headers["Idempotency-Key"] ?? "";
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#attempt(method, path, body, headers, signal).catch(() => undefined);
      signal?.throwIfAborted();
      if (answer !== undefined && (answer.status < 300 || answer.status === 304)) return answer;
      const pause = answer === undefined ? 250 * 2 ** attempt : readPause(answer);
      if (attempt < ATTEMPTS && pause !== undefined) {
        await new Promise((resolve) => setTimeout(resolve, pause));
        continue;
      }
      if (answer === undefined) throw new GolemUnreachable(key);
      throw new GolemProblem(answer.status, answer.body);
    }
  }

  async #attempt(
    method: string,
    path: string,
    body: Json | undefined,
    headers: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<Answer> {
    const limits = [AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])];
    const response = await fetch(this.#base + path, {
      method,
      redirect: "error",
      signal: AbortSignal.any(limits),
      headers: {
        Accept: "application/json",
        Authorization: `Bearer ${this.#token}`,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, etag: response.headers.get("ETag") ?? "", body: readObject(text) };
  }
}

/** Milliseconds until the same request is worth another attempt; undefined where it is not. */
function readPause(answer: Answer): number | undefined {
  const isBusy = [429, 502, 503, 504].includes(answer.status) || answer.body.code === "IDEMPOTENCY_KEY_IN_USE";
  if (!isBusy) return undefined;
  const asked = Number(answer.body.retry_after_seconds ?? 1) * 1000;
  return asked >= 0 && asked <= LONGEST_PAUSE_MS ? asked : undefined;
}

function readObject(text: string): Json {
  if (text === "") return {};
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null && !Array.isArray(found) ? (found as Json) : {};
  } catch {
    return {};
  }
}

function describeProblem(status: number, members: Json): string {
  // Whole: whatever a refusal says may be what mends it. What is first is read first.
  const { code, detail, recovery, ...rest } = members;
  return JSON.stringify({ status, code, detail, recovery, ...rest });
}
