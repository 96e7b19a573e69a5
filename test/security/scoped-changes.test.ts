// Who may not read a resource is not told of its changes either: by name, by a folder above, by another form of the URI, in
// either kind of subscription, on every transport.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createServer, type Server } from '../../src/engine/server.ts';
import { requireScopes } from '../../src/security/auth/index.ts';
import { applyPolicy, compilePolicy } from '../../src/security/policy/index.ts';
import { serveWires, statelessKinds, type Wire, wireKinds } from '../support/wires.ts';

const scopes = [
  { resources: ['note://box/secret/**'], scopes: ['admin'] },
  { resources: ['note://box/secret/keys/**'], scopes: ['keys'] },
];
const callers = { user: ['use'], admin: ['use', 'admin'] };

let server: Server;
let wires: Awaited<ReturnType<typeof serveWires>>;

async function start(guard: (server: Server) => void): Promise<void> {
  server = createServer({ name: 'scoped', version: '1.0.0' });
  server.resourceTemplate('note://{+id}', { name: 'note', read: () => 'a note' });
  guard(server);
  wires = await serveWires(server, callers);
}
afterEach(() => wires.close());

/** Announces changes of all these, and gives those that the client was told of. */
async function told(wire: Wire): Promise<string[]> {
  for (const uri of [
    'note://box/secret/a',
    'note://box/s%65cret/b',
    'note://box/x/../secret/c',
    'note://open/d',
    'note://end',
  ]) {
    server.resourceUpdated(uri);
  }
  await wire.next(({ params }) => params?.uri === 'note://end');
  return wire.received
    .filter(({ method }) => method === 'notifications/resources/updated')
    .map(({ params }) => params.uri as string);
}

const all = ['note://box/secret/a', 'note://box/s%65cret/b', 'note://box/x/../secret/c', 'note://open/d', 'note://end'];
const open = ['note://open/d', 'note://end'];

describe('scopes of a server', () => {
  beforeEach(() => start((each) => void each.around(requireScopes(scopes))));

  test.each(wireKinds)('hold for a subscription to a folder above, over %s', async (kind) => {
    const user = await wires.connect(kind, 'user');
    const admin = await wires.connect(kind, 'admin');
    for (const wire of [user, admin]) {
      expect((await wire.request('resources/subscribe', { uri: 'note://' })).result).toEqual({});
    }
    expect(await told(user)).toEqual(open);
    expect(await told(admin)).toContain('note://box/secret/a');
    expect(new Set(await told(admin))).toEqual(new Set(all));
  });

  test.each(statelessKinds)('hold for listening to a folder above, over %s', async (kind) => {
    const listen = (wire: Wire) =>
      wire.stateless('subscriptions/listen', { notifications: { resourceSubscriptions: ['note:', 'note://end'] } });
    const user = await wires.connect(kind, 'user');
    const admin = await wires.connect(kind, 'admin');
    await listen(user);
    await listen(admin);
    expect(await told(user)).toEqual(open);
    expect(await told(admin)).toEqual(expect.arrayContaining(all));
  });

  test.each(statelessKinds)('are required when such a resource is named, all at once, over %s', async (kind) => {
    const listen = (wire: Wire, ...resourceSubscriptions: string[]) =>
      wire.stateless('subscriptions/listen', { notifications: { resourceSubscriptions } });
    const user = await wires.connect(kind, 'user');
    for (const uri of ['note://box/secret/a', 'note://box/%73ecret/a', 'note://box/x/../secret/a']) {
      const { error } = await listen(user, 'note://open', uri);
      expect(error, uri).toMatchObject({ code: 403, data: { requiredScopes: ['admin'] } });
    }
    const both = await listen(user, 'note://box/secret/a', 'note://box/secret/keys/b');
    expect(both.error?.data).toEqual({ requiredScopes: ['admin', 'keys'] });
    const admin = await wires.connect(kind, 'admin');
    expect((await listen(admin, 'note://box/secret/a')).method).toBe('notifications/subscriptions/acknowledged');
    expect((await listen(user, 'note://open')).method).toBe('notifications/subscriptions/acknowledged');
  });
});

describe('scopes of a policy', () => {
  test.each(wireKinds)('hold as well, and so do those of the policy that replaces it, over %s', async (kind) => {
    let applied: ReturnType<typeof applyPolicy> | undefined;
    await start((each) => {
      applied = applyPolicy(each, compilePolicy({ version: 1, scopes }));
    });
    const user = await wires.connect(kind, 'user');
    expect((await user.request('resources/subscribe', { uri: 'note://' })).result).toEqual({});
    expect(await told(user)).toEqual(open);
    user.received.length = 0;
    applied?.replace(compilePolicy({ version: 1, scopes: [{ resources: ['note://open/**'], scopes: ['admin'] }] }));
    expect(await told(user)).toEqual(all.filter((uri) => uri !== 'note://open/d'));
  });
});
