// A module in JavaScript: counts the words of a text. What it throws is told as its error.
import { log } from "golem:tool/host@1.0.0";

export function run(call) {
  const { text } = JSON.parse(call).parameters;
  log(`counting ${text.length} characters`);
  return JSON.stringify({ data: { words: text.split(/\s+/).filter(Boolean).length } });
}
