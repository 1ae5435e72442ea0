/** Why there is no answer to work with. */
import type { components } from "./schema.js";

export type Problem = Partial<components["schemas"]["ProblemOutput"]> & Record<string, unknown>;

/** A refusal: the server's problem document. */
export class GolemProblem extends Error {
  constructor(
    readonly status: number,
    readonly members: Problem,
  ) {
    super(`${members.code ?? `HTTP_${status}`}: ${members.detail ?? "no detail"}`);
    this.name = "GolemProblem";
  }
}

/** No answer came. Where the request was a write, asking again with the same key tells what became of it. */
export class GolemUnreachable extends Error {
  constructor(
    readonly attempts: number,
    readonly idempotencyKey: string,
  ) {
    super(`no answer after ${attempts} attempts`);
    this.name = "GolemUnreachable";
  }
}
