/** A permit in words for the person who decides. Every text in it came from outside: letters only, cut to length. */
import type { Json } from "./server.js";

const LONGEST = 160;

/** `value` as one line without control characters, so that nothing in it can move the cursor or colour the question. */
export function clean(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST)}…` : plain;
}

export function isPermit(body: Json): boolean {
  return typeof body.permit_id === "string" && typeof body.status === "string";
}

/** The lines of a permit: what, at what risk, what it should do to the balances, and what became of it. */
export function describePermit(permit: Json): string[] {
  const outcome = (permit.expected_outcome ?? {}) as { balance_deltas?: Json[] };
  const deltas = Array.isArray(outcome.balance_deltas) ? outcome.balance_deltas : [];
  const sent = Array.isArray(permit.transactions) ? (permit.transactions as Json[]) : [];
  const missing = Array.isArray(permit.missing) ? permit.missing : [];
  return [
    `${clean(permit.action_type)} at ${clean(permit.venue)} on chain ${clean(permit.chain_id)}: ${clean(permit.status)}`,
    `risk ${clean(permit.risk_tier)}, worst case ${clean(permit.value_usd)}`,
    ...deltas.map((each) => `balance ${clean(each.units)}${each.symbol ? "" : ` of ${clean(each.token)}`}`),
    ...missing.map((each) => `still missing: ${clean(each)}`),
    ...sent.map((each) => `transaction ${clean(each.tx_hash ?? each.hash ?? each)}`),
    `permit ${clean(permit.permit_id)}, good until ${clean(permit.expires_at)}`,
  ];
}
