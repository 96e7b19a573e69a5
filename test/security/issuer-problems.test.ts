// What the operator is told about an authorization server that is down, or whose keys are partly invalid.

import { expect, test } from 'vitest';
import { type LogFields, type Logger, silentLogger } from '../../src/common/logger.ts';
import { createServer as createMcpServer } from '../../src/engine/server.ts';
import { createOAuthAuthenticator, type OAuthOptions } from '../../src/security/auth/index.ts';
import { serveHttp } from '../../src/transports/http.ts';
import { AuthorizationServer } from './fixtures/authorization-server.ts';

const resource = 'https://mcp.example.com/mcp';

function recordingLogger(): { readonly logger: Logger; readonly lines: { message: string; fields: LogFields }[] } {
  const lines: { message: string; fields: LogFields }[] = [];
  const warn = (message: string, fields: LogFields = {}): void => void lines.push({ message, fields });
  return { logger: { ...silentLogger, warn }, lines };
}

const requestWith = (token: string) => ({
  method: 'POST',
  path: '/mcp',
  address: '127.0.0.1',
  get: (name: string) => (name === 'authorization' ? `Bearer ${token}` : undefined),
});

test.each(['keys', 'introspection'] as const)(
  'requests while the %s of an issuer fail are one warning',
  async (way) => {
    const issuer = await AuthorizationServer.start();
    const token = way === 'keys' ? await issuer.token(resource) : 'opaque';
    issuer.answers.set('/keys', { status: 503, body: {} });
    issuer.answers.set('/introspect', { status: 503, body: {} });
    const introspection = { endpoint: `${issuer.issuer}/introspect`, clientId: 'server', clientSecret: 's3cret' };
    const { authenticate } = createOAuthAuthenticator({
      resource,
      issuers: [way === 'keys' ? issuer.issuer : { issuer: issuer.issuer, introspection }],
    });
    const { logger, lines } = recordingLogger();
    const http = await serveHttp(createMcpServer({ name: 's', version: '1' }), { port: 0, authenticate, logger });
    for (let n = 0; n < 10; n++) {
      const response = await fetch(http.url, { method: 'POST', headers: { Authorization: `Bearer ${token}` } });
      expect(response.status).toBe(503);
      await response.arrayBuffer();
    }
    expect(lines.map(({ message }) => message)).toEqual(['authentication is not possible now']);
    await http.close();
    await issuer.close();
  },
);

test.each([[null], ['text'], [5], [[]]])(
  'an entry %j of a key set is left out with one warning, the others are used',
  async (entry) => {
    const issuer = await AuthorizationServer.start();
    const keys = [entry, issuer.publicKey];
    issuer.answers.set('/keys', { status: 200, body: { keys } });
    const issuers: OAuthOptions['issuers'] = [issuer.issuer, { issuer: issuer.issuer, jwks: { keys } as never }];
    for (const each of issuers) {
      const { logger, lines } = recordingLogger();
      const { authenticate } = createOAuthAuthenticator({ resource, issuers: [each], cacheMs: 0, logger });
      for (let n = 0; n < 2; n++) {
        expect(await authenticate(requestWith(await issuer.token(resource)))).toMatchObject({ id: 'alice' });
      }
      expect(lines).toEqual([
        { message: expect.stringContaining('are not keys'), fields: { issuer: issuer.issuer, leftOut: 1, used: 1 } },
      ]);
    }
    await issuer.close();
  },
);
