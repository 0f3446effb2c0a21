// An MCP server for host/interoptest made with major version 2 of the
// TypeScript SDK. Its endpoint /mcp supports 2026-07-28 and, with sessions, the
// older revisions. It has the tools of the other test servers.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer, createMcpHandler, fromJsonSchema, inputRequired } from "@modelcontextprotocol/server";

const text = (value) => ({ content: [{ type: "text", text: String(value) }] });
const schema = (properties) => fromJsonSchema({ type: "object", properties, required: Object.keys(properties) });
const grown = new Set();
const legacy = new Map(); // transports of sessions, with their servers
let withdrawn = 0;
let waiting = [];

// report sends progress if the client has sent a progress token.
async function report(ctx, progress, total) {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken !== undefined) {
    await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total } });
  }
}

function add(server, name) {
  return server.registerTool(name, { description: "Was not there before." }, () => text(`I am ${name}`));
}

// build returns a server with the current tools, prompts and resources.
function build({ era }) {
  const server = new McpServer({ name: "typescript", version: "1.2.3" }, { capabilities: { logging: {}, tools: { listChanged: true } } });
  const tool = (name, properties, call) => server.registerTool(name, { description: name, inputSchema: schema(properties) }, call);

  tool("echo", { text: { type: "string" } }, ({ text: said }) => text(said));
  tool("count", { steps: { type: "integer" } }, async ({ steps }, ctx) => {
    for (let i = 1; i <= steps; i++) await report(ctx, i, steps);
    return text(`counted to ${steps}`);
  });
  tool("speak", { level: { type: "string" }, text: { type: "string" } }, async ({ level, text: said }, ctx) => {
    await ctx.mcpReq.log(level, said);
    return text("said");
  });
  tool("wait", {}, async (_, ctx) => {
    await report(ctx, 0, 1);
    await new Promise((resolve) => ctx.mcpReq.signal.addEventListener("abort", resolve));
    withdrawn++;
    waiting = waiting.filter((look) => !look());
    return text("withdrawn");
  });
  tool("reach", { number: { type: "integer" } }, async ({ number }) => {
    await new Promise((resolve) => {
      const look = () => withdrawn >= number && (resolve(), true);
      if (!look()) waiting.push(look);
    });
    return text(withdrawn);
  });
  tool("grow", { name: { type: "string" } }, ({ name }) => {
    grown.add(name);
    for (const session of legacy.values()) add(session.server, name);
    handler.notify.toolsChanged();
    return text("grown");
  });
  tool("ask", {}, async (_, ctx) => {
    const requestedSchema = { type: "object", properties: { color: { type: "string" } }, required: ["color"] };
    const question = { mode: "form", message: "Which color?", requestedSchema };
    let answer = ctx.mcpReq.inputResponses?.color;
    if (era === "legacy") answer = await ctx.mcpReq.elicitInput(question);
    else if (!answer) return inputRequired({ inputRequests: { color: inputRequired.elicit(question) }, requestState: "state of the server" });
    return text(`${answer.action} ${answer.content?.color}`);
  });
  if (era === "legacy") {
    tool("sample", { prompt: { type: "string" } }, async ({ prompt }, ctx) => {
      const messages = [{ role: "user", content: { type: "text", text: prompt } }];
      const heard = await ctx.mcpReq.requestSampling({ messages, maxTokens: 50 });
      return text(`${heard.model} said ${heard.content.text}`);
    });
    tool("roots", {}, async (_, ctx) => text((await ctx.mcpReq.send({ method: "roots/list" })).roots.map((r) => r.uri)));
  }
  for (const name of grown) add(server, name);
  return server;
}

const handler = createMcpHandler(build, { legacy: "reject" });
const modern = toNodeHandler(handler);

// session serves a request of a revision before 2026-07-28.
async function session(req, res, body) {
  const id = req.headers["mcp-session-id"];
  let found = legacy.get(id);
  if (id && !found) {
    res.writeHead(404).end();
    return;
  }
  if (!found) {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (made) => legacy.set(made, found),
      onsessionclosed: (over) => legacy.delete(over),
    });
    found = { transport, server: build({ era: "legacy" }) };
    await found.server.connect(transport);
  }
  await found.transport.handleRequest(req, res, body);
}

const listener = createServer(async (req, res) => {
  let raw = "";
  for await (const chunk of req) raw += chunk;
  const body = raw ? JSON.parse(raw) : undefined;
  const revision = req.headers["mcp-protocol-version"] ?? "";
  await (revision >= "2026-07-28" ? modern(req, res, body) : session(req, res, body));
});
listener.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => {
  console.error(`listening on 127.0.0.1:${listener.address().port}`);
});
