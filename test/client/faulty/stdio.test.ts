// Servers on stdio that behave badly: each ends in an error that says what happened, within its time, and leaves no process
// behind; or it is harmless and does not disturb.
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Client, ClientError, type ConnectOptions, connect, EraCache } from '../../../src/client/index.ts';
import { rejectionOf } from '../../support/rejection.ts';
import { marked, newMark, until } from './processes.ts';

const server = fileURLToPath(new URL('./stdio-server.mjs', import.meta.url));
/** What must happen has time, also where the machine stops a process for some seconds; what never happens is not waited for. */
const limits = { timeoutMs: 20_000, probeTimeoutMs: 300, connectTimeoutMs: 20_000, closeGraceMs: 300 };
/** Of a call that gets no answer. */
const short = { timeoutMs: 1_000 };
/** Of a call that gets no answer, and whose error names what was received meanwhile. */
const long = { timeoutMs: 8_000 };

let client: Client | undefined;
let mark = '';

/** Who never answers a probe is not waited for; the others may need a while to start on a busy machine. */
const silent = ['reads-nothing', 'never-answers', 'hangs-on-probe', 'ignores-probe'];

/** Connects to a server that misbehaves as `mode` says, and has the mark. */
const connectTo = (mode: string, itsMark: string, options: ConnectOptions = {}): Promise<Client> =>
  connect([process.execPath, server, mode, itsMark], {
    ...limits,
    ...(silent.includes(mode) ? {} : { probeTimeoutMs: 10_000 }),
    eraCache: new EraCache(),
    ...options,
  });

/** Connects for the one test that runs; it is closed afterwards. */
async function open(mode: string, options: ConnectOptions = {}): Promise<Client> {
  mark = newMark();
  client = undefined;
  client = await connectTo(mode, mark, options);
  return client;
}

/** A process that was killed exists a moment longer. */
const leavesNothing = (itsMark: string): Promise<void> => until(() => marked(itsMark).length === 0);

afterEach(async () => {
  vi.useRealTimers();
  await client?.close();
  if (mark !== '') await leavesNothing(mark);
  client = undefined;
  mark = '';
});

const handshake = { revision: 'handshake' };

/** Waits long enough for the process to start and to write something, also on a busy machine. */
const untilStarted = { ...handshake, connectTimeoutMs: 10_000 };

// They mostly wait.
describe.concurrent('a server that cannot be talked to', () => {
  const cases: readonly [mode: string, code: string, message: RegExp, options?: ConnectOptions][] = [
    ['exits-at-once', 'server-exited', /exited with code 1.*Cannot find module "left-pad"/s],
    ['exits-silently', 'server-exited', /exited \(code 0\)/],
    [
      'reads-nothing',
      'connect-timeout',
      /server\/discover .*no response.*initialize .*no response/is,
      { connectTimeoutMs: 8_000 },
    ],
    ['never-answers', 'connect-timeout', /tried server\/discover/, { connectTimeoutMs: 4_000 }],
    ['never-answers', 'connect-timeout', /tried initialize/, { ...handshake, connectTimeoutMs: 4_000 }],
    ['only-log-lines', 'connect-timeout', /Server listening on port 3000/, untilStarted],
    ['wrong-ids', 'connect-timeout', /a response to id 1001, which is unknown/, untilStarted],
    ['text-ids', 'connect-timeout', /a response to id "1"/, untilStarted],
    ['bad-version', 'unsupported-revision', /the server uses revision 1999-01-01/],
    ['no-version', 'unsupported-revision', /has no protocolVersion/],
    ['rejects-initialize', 'connection-rejected', /We are closed on Sundays/],
    ['proper', 'unsupported-revision', /does not support 2026-07-28/, { revision: '2026-07-28' }],
    ['stateless', 'connection-rejected', /Method not found/, handshake],
    ['never-answers', 'connect-timeout', /No response to server\/discover/, { revision: '2026-07-28' }],
  ];
  test.each(cases)('%s: %s', async (mode, code, message, options) => {
    const itsMark = newMark();
    const error = await rejectionOf(connectTo(mode, itsMark, options), ClientError);
    expect(error.message).toMatch(message);
    expect(error.code).toBe(code);
    await leavesNothing(itsMark);
  });

  test('a program that does not exist is named', async () => {
    const error = await rejectionOf(connect(['no-such-program-anywhere', '--stdio'], limits), ClientError);
    expect(error).toMatchObject({ code: 'spawn-failed' });
    expect(error.message).toMatch(/no-such-program-anywhere was not found in PATH/);
  });

  test('a program with its arguments in one word is told to separate them', async () => {
    const error = await rejectionOf(connect(['node server.mjs'], limits), ClientError);
    expect(error.message).toContain('if it has arguments, give them separately');
  });

  test('a file that is no program is named', async () => {
    const error = await rejectionOf(connect([server], limits), ClientError);
    expect(error.code).toBe('spawn-failed');
    expect(error.message).toContain('is not an executable file');
  });

  test('a folder to start in that does not exist is an error, not a crash', async () => {
    const error = await rejectionOf(
      connect([process.execPath, server, 'proper'], { ...limits, cwd: '/no/such/folder' }),
      ClientError,
    );
    expect(error.code).toBe('spawn-failed');
  });
});

