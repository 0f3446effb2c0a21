// A client made with major version 2 of the TypeScript SDK that logs in with the
// program BROWSER. The arguments are the gateway's URL and the client's era. It
// reads JSON-RPC requests, a line each: tools/call, resources/subscribe, and
// refresh, which gets a new token. It reports every HTTP request, and the
// resources that changed, as notifications.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport, UnauthorizedError, auth } from "@modelcontextprotocol/client";

const [url, era] = process.argv.slice(2);
const print = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));

async function observedFetch(input, init) {
  const response = await fetch(input, init);
  const headers = new Headers(init?.headers);
  print({
    method: "http",
    params: {
      method: init?.method ?? "GET", url: String(input), status: response.status,
      challenge: response.headers.get("www-authenticate") ?? "",
      token: headers.get("authorization") ?? "",
      session: headers.get("mcp-session-id") ?? "",
      lastEvent: headers.get("last-event-id") ?? "",
      form: init?.body instanceof URLSearchParams ? Object.fromEntries(init.body) : {},
    },
  });
  return response;
}

// redirects resolves with the parameters of the request that ends a login.
let redirected;
const redirects = new Promise((resolve) => { redirected = resolve; });
const callback = createServer((req, res) => {
  res.end("done");
  redirected(new URL(req.url, "http://127.0.0.1").searchParams);
});
await new Promise((done) => callback.listen(0, "127.0.0.1", done));

const stored = {};
const login = {
  redirectUrl: `http://127.0.0.1:${callback.address().port}/callback`,
  get clientMetadata() {
    return {
      client_name: "interoptest", redirect_uris: [this.redirectUrl], scope: "mcp:read",
      grant_types: ["authorization_code", "refresh_token"], token_endpoint_auth_method: "none",
    };
  },
  clientInformation: () => stored.client,
  saveClientInformation: (client) => { stored.client = client; },
  tokens: () => stored.tokens,
  saveTokens: (tokens) => { stored.tokens = tokens; },
  codeVerifier: () => stored.verifier,
  saveCodeVerifier: (verifier) => { stored.verifier = verifier; },
  discoveryState: () => stored.discovery,
  saveDiscoveryState: (discovery) => { stored.discovery = discovery; },
  redirectToAuthorization: (to) => { spawn(process.env.BROWSER, [String(to)], { stdio: ["ignore", "ignore", "inherit"] }); },
};

let client, transport;
async function connect() {
  const mode = era === "modern" ? { pin: "2026-07-28" } : "legacy";
  client = new Client({ name: "interoptest", version: "1" }, { versionNegotiation: { mode } });
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => print({ method: "updated", params }));
  transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: login, fetch: observedFetch });
  await client.connect(transport);
}

const actions = {
  "tools/call": (params) => client.callTool(params),
  "resources/subscribe": ({ uri }) => client.subscribeResource({ uri }),
  async refresh() {
    const result = await auth(login, { serverUrl: url, fetchFn: observedFetch });
    if (result !== "AUTHORIZED") throw new Error(result);
    return {};
  },
};

try {
  await connect();
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
  await transport.finishAuth(await redirects);
  await connect();
}
callback.close();
print({ method: "connected", params: {} });
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  actions[method](params).then(
    (result) => print({ id, result }),
    (error) => print({ id, error: { code: 0, message: String(error) } }),
  );
}
process.exit();
