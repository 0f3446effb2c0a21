// An MCP server for host/interoptest made with major version 1 of the TypeScript
// SDK. With the argument "one", a single transport serves all clients; otherwise
// each session has a transport, as in the examples of the SDK.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

const transports = new Map();

async function open() {
  const server = new McpServer({ name: "sessions", version: "1" });
  server.registerTool("echo", { description: "Repeats a text.", inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => transports.set(id, transport),
    onsessionclosed: (id) => transports.delete(id),
  });
  await server.connect(transport);
  return transport;
}

const shared = process.argv[2] === "one" ? await open() : undefined;

async function transportFor(id, body) {
  if (shared) return shared;
  if (id) return transports.get(id);
  return isInitializeRequest(body) ? open() : undefined;
}

const listener = createServer(async (req, res) => {
  let raw = "";
  for await (const chunk of req) raw += chunk;
  const body = raw ? JSON.parse(raw) : undefined;
  const transport = await transportFor(req.headers["mcp-session-id"], body);
  if (transport) {
    await transport.handleRequest(req, res, body);
    return;
  }
  res.writeHead(400, { "Content-Type": "application/json" });
  res.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message: "Bad Request: No valid session ID provided" }, id: null }));
});
listener.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => {
  console.error(`listening on 127.0.0.1:${listener.address().port}`);
});