describe('a server that does not support the stateless revision', () => {
  test.each(['dies-on-probe', 'hangs-on-probe', 'ignores-probe', 'proper'])(
    '%s: is spoken to the old way',
    async (mode) => {
      const { revision } = await open(mode);
      expect(revision).toBe('2025-11-25');
      expect(await client?.callTool('work')).toMatchObject({ content: [{ text: 'done' }] });
    },
  );

  test.each(['answers-probe-with-null', 'answers-probe-without-id'])('%s: is not waited for', async (mode) => {
    const { revision } = await open(mode, { probeTimeoutMs: 60_000 });
    expect(revision).toBe('2025-11-25');
    expect(await client?.callTool('work')).toMatchObject({ content: [{ text: 'done' }] });
  });

  test('what was found out is remembered for the next connection', async () => {
    const eraCache = new EraCache();
    const seen: string[] = [];
    const options = { eraCache, onMessage: (_: string, text: string) => seen.push(text) };
    const command = [process.execPath, server, 'dies-on-probe'];
    await (await connect(command, { ...limits, ...options })).close();
    expect(seen.filter((text) => text.includes('server/discover'))).toHaveLength(1);
    seen.length = 0;
    await (await connect(command, { ...limits, ...options })).close();
    expect(seen.filter((text) => text.includes('server/discover'))).toHaveLength(0);
  });
});

describe.concurrent('an answer that is none', () => {
  const cases: readonly [mode: string, code: string, message: RegExp][] = [
    ['both-result-and-error', 'invalid-message', /both a result and an error/],
    ['null-result', 'invalid-message', /result is not an object/],
    ['array-result', 'invalid-message', /result is not an object/],
    ['neither', 'invalid-message', /result is not an object/],
    ['error-without-code', 'invalid-message', /no code and message/],
    ['content-is-text', 'invalid-result', /"content" is not an array/],
    ['deep-answer', 'invalid-message', /nested deeper/],
    ['broken-json', 'invalid-message', /Parse error/],
    ['no-jsonrpc', 'timeout', /it sent one thing that is not a message/],
    ['batches-not-supported', 'timeout', /it sent one thing that is not a message/],
  ];
  test.each(cases)('%s: %s', async (mode, code, message) => {
    const itsMark = newMark();
    const connected = await connectTo(mode, itsMark, handshake);
    const error = await rejectionOf(connected.callTool('work', {}, code === 'timeout' ? long : {}), ClientError);
    expect(error.message).toMatch(message);
    expect(error.code).toBe(code);
    expect((await connected.listTools()).length).toBe(1);
    await connected.close();
    await leavesNothing(itsMark);
  });
});

