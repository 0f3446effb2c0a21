// A strict client, which uses everything that the gateway at its argument offers, and
// reports what it could not read. host/interoptest has an odd server behind the gateway.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const client = new Client({ name: "odd", version: "1" }, { capabilities: {} });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
const report = { tools: [], prompts: [], resources: [], templates: [], texts: {}, errors: {}, failed: {} };
const options = { timeout: 30_000 };

async function attempt(what, use) {
  try {
    return await use();
  } catch (e) {
    // An error of the server has a code of its own; -32001 is a timeout.
    if (e.code !== undefined && e.code !== -32001) report.errors[what] = { code: e.code, message: e.message };
    else report.failed[what] = String(e.message ?? e).slice(0, 500);
  }
}

async function list(what, ask, member, id) {
  let cursor;
  do {
    const page = await attempt(what, () => ask({ cursor }, options));
    report[what].push(...(page?.[member] ?? []).map((item) => item[id]));
    cursor = page?.nextCursor;
  } while (cursor);
}

await list("tools", client.listTools.bind(client), "tools", "name");
await list("prompts", client.listPrompts.bind(client), "prompts", "name");
await list("resources", client.listResources.bind(client), "resources", "uri");
await list("templates", client.listResourceTemplates.bind(client), "resourceTemplates", "uriTemplate");
for (const name of report.tools) {
  const result = await attempt(name, () => client.callTool({ name, arguments: {} }, undefined, options));
  if (result) report.texts[name] = result.content.find((block) => block.type === "text")?.text ?? "";
}
for (const name of report.prompts) {
  const isCompletion = name.includes("__c_");
  const ref = { type: "ref/prompt", name };
  await attempt(name, () => isCompletion
    ? client.complete({ ref, argument: { name: "a", value: "" } }, options)
    : client.getPrompt({ name, arguments: { a: "x", who: "x" } }, options));
}
for (const uri of report.resources) await attempt(uri, () => client.readResource({ uri }, options));
await client.close();
console.log(JSON.stringify(report));
