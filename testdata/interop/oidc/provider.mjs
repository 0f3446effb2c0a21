// An identity provider, and an MCP server that accepts its tokens only. POST
// /forget invalidates all tokens presented so far. GET /facts reports the
// events.
//
// GATEWAY is the URL of another resource. Its access tokens are JWTs that live
// TTL seconds. The issuer listens on ISSUER_PORT and keeps its keys in the file
// KEYS. POST /rotate adds the key that signs from then on.
import { generateKeyPair, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import Provider, { errors } from 'oidc-provider';
import { createMemoryAdapter } from './node_modules/oidc-provider/lib/adapters/memory_adapter.js';

const { GATEWAY: gateway, ISSUER_PORT: port = '0', KEYS: keysFile, TTL: ttl = '3600' } = process.env;
const facts = {
  registrations: 0, codes: 0, refreshes: 0, devices: 0, revoked: 0, logins: [], resources: [], issuer: '', keys: [], keysRead: 0,
};
const seen = new Set();
const forgotten = new Set();

const listen = (server, at) => new Promise((done) => {
  server.listen(at, '127.0.0.1', () => done(`http://127.0.0.1:${server.address().port}`));
});
const front = createServer((req, res) => serve(req, res));
const guard = createServer((req, res) => {
  if (req.url === '/jwks') facts.keysRead = Date.now();
  identify(req, res);
});

// addKey makes the key that signs, and keeps the others.
async function addKey(others) {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  const keys = [{ ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' }, ...others];
  if (keysFile) writeFileSync(keysFile, JSON.stringify(keys), { mode: 0o600 });
  return keys;
}

let keys = keysFile && existsSync(keysFile) ? JSON.parse(readFileSync(keysFile)) : await addKey([]);
const base = await listen(front, 0);
const issuer = await listen(guard, Number(port));
const resource = `${base}/mcp`;
const metadata = `${base}/.well-known/oauth-protected-resource/mcp`;

const adapter = createMemoryAdapter();
const configuration = () => ({
  adapter,
  jwks: { keys },
  features: {
    registration: { enabled: true },
    revocation: { enabled: true },
    deviceFlow: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      useGrantedResource: () => false, // every request must name the resource
      getResourceServerInfo: (ctx, asked) => {
        const scope = 'mcp:read mcp:write';
        if (asked === resource) return { scope, accessTokenFormat: 'opaque', accessTokenTTL: 3600 };
        if (asked === gateway) return { scope, audience: gateway, accessTokenFormat: 'jwt', accessTokenTTL: Number(ttl) };
        throw new errors.InvalidTarget();
      },
    },
  },
  scopes: ['openid', 'offline_access', 'mcp:read', 'mcp:write'],
  clientBasedCORS: () => false,
  // An SDK may refresh for several requests at a time, and a refresh token that
  // is used twice would end the login.
  rotateRefreshToken: !gateway,
  pkce: { required: () => true },
  findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  cookies: { keys: ['a key for tests'] },
  ttl: {
    AccessToken: (ctx, token) => token.resourceServer?.accessTokenTTL ?? 3600,
    AuthorizationCode: 60, DeviceCode: 300, Grant: 3600, IdToken: 3600, Interaction: 300, RefreshToken: 86400, Session: 3600,
  },
});

// start returns a provider that signs with the first key. All providers of the
// process share clients and tokens.
function start() {
  Object.assign(facts, { issuer, keys: keys.map(({ kid }) => kid) });
  const provider = new Provider(issuer, configuration());
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
  return provider;
}

let provider = start();
let identify = provider.callback();

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
  } else if (pathname === '/rotate') {
    keys = await addKey(keys);
    provider = start();
    identify = provider.callback();
    send(res, 200, facts);
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