describe('a result that is none', () => {
  test.each([
    ['tools-is-object', /"tools" is not an array/],
    ['cursor-is-number', /"nextCursor" is not a string/],
    ['circular-pages', /its cursors repeat/],
    ['endless-pages', /more than 50 pages/],
  ])('%s: a list is rejected', async (mode, message) => {
    const error = await rejectionOf((await open(mode, { ...handshake, maxPages: 50 })).listTools(), ClientError);
    expect(error.code).toBe('invalid-result');
    expect(error.message).toMatch(message);
  });

  test('tools that are none are left out', async () => {
    const tools = await (await open('bad-tools', handshake)).listTools();
    expect(tools.map(({ name }) => name)).toEqual(['work']);
  });

  test('a result that does not fit its schema is rejected', async () => {
    await (await open('bad-structure', handshake)).listTools();
    const error = await rejectionOf((client as Client).callTool('work'), ClientError);
    expect(error.code).toBe('invalid-structured-content');
    expect(error.message).toMatch(/celsius/);
  });

  test('a schema that cannot be used does not stop the call, and nothing is fetched for it', async () => {
    await (await open('bad-output-schema', handshake)).listTools();
    expect(await (client as Client).callTool('work')).toMatchObject({ structuredContent: { anything: 1 } });
  });
});

describe('too much', () => {
  test('an answer beyond the limit fails its call; the next one works', async () => {
    await open('huge-answer', { ...handshake, maxMessageBytes: 1024 * 1024 });
    const error = await rejectionOf((client as Client).callTool('work', { bytes: 100 * 1024 * 1024 }), ClientError);
    expect(error.code).toBe('message-too-large');
    expect(error.message).toContain('1048576 bytes');
    expect(await (client as Client).callTool('work', { bytes: 10 })).toMatchObject({ content: [{ type: 'text' }] });
  });

  test('a line without end costs no memory and ends with the time limit', async () => {
    await open('endless-line', { ...handshake, maxMessageBytes: 1024 * 1024 });
    const before = process.memoryUsage.rss();
    const error = await rejectionOf((client as Client).callTool('work', {}, short), ClientError);
    expect(error.code).toBe('timeout');
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024);
  });

  test('a flood of log messages does not lose the answer', async () => {
    let heard = 0;
    await open('flood-of-logs', { ...handshake, onLog: () => heard++ });
    expect(await (client as Client).callTool('work')).toMatchObject({ content: [{ text: 'done' }] });
    expect(heard).toBe(50_000);
  });

  test('a flood of requests is answered within limits', async () => {
    let open64 = 0;
    let most = 0;
    const sample = async () => {
      most = Math.max(most, ++open64);
      await new Promise((next) => setTimeout(next, 50));
      open64--;
      return { role: 'assistant' as const, model: 'm', content: { type: 'text' as const, text: 'x' } };
    };
    await open('flood-of-questions', { ...handshake, handlers: { sample } });
    expect(await (client as Client).callTool('work')).toMatchObject({ content: [{ text: 'done' }] });
    expect(most).toBe(64);
  });

  test('of a flood on stderr the end is stored, and the server does not block on it', async () => {
    await open('flood-of-stderr', { ...handshake });
    await (client as Client).callTool('work');
    expect((client as Client).stderr.length).toBeLessThanOrEqual(64 * 1024);
    expect((client as Client).stderr).toContain('the last words');
  });

  test('a server that does not read is noticed by the time limit', async () => {
    await open('does-not-read', handshake);
    await rejectionOf((client as Client).listTools(short), ClientError);
    const error = await rejectionOf(
      (client as Client).callTool('work', { text: 'x'.repeat(4 * 1024 * 1024) }, short),
      ClientError,
    );
    expect(error.code).toBe('timeout');
  });
});

describe('time', () => {
  /** Time passes only as the test says. */
  const stopClock = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });

  test('progress extends the time limit, up to the hard one', async () => {
    await open('progress-for-ever', handshake);
    stopClock();
    let reports = 0;
    const onProgress = (): void => {
      reports++;
      vi.advanceTimersByTime(150);
    };
    const options = { timeoutMs: 200, maxTimeoutMs: 2_000, onProgress };
    const error = await rejectionOf((client as Client).callTool('work', {}, options), ClientError);
    expect(error.code).toBe('timeout');
    expect(error.message).toContain('within 2000 ms');
    expect(reports).toBeGreaterThan(10);
  });

  test('progress that does not change does not', async () => {
    const onMessage = (_: string, text: string): void => {
      if (text.includes('notifications/progress')) vi.advanceTimersByTime(100);
    };
    await open('progress-stands-still', { ...handshake, onMessage });
    stopClock();
    let reports = 0;
    const options = { timeoutMs: 300, maxTimeoutMs: 20_000, onProgress: () => reports++ };
    const error = await rejectionOf((client as Client).callTool('work', {}, options), ClientError);
    expect(error.message).toContain('within 300 ms');
    expect(reports).toBe(1);
  });

  test('a late response to a cancelled call is ignored', async () => {
    await open('answers-late', handshake);
    const abort = new AbortController();
    const cancelled = (client as Client).callTool('work', {}, { signal: abort.signal });
    abort.abort(new Error('changed my mind'));
    const error = await rejectionOf(cancelled, ClientError);
    expect(error.code).toBe('cancelled');
    expect((error.cause as Error).message).toBe('changed my mind');
    expect(await (client as Client).callTool('work')).toMatchObject({ content: [{ text: 'late' }] });
  });
});

