// A client made with major version 2 of the TypeScript SDK, which supports both
// eras. The arguments are the gateway's URL, the client's name and its era.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Heard, answerTo, complete, use } from "./report.mjs";

const [url, name, era] = process.argv.slice(2);
const heard = new Heard();
const mode = era === "modern" ? { pin: "2026-07-28" } : "legacy";
const client = new Client({ name, version: "1" }, { capabilities: { elicitation: {}, sampling: {} }, versionNegotiation: { mode } });
client.setRequestHandler("elicitation/create", ({ params }) => answerTo(params));
client.setRequestHandler("sampling/createMessage", complete);
client.setNotificationHandler("notifications/message", ({ params }) => heard.note(() => heard.logs.push(params.data)));
client.setNotificationHandler("notifications/tools/list_changed", () => heard.note(() => heard.changes++));
client.setNotificationHandler("notifications/resources/updated", ({ params }) => heard.note(() => heard.updated.push(params.uri)));

const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);
if (era === "legacy") await client.setLoggingLevel("warning");
const _meta = era === "modern" ? { "io.modelcontextprotocol/logLevel": "warning" } : undefined;
const report = await use({
  name, client, heard,
  call: (params, options) => client.callTool({ ...params, _meta }, options),
  subscribe: (uri) =>
    era === "modern" ? client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] }) : client.subscribeResource({ uri }),
});
report.revision = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion;
if (era === "legacy") await transport.terminateSession();
await client.close();
console.log(JSON.stringify(report));
