// The official JavaScript client: card, preview, commit, outcome, over the binding it is told.
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";

const [cardUrl, token, binding, amount] = process.argv.slice(2);
const fetchImpl = (url, init = {}) =>
  fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), Authorization: `Bearer ${token}` } });
const factory = new ClientFactory(
  ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: [binding],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  }),
);
const client = await factory.createFromUrl(cardUrl, "");

const ask = (skill, params) => ({
  tenant: "",
  message: {
    messageId: crypto.randomUUID(),
    contextId: "",
    taskId: "",
    role: 1,
    parts: [{ content: { $case: "data", value: { skill, params } }, metadata: undefined, filename: "", mediaType: "" }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  },
  configuration: undefined,
  metadata: undefined,
});

const answerOf = (artifacts) => artifacts[0].parts[0].content.value;

let permit;
for await (const { payload } of client.sendMessageStream(
  ask("preview_action", { action_type: "swap", token_in: "USDC", token_out: "WETH", amount }),
)) {
  if (payload.$case === "artifactUpdate") permit = answerOf([payload.value.artifact]);
}
const result = await client.sendMessage(ask("commit_action", { permit_id: permit.permit_id }));
const task = result.payload?.value ?? result;
console.log(permit.status, answerOf(task.artifacts).status);