describe('harmless', () => {
  test.each([
    ['log-lines', 'done'],
    ['windows-lines', 'done'],
    ['batches', 'done'],
    ['not-utf8', 'after rubbish'],
    ['double-answers', 'first'],
  ])('%s: the answer is understood', async (mode, text) => {
    await open(mode, handshake);
    expect(await (client as Client).callTool('work')).toMatchObject({ content: [{ text }] });
    expect(await (client as Client).callTool('work')).toMatchObject({ content: [{ text }] });
  });

  test('names of the prototype are only names', async () => {
    await open('pollutes', handshake);
    await (client as Client).callTool('work');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test('requests on a revision that has none are not answered', async () => {
    const sent: string[] = [];
    await open('requests-where-there-are-none', { onMessage: (way, text) => way === 'out' && sent.push(text) });
    expect(await (client as Client).callTool('work')).toMatchObject({ content: [{ text: 'done' }] });
    expect(sent.filter((text) => text.includes('"q"'))).toEqual([]);
  });
});

describe('input requests', () => {
  const handlers = { roots: [] };
  test.each([
    ['asks-for-ever', 'too-many-input-retries', /10 times/],
    ['sends-undeclared-request', 'input-unavailable', /sampling\/createMessage/],
    ['asks-nonsense', 'input-unavailable', /rm -rf/],
    ['asks-nothing', 'invalid-result', /neither inputRequests nor requestState/],
    ['unknown-result-type', 'invalid-result', /"perhaps" is not known/],
  ])('%s: %s', async (mode, code, message) => {
    const error = await rejectionOf((await open(mode, { handlers })).callTool('work'), ClientError);
    expect(error.message).toMatch(message);
    expect(error.code).toBe(code);
  });
});

describe('ends', () => {
  test('a crash in a call says what was on stderr, and the next call starts the server again', async () => {
    await open('crashes-in-call', { ...handshake });
    const error = await rejectionOf((client as Client).callTool('work'), ClientError);
    expect(error.code).toBe('server-exited');
    expect(error.message).toMatch(/exited with code 7.*the disk is on fire/s);
    expect((await (client as Client).listTools()).length).toBe(1);
  });

  test('without reconnecting, what is lost stays lost', async () => {
    await open('crashes-in-call', { ...handshake, reconnect: false });
    await rejectionOf((client as Client).callTool('work'), ClientError);
    expect((await rejectionOf((client as Client).listTools(), ClientError)).code).toBe('server-exited');
  });

  test('a server that closes its stdout and keeps running is closed', async () => {
    await open('closes-stdout', { ...handshake });
    const error = await rejectionOf((client as Client).callTool('work'), ClientError);
    expect(error.code).toBe('server-exited');
    expect(error.message).toContain('closed its stdout');
  });

  test.each(['ignores-every-signal', 'leaves-children'])('%s: close() leaves no process behind', async (mode) => {
    await open(mode, handshake);
    expect(marked(mark).length).toBeGreaterThanOrEqual(1);
    await (client as Client).close();
    await leavesNothing(mark);
  });

  test('a call on a closed client is rejected', async () => {
    await open('proper', handshake);
    await (client as Client).close();
    expect((await rejectionOf((client as Client).callTool('work'), ClientError)).code).toBe('closed');
  });

  test('closing fails what is under way', async () => {
    await open('answers-late', handshake);
    const call = rejectionOf((client as Client).callTool('work'), ClientError);
    await (client as Client).close();
    expect((await call).code).toBe('closed');
  });
});
