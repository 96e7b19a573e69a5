import { expect, onTestFinished, test, vi } from 'vitest';
import { AuthError, createMemoryStore, type SignInLink } from '../../../client/index.ts';
import { PendingSignIns, type SignInOwner } from './pending-sign-ins.ts';
import { type Attempts, createUserAuthorizer, type UserAuthorizer } from './user-authorizer.ts';

const server = 'https://mail.example.com/mcp';
const issuer = 'https://login.example.com';
const redirectUri = 'https://tools.example.com/mcp/login/callback';
const metadata = 'https://mail.example.com/.well-known/oauth-protected-resource/mcp';
const json = (body: object): Response => Response.json(body);

/** The authorization server of a mail server. */
class Provider {
  readonly requests: string[] = [];
  /** Awaited before each response. */
  delay: Promise<void> = Promise.resolve();
  refresh: () => Response | Promise<Response> = () =>
    json({ access_token: 'new', token_type: 'Bearer', scope: 'read' });

  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    this.requests.push(pathname);
    await this.delay;
    if (pathname.includes('oauth-protected-resource')) {
      return json({ resource: server, authorization_servers: [issuer] });
    }
    if (pathname.includes('oauth-authorization-server')) {
      return json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        registration_endpoint: `${issuer}/register`,
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
      });
    }
    if (pathname === '/register') {
      return Response.json({ ...JSON.parse(String(init?.body)), client_id: 'gateway' }, { status: 201 });
    }
    const form = new URLSearchParams(String(init?.body));
    if (form.get('grant_type') === 'refresh_token') return this.refresh();
    const more = { expires_in: 3_600, refresh_token: 'again', scope: 'read' };
    return json({ access_token: 'first', token_type: 'Bearer', ...more });
  };
}

function setup() {
  const provider = new Provider();
  const signedIn: SignInOwner[] = [];
  const removed = new Set<string>();
  const pending = new PendingSignIns(
    (url) => !removed.has(url),
    async (owner) => void signedIn.push(owner),
  );
  const attempts: Attempts = new Map();
  const store = createMemoryStore();
  const create = (slug = 'mail', principalKey = 'alice'): UserAuthorizer =>
    createUserAuthorizer({
      owner: { principalKey, slug, server },
      pageOf: (ticket) => `https://tools.example.com/mcp/login/${ticket}`,
      store: principalKey === 'alice' ? store : createMemoryStore(),
      fetch: provider.fetch as typeof fetch,
      ...{ pending, attempts, redirectUri },
    });
  return { provider, signedIn, removed, pending, attempts, create };
}

const rejected = (scope?: string) => ({
  status: scope === undefined ? 401 : 403,
  headers: {
    'www-authenticate': `Bearer resource_metadata="${metadata}"${scope === undefined ? '' : `, error="insufficient_scope", scope="${scope}"`}`,
  },
});

