// A client with the initialize of a real one. The arguments are the program of the gateway and a JSON
// object: clientInfo, capabilities and patience, the longest wait for the first list in
// milliseconds. With "grows" it waits for a tool of that name, as long again.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ListRootsRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [program, text] = process.argv.slice(2);
const { clientInfo, capabilities, patience, grows } = JSON.parse(text);
const client = new Client(clientInfo, { capabilities });
if (capabilities.roots) {
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: `file://${process.cwd()}` }] }));
}
let changed = () => {};
client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed());

const began = Date.now();
const names = async () => (await client.listTools(undefined, { timeout: patience })).tools.map((tool) => tool.name);
await client.connect(new StdioClientTransport({ command: program, args: ["serve"], env: process.env, stderr: "inherit" }), { timeout: patience });
const report = { tools: await names(), took: Date.now() - began, instructions: client.getInstructions() };
for (const until = Date.now() + patience; grows && !report.grew && Date.now() < until; ) {
  await new Promise((done) => { changed = done; setTimeout(done, 250); });
  report.grew = (await names()).includes(grows);
}
await client.close();
console.log(JSON.stringify(report));
