// Mistakes of programs that use the client: what was wrong, with the value, and what to do.

import { afterEach, expect, test } from 'vitest';
import { connect, createAuthorizer, createStaticAuthorizer, inMemory } from '../../src/client/index.ts';
import { createServer } from '../../src/index.ts';
import { startHttp, useClosers } from '../support/closers.ts';

const closers = useClosers(afterEach);

// biome-ignore lint/suspicious/noExplicitAny: a program without types
type Untyped = any;

const server = () => createServer({ name: 'plain', version: '1.0.0', logger: false });

test.each<[string, Untyped, string]>([
  ['the name of another library', { handlers: { elicitation: () => {} } }, 'Unknown option elicitation of handlers of'],
  ['a value as handler', { handlers: { sample: 'x' } }, 'handlers.sample of connect: must be a function, not of type'],
  [
    'texts as roots',
    { handlers: { roots: ['file:///a'] } },
    'A root must be an object with a uri, not "file:///a": [{',
  ],
  ['one root', { handlers: { roots: 'file:///a' } }, 'Roots must be a list: [{ uri: "file:///home/ada/project" }]'],
  ['a path as root', { handlers: { roots: [{ uri: '/a' }] } }, 'A root must be a file:// URI, not "/a"'],
  ['a token as authorizer', { authorizer: 'x' }, 'authorizer of connect: must be made by createAuthorizer or'],
])('connect with %s', async (_, options, message) => {
  await expect(connect(inMemory(server()), options)).rejects.toThrow(message);
});

test('authorizers without a server, or without a token', () => {
  for (const options of [undefined, 'https://mcp.example', {}]) {
    expect(() => createAuthorizer(options as Untyped)).toThrow('createAuthorizer needs the URL of the server: create');
    expect(() => createStaticAuthorizer(options as Untyped)).toThrow(
      'createStaticAuthorizer needs a server and a token',
    );
  }
});

test('authorizers with a grant or a client that does not exist', () => {
  const create = (options: Untyped) => () => createAuthorizer({ server: 'https://mcp.example/mcp', ...options });
  expect(create({ grant: { kind: 'client_credentials' } })).toThrow(
    'createAuthorizer, grant: "kind" must be one of client-credentials, workload, enterprise, token-exchange; it is "client_credentials"',
  );
  expect(create({ grant: 'client-credentials' })).toThrow('createAuthorizer, grant: "kind" must be one of');
  for (const client of [{ id: 'a', secret: 'b' }, [{ clientSecret: 'b' }], 'a', null]) {
    expect(create({ client })).toThrow('createAuthorizer, client: needs the id that the authorization server gave it');
  }
});

test('a server that denies access is not called something else', async () => {
  const { http } = await startHttp(closers, server(), {
    authenticate: async () => ({ status: 403 }),
  });
  await expect(connect(`http://127.0.0.1:${http.port}/mcp`)).rejects.toThrow(
    /^"http:.*" rejected the connection; tried .*Forbidden/,
  );
});

test.each(['https', 'wss'])('%s: for a server without TLS', async (scheme) => {
  const { http } = await startHttp(closers, server());
  const url = `${scheme}://127.0.0.1:${http.port}/mcp`;
  await expect(connect(url)).rejects.toMatchObject({
    code: 'connect-failed',
    message:
      `Could not reach "${url}": it does not use TLS. If that is intended, ` + `connect to ${url.replace(/s:/, ':')}`,
  });
});