async function linkOf(challenge: Promise<unknown>): Promise<SignInLink> {
  const error: unknown = await challenge.then(
    () => expect.fail('No sign-in was needed'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AuthError);
  return (error as AuthError).signIn as SignInLink;
}

const pendingOf = ({ pending }: ReturnType<typeof setup>, { url }: SignInLink) =>
  pending.find(url.split('/').at(-1) as string);

async function finish(all: ReturnType<typeof setup>, link: SignInLink): Promise<void> {
  const visit = pendingOf(all, link)?.visit;
  const state = visit?.url.searchParams.get('state') as string;
  expect(visit?.receive(new URLSearchParams({ code: '1', state }))).toBe('accepted');
  expect(await link.finished).toBe(true);
}

test('requests of one caller share a sign-in, those of another have their own', async () => {
  const all = setup();
  const [alice, bob] = [all.create(), all.create('mail', 'bob')];
  const links = await Promise.all([1, 2, 3].map(() => linkOf(alice.challenge(server, rejected()))));
  expect(new Set(links.map(({ id }) => id)).size).toBe(1);
  const own = await linkOf(bob.challenge(server, rejected()));
  expect(own.id).not.toBe(links[0]?.id);
  await finish(all, links[0] as SignInLink);
  expect(await alice.headers(server, { method: 'POST' })).toEqual({ authorization: 'Bearer first' });
  expect(await bob.headers(server, { method: 'POST' })).toEqual({});
  expect(all.signedIn).toEqual([{ principalKey: 'alice', slug: 'mail', server }]);
  expect(pendingOf(all, links[0] as SignInLink)).toBeUndefined();
  expect(all.attempts.size).toBe(1);
});

test('two entries with the same address share a sign-in, whichever begins it', async () => {
  const all = setup();
  const [mail, post] = [all.create(), all.create('post')];
  const [one, two] = await Promise.all([
    linkOf(mail.challenge(server, rejected())),
    linkOf(post.challenge(server, rejected())),
  ]);
  expect(two).toBe(one);
  await finish(all, one);
  expect(await post.challenge(server, rejected(), { sent: {} })).toBe('retry');
  expect(await post.headers(server, { method: 'POST' })).toEqual({ authorization: 'Bearer first' });
});

test('a request that is cancelled stops waiting, and the sign-in goes on', async () => {
  const all = setup();
  const alice = all.create();
  let proceed = (): void => {};
  all.provider.delay = new Promise((resolve) => {
    proceed = resolve;
  });
  const controllers = [new AbortController(), new AbortController()];
  const waiting = controllers.map(({ signal }) => alice.challenge(server, rejected(), { signal }));
  for (const [i, each] of controllers.entries()) each.abort(new Error(`cancelled ${i}`));
  await expect(waiting[0]).rejects.toThrow('cancelled 0');
  await expect(waiting[1]).rejects.toThrow('cancelled 1');
  proceed();
  await finish(all, await linkOf(alice.challenge(server, rejected())));
  expect(all.provider.requests.filter((path) => path === '/register')).toHaveLength(1);
});

test('after a sign-in that failed, the next request begins another one', async () => {
  const all = setup();
  const alice = all.create();
  const first = await linkOf(alice.challenge(server, rejected()));
  pendingOf(all, first)?.visit.end(new Error('too late'));
  expect(await first.finished).toBe(false);
  expect(pendingOf(all, first)).toBeUndefined();
  const second = await linkOf(alice.challenge(server, rejected()));
  expect(second.id).not.toBe(first.id);
  await finish(all, second);
});

test('a link expires after 10 minutes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const all = setup();
    const link = await linkOf(all.create().challenge(server, rejected()));
    vi.advanceTimersByTime(10 * 60_000);
    expect(await link.finished).toBe(false);
    expect([pendingOf(all, link), all.attempts.size]).toEqual([undefined, 0]);
  } finally {
    vi.useRealTimers();
  }
});

test('links for more scopes may expire any number of times', async () => {
  const all = setup();
  const alice = all.create();
  await finish(all, await linkOf(alice.challenge(server, rejected())));
  for (let i = 0; i < 4; i++) {
    const sent = await alice.headers(server, { method: 'POST' });
    const link = await linkOf(alice.challenge(server, rejected('send'), { sent }));
    pendingOf(all, link)?.visit.end(new Error('too late'));
    expect(await link.finished).toBe(false);
  }
  expect(await alice.headers(server, { method: 'POST' })).toEqual({ authorization: 'Bearer first' });
});

test('a token that has to be refreshed while its user is asked for more scopes: requests get the link and do not hang', async () => {
  const all = setup();
  const alice = all.create();
  await finish(all, await linkOf(alice.challenge(server, rejected())));
  const link = await linkOf(alice.challenge(server, rejected('send'), { sent: { authorization: 'Bearer first' } }));
  const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
  onTestFinished(() => now.mockRestore());
  expect(await linkOf(Promise.resolve(alice.headers(server, { method: 'POST' })))).toBe(link);
  pendingOf(all, link)?.visit.end(new Error('too late'));
  expect(await link.finished).toBe(false);
  expect(await alice.headers(server, { method: 'POST' })).toEqual({ authorization: 'Bearer new' });
});

test('what is forgotten is not sent any more', async () => {
  const all = setup();
  const alice = all.create('mail', 'carol');
  await finish(all, await linkOf(alice.challenge(server, rejected())));
  expect(await alice.headers(server, { method: 'POST' })).toEqual({ authorization: 'Bearer first' });
  const other = all.create('mail', 'dora');
  other.forget();
  expect(await other.headers(server, { method: 'POST' })).toEqual({});
});

test('a sign-in to a server that was removed cannot be finished, unless the server is back in time', async () => {
  const all = setup();
  const link = await linkOf(all.create().challenge(server, rejected()));
  all.removed.add(server);
  expect([pendingOf(all, link), all.pending.of('alice')]).toEqual([undefined, []]);
  all.removed.clear();
  await finish(all, link);
});
