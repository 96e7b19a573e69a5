import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import type { ElicitResult } from '../protocol/model.ts';
import { connect } from './connect.ts';
import { ClientError } from './errors.ts';
import { InputDeclined, type InputHandlers } from './input-requests.ts';
import { ScriptedServer, type Sent, scriptError } from './testing/scripted-server.ts';

const text = (words: string) => ({ content: [{ type: 'text', text: words }] });
const form = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'Ada' },
    age: { type: 'integer', default: 36 },
    note: { type: 'string' },
  },
};
const sampled = { role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Paris' }] } as const;

afterEach(() => void vi.useRealTimers());

/** Puts a question to a client of the handshake era and gives back its answer. */
async function ask(method: string, params: object, handlers: InputHandlers, revision = '2025-11-25'): Promise<Sent> {
  const server = new ScriptedServer('handshake');
  await connect(server.target, { handlers, revision });
  server.say({ id: 'q', method, params });
  await vi.waitFor(() => expect(server.sent.some(({ id }) => id === 'q')).toBe(true), 20_000);
  return server.sent.find(({ id }) => id === 'q') as Sent;
}

test('an accepted form is completed by its defaults', async () => {
  const elicit = () => ({ action: 'accept', content: { age: 37, note: 'hi' } }) as const;
  const { result } = await ask('elicitation/create', { message: 'Who?', requestedSchema: form }, { elicit });
  expect(result).toEqual({ action: 'accept', content: { name: 'Ada', age: 37, note: 'hi' } });
});

test('content that does not match the form is not sent', async () => {
  const requestedSchema = {
    type: 'object',
    properties: { age: { type: 'integer', minimum: 0 }, color: { type: 'string', enum: ['red'] } },
    required: ['age'],
  };
  const accepted = async (content: ElicitResult['content'], schema: object = requestedSchema) =>
    ask(
      'elicitation/create',
      { message: '?', requestedSchema: schema },
      { elicit: () => ({ action: 'accept', content }) },
    );
  expect((await accepted({ age: 3, color: 'red' })).result).toEqual({
    action: 'accept',
    content: { age: 3, color: 'red' },
  });
  for (const content of [{}, { age: -1 }, { age: 'three' }, { age: 3, color: 'blue' }]) {
    const { error } = await accepted(content);
    expect(error?.code).toBe(-32603);
    expect(error?.message).toContain('does not match');
  }
  // A schema that is not valid is the server's mistake, and says nothing about the content.
  expect(
    (await accepted({ age: -1 }, { type: 'object', properties: { age: { type: 'number', minimum: 'x' } } })).result,
  ).toEqual({ action: 'accept', content: { age: -1 } });
});

test('a declined form carries no content', async () => {
  const elicit = () => ({ action: 'decline', content: { secret: 1 } }) as const;
  const { result } = await ask('elicitation/create', { message: 'Who?', requestedSchema: form }, { elicit });
  expect(result).toEqual({ action: 'decline' });
});

test('a page to visit must be a web page', async () => {
  const elicitUrl = vi.fn(() => ({ action: 'accept' }) as const);
  const visit = (url: string) => ask('elicitation/create', { mode: 'url', message: 'Go', url }, { elicitUrl });
  expect((await visit('https://example.com/x')).result).toEqual({ action: 'accept' });
  for (const url of ['javascript:alert(1)', 'file:///etc/passwd', 'not a url']) {
    expect((await visit(url)).error?.code).toBe(-32602);
  }
  expect(elicitUrl).toHaveBeenCalledTimes(1);
});

test('what has no handler is not there', async () => {
  expect((await ask('sampling/createMessage', {}, {})).error?.code).toBe(-32601);
  expect((await ask('roots/list', {}, {})).error?.code).toBe(-32601);
  expect((await ask('no/such/method', {}, {})).error?.code).toBe(-32601);
  const url = { mode: 'url', message: 'Go', url: 'https://example.com' };
  expect((await ask('elicitation/create', url, {})).error?.code).toBe(-32601);
});

test('a mode of elicitation that was not declared is invalid, while the other one is', async () => {
  const accept = () => ({ action: 'accept' }) as const;
  const url = { mode: 'url', message: 'Go', url: 'https://example.com' };
  expect((await ask('elicitation/create', url, { elicit: accept })).error?.code).toBe(-32602);
  const shown = { message: 'Who?', requestedSchema: form };
  expect((await ask('elicitation/create', shown, { elicitUrl: accept })).error?.code).toBe(-32602);
});

test('sampling whose tool results are missing, or mixed with something else, is rejected', async () => {
  const said = { type: 'text', text: 'x' };
  const use = (id: string) => ({ type: 'tool_use', id, name: 't', input: {} });
  const result = (toolUseId: string) => ({ type: 'tool_result', toolUseId, content: [said] });
  const assistant = { role: 'assistant', content: [use('1'), use('2')] };
  const sample = vi.fn(() => sampled);
  const codeFor = async (...messages: object[]) =>
    (await ask('sampling/createMessage', { messages, maxTokens: 1 }, { sample })).error?.code;
  expect(await codeFor(assistant, { role: 'user', content: [result('1'), result('2')] })).toBeUndefined();
  expect(sample).toHaveBeenCalledTimes(1);
  expect(await codeFor(assistant, { role: 'user', content: [result('1')] })).toBe(-32602);
  expect(await codeFor(assistant, { role: 'user', content: said })).toBe(-32602);
  expect(await codeFor(assistant)).toBe(-32602);
  expect(await codeFor(assistant, { role: 'user', content: [result('1'), result('2'), said] })).toBe(-32602);
  expect(await codeFor({ role: 'assistant', content: result('1') })).toBe(-32602);
  expect(sample).toHaveBeenCalledTimes(1);
});

test('a declined input request is reported as such, a failure without its details', async () => {
  const params = { messages: [], maxTokens: 1 };
  const decline = () => Promise.reject(new InputDeclined('not today'));
  expect((await ask('sampling/createMessage', params, { sample: decline })).error).toEqual({
    code: -1,
    message: 'not today',
  });
  const fail = () => Promise.reject(new Error('the password is hunter2'));
  const { error } = await ask('sampling/createMessage', params, { sample: fail });
  expect(error?.code).toBe(-32603);
  expect(error?.message).not.toContain('hunter2');
});

test('a model answers in the form the revision knows', async () => {
  const params = { messages: [], maxTokens: 1 };
  const sample = () => sampled;
  expect((await ask('sampling/createMessage', params, { sample })).result?.['content']).toEqual(sampled.content);
  const old = await ask('sampling/createMessage', params, { sample }, '2025-06-18');
  expect(old.result?.['content']).toEqual(sampled.content[0]);
});

test('sampling with tools that was not declared is rejected', async () => {
  const params = { messages: [], maxTokens: 1, tools: [] };
  expect((await ask('sampling/createMessage', params, { sample: () => sampled })).error?.code).toBe(-32602);
});

test('roots are file URIs, and changes of them are announced', async () => {
  await expect(
    connect(new ScriptedServer('handshake').target, { handlers: { roots: [{ uri: 'https://x' }] } }),
  ).rejects.toThrow(/file:\/\//);
  const server = new ScriptedServer('handshake');
  const client = await connect(server.target, { handlers: { roots: [] } });
  client.setRoots([{ uri: 'file:///home' }]);
  await vi.waitFor(() => expect(server.of('notifications/roots/list_changed')).toHaveLength(1), 20_000);
  server.say({ id: 'q', method: 'roots/list' });
  await vi.waitFor(() => expect(server.sent.at(-1)?.result).toEqual({ roots: [{ uri: 'file:///home' }] }), 20_000);
});

test('an input request that the server cancels is not answered', async () => {
  const server = new ScriptedServer('handshake');
  let aborted = false;
  const elicit: InputHandlers['elicit'] = (_request, { signal }) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        aborted = true;
        resolve({ action: 'cancel' });
      });
    });
  const client = await connect(server.target, { handlers: { elicit } });
  server.say({ id: 'q', method: 'elicitation/create', params: { message: 'Who?', requestedSchema: form } });
  server.say({ method: 'notifications/cancelled', params: { requestId: 'q' } });
  await vi.waitFor(() => expect(aborted).toBe(true), 20_000);
  await client.request('anything').catch(() => {});
  expect(server.sent.filter(({ id }) => id === 'q')).toEqual([]);
});

