// A client made with major version 1 of the TypeScript SDK, which supports
// legacy revisions only. The arguments are the gateway's URL and the client's
// name.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as schema from "@modelcontextprotocol/sdk/types.js";
import { Heard, answerTo, complete, use } from "./report.mjs";

const [url, name] = process.argv.slice(2);
const heard = new Heard();
const client = new Client({ name, version: "1" }, { capabilities: { elicitation: {}, sampling: {} } });
client.setRequestHandler(schema.ElicitRequestSchema, ({ params }) => answerTo(params));
client.setRequestHandler(schema.CreateMessageRequestSchema, complete);
client.setNotificationHandler(schema.LoggingMessageNotificationSchema, ({ params }) => heard.note(() => heard.logs.push(params.data)));
client.setNotificationHandler(schema.ToolListChangedNotificationSchema, () => heard.note(() => heard.changes++));
client.setNotificationHandler(schema.ResourceUpdatedNotificationSchema, ({ params }) => heard.note(() => heard.updated.push(params.uri)));

const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);
await client.setLoggingLevel("warning");
const report = await use({
  name, client, heard,
  call: (params, options) => client.callTool(params, undefined, options),
  subscribe: (uri) => client.subscribeResource({ uri }),
});
report.revision = transport.protocolVersion;
await transport.terminateSession();
await client.close();
console.log(JSON.stringify(report));
