// A host made with the official TypeScript client, of revision 2026-07-28: it shows its person the link of an approval and
// goes on with the same call. Its person reads the link from its output, and says by a line that they decided.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, token, permitId] = process.argv.slice(2);
const host = new Client(
  { name: "a-host", version: "1" },
  { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
);
host.setRequestHandler("elicitation/create", async (request) => {
  console.log(request.params.mode, request.params.url);
  await new Promise((resolve) => process.stdin.once("data", resolve));
  process.stdin.pause();
  return { action: "accept" };
});
await host.connect(
  new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }),
);
const answer = await host.callTool({ name: "commit_action", arguments: { permit_id: permitId } });
const story = await host.readResource({ uri: `golem://permits/${permitId}` });
console.log(answer.structuredContent.code, answer.structuredContent.permit_status, JSON.parse(story.contents[0].text).status);
await host.close();
