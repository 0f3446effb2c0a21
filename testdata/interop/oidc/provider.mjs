// An identity provider, and an MCP server that accepts its tokens only. POST
// /forget invalidates all tokens presented so far. GET /facts reports the
// events.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const facts = { registrations: 0, codes: 0, refreshes: 0, devices: 0, revoked: 0, logins: [], resources: [] };
const seen = new Set();
const forgotten = new Set();

const listen = (server) => new Promise((done) => server.listen(0, '127.0.0.1', () => done(`http://127.0.0.1:${server.address().port}`)));
const front = createServer((req, res) => serve(req, res));
const guard = createServer((req, res) => identify(req, res));
const base = await listen(front);
const issuer = await listen(guard);
const resource = `${base}/mcp`;
const metadata = `${base}/.well-known/oauth-protected-resource/mcp`;

const provider = new Provider(issuer, {
  features: {
    registration: { enabled: true },
    revocation: { enabled: true },
    deviceFlow: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      useGrantedResource: () => false, // every request must name the resource
      getResourceServerInfo: (ctx, asked) => {
        if (asked !== resource) throw new Error('unknown resource');
        return { scope: 'mcp:read mcp:write', accessTokenFormat: 'opaque', accessTokenTTL: 3600 };
      },
    },
  },
  scopes: ['openid', 'offline_access', 'mcp:read', 'mcp:write'],
  clientBasedCORS: () => false,
  rotateRefreshToken: true,
  pkce: { required: () => true },
  findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  cookies: { keys: ['a key for tests'] },
  ttl: { AccessToken: 3600, AuthorizationCode: 60, DeviceCode: 300, Grant: 3600, IdToken: 3600, Interaction: 300, RefreshToken: 86400, Session: 3600 },
});
provider.on('registration_create.success', () => { facts.registrations += 1; });
provider.on('authorization.success', (ctx) => { facts.logins.push(ctx.oidc.params.scope); });
provider.on('grant.success', (ctx) => {
  const { grant_type: kind, resource: asked } = ctx.oidc.params;
  if (kind === 'authorization_code') facts.codes += 1;
  if (kind === 'refresh_token') facts.refreshes += 1;
  if (kind.endsWith('device_code')) facts.devices += 1;
  facts.resources.push(asked);
});
provider.on('grant.revoked', () => { facts.revoked += 1; });
provider.on('server_error', (ctx, err) => { console.error(err); });
const identify = provider.callback();

const send = (res, status, body, headers = {}) => {
  res.writeHead(status, { 'content-type': 'application/json', ...headers });
  res.end(body === undefined ? undefined : JSON.stringify(body));
};

async function serve(req, res) {
  const { pathname } = new URL(req.url, base);
  if (pathname === '/.well-known/oauth-protected-resource/mcp') {
    send(res, 200, { resource, authorization_servers: [issuer], scopes_supported: ['mcp:read'] });
  } else if (pathname === '/forget') {
    for (const token of seen) forgotten.add(token);
    send(res, 200, {});
  } else if (pathname === '/facts') {
    send(res, 200, facts);
  } else if (pathname === '/mcp') {
    await speak(req, res);
  } else {
    send(res, 404, {});
  }
}

// speak implements the parts of MCP that a call needs.
async function speak(req, res) {
  let text = '';
  for await (const chunk of req) text += chunk;
  const [, presented] = /^Bearer (.+)$/.exec(req.headers.authorization ?? '') ?? [];
  const token = presented && !forgotten.has(presented) && await provider.AccessToken.find(presented);
  if (!token || ![token.aud].flat().includes(resource)) {
    send(res, 401, {}, { 'www-authenticate': `Bearer resource_metadata="${metadata}", scope="mcp:read"` });
    return;
  }
  seen.add(presented);
  if (req.method !== 'POST') {
    send(res, 405, {});
    return;
  }
  const { id, method, params } = JSON.parse(text);
  const scopes = (token.scope ?? '').split(' ');
  const needed = method === 'tools/call' && params.name === 'write' ? 'mcp:write' : 'mcp:read';
  if (!scopes.includes(needed)) {
    send(res, 403, {}, { 'www-authenticate': `Bearer error="insufficient_scope", scope="${needed}", resource_metadata="${metadata}"` });
    return;
  }
  const tool = (name) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } });
  const results = {
    initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'guarded', version: '1' } }),
    'tools/list': () => ({ tools: [tool('read'), tool('write')] }),
    'tools/call': () => ({ content: [{ type: 'text', text: `${params.name} for ${token.accountId}` }] }),
    ping: () => ({}),
  };
  if (id === undefined) {
    send(res, 202);
  } else if (!results[method]) {
    send(res, 200, { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
  } else {
    send(res, 200, { jsonrpc: '2.0', id, result: results[method]() });
  }
}

console.error(`listening on ${new URL(base).host}`);