test('a ping of the server is answered, before and after the handshake', async () => {
  const server = new ScriptedServer('handshake', {
    initialize: (_message, self) => {
      self.say({ id: 'early', method: 'ping' });
      return { protocolVersion: '2025-11-25', capabilities: {} };
    },
  });
  await connect(server.target);
  server.say({ id: 'late', method: 'ping' });
  await vi.waitFor(() => expect(server.sent.filter(({ result }) => result)).toHaveLength(2), 20_000);
});

test('the time limit of a call pauses during an input request', async () => {
  const server = new ScriptedServer('handshake', {
    'tools/call': (_message, self) => {
      self.say({ id: 'q', method: 'elicitation/create', params: { message: 'Who?', requestedSchema: form } });
      return undefined;
    },
  });
  let decline = (): void => {};
  const elicit = () =>
    new Promise<{ action: 'decline' }>((done) => {
      decline = () => done({ action: 'decline' });
    });
  const client = await connect(server.target, { handlers: { elicit } });
  vi.useFakeTimers();
  const call = client.callTool('x', {}, { timeoutMs: 100 });
  await vi.advanceTimersByTimeAsync(250);
  decline();
  await vi.waitFor(() => expect(server.sent.some(({ id }) => id === 'q')).toBe(true), 20_000);
  server.say({ id: server.of('tools/call')[0]?.id, result: text('in time') });
  expect(await call).toEqual(text('in time'));
});

