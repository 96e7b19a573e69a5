import { expect, test } from 'vitest';
import { gatewayConfig } from '../../gateway/config/decode-gateway.ts';
import { upstreamAuthorizers } from './authorizers.ts';

async function serversOf(...entries: object[]) {
  const named = entries.map((entry, i) => [`s${i}`, { url: 'https://x.example/mcp', ...entry }]);
  return (await gatewayConfig({ mcpServers: Object.fromEntries(named) })).servers;
}

test('a server has one authorizer, and none if it needs none', async () => {
  const find = upstreamAuthorizers({ isInteractive: true, hasUsers: false });
  const [open, keyed, none] = await serversOf(
    {},
    { headers: { 'X-Key': '1' } },
    { mooring: { auth: { kind: 'none' } } },
  );
  if (open === undefined || keyed === undefined || none === undefined) throw new Error('a server is missing');
  expect(find(open)).toBeDefined();
  expect(find(open)).toBe(find(open));
  expect(find(keyed)).toBeUndefined();
  expect(find(none)).toBeUndefined();
});

test('users that are kept apart do not share a sign-in', async () => {
  const find = upstreamAuthorizers({ isInteractive: false, hasUsers: true });
  const [apart, shared] = await serversOf(
    { mooring: { isolation: 'principal' } },
    { mooring: { isolation: 'shared' } },
  );
  if (apart === undefined || shared === undefined) throw new Error('a server is missing');
  expect(find(apart)).not.toBe(find(apart));
  expect(find(shared)).toBe(find(shared));
});

test('with an exchange of tokens, each caller has credentials of its own', async () => {
  const find = upstreamAuthorizers({ isInteractive: false, hasUsers: true });
  const auth = { kind: 'token-exchange', clientId: 'a', clientSecret: 'b', issuer: 'https://login.example' };
  const [mail, files] = await serversOf({ mooring: { auth } }, { url: 'https://y.example/mcp', mooring: { auth } });
  if (mail === undefined || files === undefined) throw new Error('a server is missing');
  expect(find(mail, 'alice')).toBe(find(mail, 'alice'));
  expect(find(mail, 'alice')).not.toBe(find(mail, 'bob'));
  expect(find(mail, 'alice')).not.toBe(find(files, 'alice'));
});

test('a server in the local network without encryption is used without credentials, as no token would be sent there', async () => {
  const find = upstreamAuthorizers({ isInteractive: true, hasUsers: false });
  const [lan, container, keyed, here, far] = await serversOf(
    { url: 'http://192.168.1.5:8000/mcp' },
    { url: 'http://notes:8000/mcp' },
    {
      url: 'http://notes:8000/mcp',
      mooring: { auth: { kind: 'client-credentials', clientId: 'a', clientSecret: 'b' } },
    },
    { url: 'http://127.0.0.1:8000/mcp' },
    { url: 'https://notes.example/mcp' },
  );
  if (!lan || !container || !keyed || !here || !far) throw new Error('a server is missing');
  expect([find(lan), find(container)]).toEqual([undefined, undefined]);
  expect(() => find(keyed)).toThrow('plain http is allowed on loopback only');
  expect([find(here), find(far)]).toEqual([expect.anything(), expect.anything()]);
});
