/** A typed client of a golem's HTTP interface: every operation of its OpenAPI document, and nothing done twice. */
export { createGolemClient, waitForOutcome, type GolemClient, type GolemOptions } from "./client.js";
export { GolemProblem, GolemUnreachable } from "./problem.js";
export type { components, operations, paths } from "./schema.js";