test('the input requests of one result run together, and the state is sent back unchanged', async () => {
  let open = 0;
  let most = 0;
  const together = async <T>(answer: T): Promise<T> => {
    most = Math.max(most, ++open);
    await nextTurn();
    open--;
    return answer;
  };
  const server = new ScriptedServer('stateless', {
    'tools/call': ({ params }) => {
      if (params?.['inputResponses'] !== undefined) return { ...text('done'), resultType: 'complete' };
      const inputRequests = {
        who: { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: form } },
        what: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
        where: { method: 'roots/list' },
      };
      return { resultType: 'input_required', inputRequests, requestState: 'opaque "state"' };
    },
  });
  const client = await connect(server.target, {
    handlers: {
      elicit: () => together({ action: 'accept' as const, content: {} }),
      sample: () => together(sampled),
      roots: () => together([{ uri: 'file:///home' }]),
    },
  });
  expect((await client.callTool('x', { a: 1 })).content).toEqual(text('done').content);
  expect(most).toBe(3);
  const [first, second] = server.of('tools/call') as [Sent, Sent];
  expect(second.id).not.toBe(first.id);
  expect(second.params).toMatchObject({
    name: 'x',
    arguments: { a: 1 },
    requestState: 'opaque "state"',
    inputResponses: {
      who: { action: 'accept', content: { name: 'Ada', age: 36 } },
      what: { model: 'm' },
      where: { roots: [{ uri: 'file:///home' }] },
    },
  });
});

test('calls in parallel do not mix their rounds', async () => {
  const server = new ScriptedServer('stateless', {
    'tools/call': ({ params }) => {
      const { name, requestState } = params as { name: string; requestState?: string };
      if (requestState !== undefined) return { ...text(`${name} ${requestState}`), resultType: 'complete' };
      return {
        resultType: 'input_required',
        inputRequests: { r: { method: 'roots/list' } },
        requestState: `of ${name}`,
      };
    },
  });
  const client = await connect(server.target, { handlers: { roots: [] } });
  const names = ['a', 'b', 'c'];
  const results = await Promise.all(names.map((name) => client.callTool(name)));
  expect(results.map(({ content }) => content[0])).toMatchObject(names.map((name) => ({ text: `${name} of ${name}` })));
});

test('a rejected input request ends the call, with the reason', async () => {
  const server = new ScriptedServer('stateless', {
    'tools/call': () => ({
      resultType: 'input_required',
      inputRequests: { s: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } } },
    }),
  });
  const sample = () => Promise.reject(new InputDeclined('not today'));
  const client = await connect(server.target, { handlers: { sample } });
  const error = (await client.callTool('x').catch((reason: unknown) => reason)) as ClientError;
  expect(error).toBeInstanceOf(ClientError);
  expect(error.code).toBe('input-declined');
  expect(error.message).toContain('not today');
  expect(server.of('tools/call')).toHaveLength(1);
});

test('links a server wants visited first are shown, and the request is sent again', async () => {
  let visited = 0;
  const links = [{ mode: 'url', message: 'Sign in', url: 'https://example.com/login', elicitationId: 'e1' }];
  const server = new ScriptedServer('handshake', {
    'tools/call': () =>
      visited === 0 ? scriptError(-32042, 'URL elicitation required', { elicitations: links }) : text('ok'),
  });
  const client = await connect(server.target, {
    handlers: {
      elicitUrl: ({ url, elicitationId }) => {
        visited++;
        expect([url, elicitationId]).toEqual(['https://example.com/login', 'e1']);
        return { action: 'accept' };
      },
    },
  });
  expect(await client.callTool('x')).toEqual(text('ok'));
  expect(visited).toBe(1);
});

test('a link that is not visited ends the call with what the server said', async () => {
  const links = [{ mode: 'url', message: 'Sign in', url: 'https://example.com/login', elicitationId: 'e1' }];
  const server = new ScriptedServer('handshake', {
    'tools/call': () => scriptError(-32042, 'URL elicitation required', { elicitations: links }),
  });
  const client = await connect(server.target, { handlers: { elicitUrl: () => ({ action: 'decline' }) } });
  await expect(client.callTool('x')).rejects.toMatchObject({ code: 'server-error', serverError: { code: -32042 } });
  expect(server.of('tools/call')).toHaveLength(1);
});
