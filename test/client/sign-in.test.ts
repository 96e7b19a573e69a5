// A server that wants a sign-in, and a person who takes their time over it.
import { once } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { type Authorizer, type ConnectOptions, connect, EraCache } from '../../src/client/index.ts';
import { type FaultyServer, type Manners, startFaultyServer } from './faulty/http-server.ts';

let server: FaultyServer;
afterEach(() => {
  vi.useRealTimers();
  return server.close();
});

/** A person at the other end of a browser; `signIn()` is the moment they are done. */
class Person implements Authorizer {
  readonly signals: (AbortSignal | undefined)[] = [];
  readonly asked = new EventTarget();
  #token: string | undefined;
  #done: () => void = () => {};

  headers(): Record<string, string> {
    return this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` };
  }

  async challenge(_url: unknown, _response: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<'retry'> {
    this.signals.push(signal);
    await new Promise<void>((resolve, reject) => {
      this.#done = resolve;
      signal?.addEventListener('abort', () => reject(signal.reason));
      this.asked.dispatchEvent(new Event('asked'));
    });
    return 'retry';
  }

  signIn(token = 'yes'): void {
    this.#token = token;
    this.#done();
  }
}

/** Too short for a person; time passes only while one signs in. */
const stopClock = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
const impatient = { connectTimeoutMs: 1_500, timeoutMs: 1_500 };
const asked = (person: Person): Promise<unknown> => once(person.asked, 'asked');
const options = (person: Person): ConnectOptions => ({
  authorizer: person,
  eraCache: new EraCache(),
  revision: 'handshake',
});

const everything: Manners = ({ request, response }) => {
  if (request.headers.authorization !== undefined) return false;
  response.writeHead(401).end();
  return true;
};
/** Only calls need a sign-in. */
const calls: Manners = (visit) => visit.message.method === 'tools/call' && everything(visit);

const toolCalls = (): number => server.visits.filter(({ body }) => body.includes('"tools/call"')).length;

test('the time a sign-in takes does not count as connecting', async () => {
  server = await startFaultyServer(everything);
  stopClock();
  const person = new Person();
  const connecting = connect(server.url, { ...options(person), ...impatient });
  await asked(person);
  await vi.advanceTimersByTimeAsync(1.5 * impatient.timeoutMs);
  person.signIn();
  await (await connecting).close();
});

test('the time a sign-in takes does not count as the call', async () => {
  server = await startFaultyServer(calls);
  stopClock();
  const person = new Person();
  const client = await connect(server.url, { ...options(person), ...impatient });
  const calling = client.callTool('work');
  await asked(person);
  await vi.advanceTimersByTimeAsync(1.5 * impatient.timeoutMs);
  person.signIn();
  expect((await calling).content).toHaveLength(1);
  await client.close();
});

test('a call cancelled during the sign-in ends the wait and is not sent afterwards', async () => {
  server = await startFaultyServer(calls);
  const person = new Person();
  const client = await connect(server.url, options(person));
  const stop = new AbortController();
  const calling = client.callTool('work', {}, { signal: stop.signal });
  await asked(person);
  stop.abort();
  await expect(calling).rejects.toMatchObject({ code: 'cancelled' });
  expect(person.signals[0]?.aborted).toBe(true);
  person.signIn();
  await client.listTools();
  expect(toolCalls()).toBe(1);
  await client.close();
});

test('closing the client, and aborting the connection, end the wait for the sign-in', async () => {
  server = await startFaultyServer(calls);
  const person = new Person();
  const client = await connect(server.url, options(person));
  const calling = client.callTool('work');
  await asked(person);
  await Promise.all([expect(calling).rejects.toMatchObject({ code: 'closed' }), client.close()]);
  expect(person.signals[0]?.aborted).toBe(true);

  await server.close();
  server = await startFaultyServer(everything);
  const another = new Person();
  const stop = new AbortController();
  const connecting = connect(server.url, { ...options(another), signal: stop.signal });
  await asked(another);
  stop.abort();
  await expect(connecting).rejects.toMatchObject({ code: 'cancelled' });
  expect(another.signals[0]?.aborted).toBe(true);
});
