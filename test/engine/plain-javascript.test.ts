// Mistakes that TypeScript reports and JavaScript does not: each throws at once, and names the item, the option, and what
// to write instead.

import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { silentLogger } from '../../src/common/logger.ts';
import { createServer, type Server } from '../../src/index.ts';
import { TestClient } from '../support/test-client.ts';

// biome-ignore lint/suspicious/noExplicitAny: a program without types
type Untyped = any;

const make = (): Untyped => createServer({ name: 'untyped', version: '1.0.0', logger: false });
const run = (): string => 'ok';

test.each<[string, Untyped, string]>([
  [
    'a number as instructions',
    { instructions: 5 },
    'createServer, instructions: must be a string or a function; it is 5',
  ],
  ['the name of a level as logger', { logger: 'debug' }, 'createServer, logger: must be an object; use createLogger('],
  [
    'the console as logger',
    { logger: console },
    'createServer, logger: has no notice, child, enabled; use createLogger(',
  ],
  ['an address as store', { store: 'redis://localhost' }, 'createServer, store: must be an object; use a store of'],
  ['a time as cache', { cache: 60 }, 'createServer, cache: must be an object such as { ttlMs: 60_000, cacheScope'],
  ['a list of extensions', { extensions: ['a/b'] }, 'createServer, extensions: must be an object such as'],
  ['an icon', { icons: 'a.png' }, 'createServer, icons: must be a list such as [{ src'],
  [
    'a rule without its group',
    { rules: { timeoutMs: 5 } },
    'Unknown option timeoutMs of rules of createServer; use one',
  ],
  [
    'a misspelt rule',
    { rules: { execution: { timeout: 5 } } },
    'Unknown option timeout of rules.execution of createServer',
  ],
  ['a text as time', { rules: { execution: { timeoutMs: '5s' } } }, 'rules.execution.timeoutMs: must be a number'],
])('a server with %s', (_, options, message) => {
  expect(() => createServer({ name: 's', version: '1.0.0', ...options })).toThrow(message);
});

test('a transport of another library cannot be connected', () => {
  expect(() => make().connect({ start() {}, send() {}, close() {} })).toThrow(
    'server.connect is not for programs. Use serveStdio(server) or serveHttp(server)',
  );
});

test('a resource whose URI has a variable is logged', () => {
  const warn = vi.fn();
  const server = createServer({ name: 's', version: '1.0.0', logger: { ...silentLogger, warn } });
  server.resource('note://{id}', { name: 'Note', read: run });
  expect(warn.mock.calls).toEqual([
    ['resource "note://{id}" has a variable; register it with server.resourceTemplate'],
  ]);
});

test.each<[string, Untyped, string]>([
  ['a missing definition', undefined, 'Tool "t" needs a function "run": server.tool("t", { …, run: () => … })'],
  ['a handler alone', run, 'Tool "t" needs a function "run": server.tool("t", { …, run: () => … })'],
  ['the name of another library', { handler: run }, 'Tool "t" needs a function "run"; rename "handler"'],
  ['a null as schema', { input: null, run }, 'tool "t", input: a schema is a Standard Schema'],
  ['a list as schema', { input: ['city'], run }, 'or a JSON Schema object, not array.'],
  [
    'a text as time',
    { timeoutMs: '5s', run },
    'tool "t", timeoutMs: must be a number of milliseconds, or 0 for no limit',
  ],
  ['a negative time', { timeoutMs: -1, run }, 'for no limit, not -1'],
  ['visible: false', { visible: false, run }, 'tool "t", visible: must be a function, not false'],
  ['a text to explain', { explain: 'no', run }, 'tool "t", explain: must be a function, not "no"'],
  [
    'a misspelt task',
    { task: { suport: 'optional' }, run },
    'Unknown option suport of task of tool "t"; did you mean support? Use one of support',
  ],
])('a tool with %s', (_, definition, message) => {
  expect(() => make().tool('t', definition)).toThrow(message);
});

test.each<[string, Untyped, string]>([
  ['a missing definition', undefined, 'Resource "a://b" needs a function "read": server.resource("a://b", { …, read'],
  ['a handler alone', run, 'Resource "a://b" needs a function "read"'],
  ['the name of another library', { name: 'b', load: run }, 'needs a function "read"; rename "load"'],
  ['no name', { read: run }, 'Resource "a://b" needs a "name", a non-empty string'],
  ['visible: true', { name: 'b', read: run, visible: true }, 'resource "a://b", visible: must be a function, not true'],
])('a resource with %s', (_, definition, message) => {
  expect(() => make().resource('a://b', definition)).toThrow(message);
});

test.each<[string, Untyped, string]>([
  ['a missing definition', undefined, 'needs a function "read": server.resourceTemplate("a://{b}", { …, read'],
  ['no name', { read: run }, 'Resource template "a://{b}" needs a "name", a non-empty string'],
  [
    'a list of items',
    { name: 'b', read: run, list: [] },
    'resource template "a://{b}", list: must be a function, not []',
  ],
  ['a list of values', { name: 'b', read: run, complete: { b: ['x'] } }, '"a://{b}", complete, b: must be a function'],
])('a resource template with %s', (_, definition, message) => {
  expect(() => make().resourceTemplate('a://{b}', definition)).toThrow(message);
});

test.each<[string, Untyped, string]>([
  ['a missing definition', undefined, 'Prompt "p" needs a function "get": server.prompt("p", { …, get: () => … })'],
  ['the name of another library', { handler: run }, 'Prompt "p" needs a function "get"; rename "handler"'],
  [
    'an argument that is no object',
    { args: { city: true }, get: run },
    'prompt "p", args.city: must be an object such as',
  ],
  [
    'a list of values',
    { args: { city: { complete: ['x'] } }, get: run },
    'prompt "p", args.city, complete: must be a function',
  ],
])('a prompt with %s', (_, definition, message) => {
  expect(() => make().prompt('p', definition)).toThrow(message);
});

test('an app without a definition', () => {
  expect(() => make().app('ui://a')).toThrow('App "ui://a" needs "html"');
});

test('an argument of a prompt with an option that is not known is a warning', () => {
  const warn = vi.fn();
  const server: Untyped = createServer({ name: 'untyped', version: '1.0.0', logger: { ...silentLogger, warn } });
  server.prompt('p', { args: { city: { require: true } }, get: run });
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    'prompt "p", args.city: the option "require" is not known; use one of name, title, description, required, complete',
  );
});

test.each<[string, Untyped, string]>([
  ['nothing', undefined, 'Prompt p returned undefined; return a string, messages, or { messages }'],
  ['a number', 7, 'Prompt p returned 7; return a string'],
  ['an object without messages', { text: 'a' }, 'Prompt p: "messages" of its result must be a list'],
  [
    'a text as content',
    [{ role: 'user', content: 'a' }],
    'Prompt p: message 0 needs the role "user" or "assistant", and a content',
  ],
  ['another role', { role: 'system', content: { type: 'text', text: 'a' } }, 'Prompt p: message 0 needs the role'],
])('a prompt that returns %s is explained in the log', async (_, returned, message) => {
  const error = vi.fn();
  const server: Server = createServer({ name: 'untyped', version: '1.0.0', logger: { ...silentLogger, error } });
  server.prompt('p', { get: async () => returned });
  const client = await TestClient.open(server);
  expect((await client.request('prompts/get', { name: 'p' })).error).toMatchObject({ code: -32603 });
  expect(error.mock.calls[0]?.[1].error.message).toContain(message);
});

test.each<[Untyped, string]>([
  [{ errors: 'mask' }, 'createServer, errors: must be "shown" or "masked", not "mask"'],
  [
    { tasks: { stor: {} } },
    'Unknown option stor of tasks of createServer; did you mean store? Use one of facade, store, ',
  ],
])('a server with %j', (options, message) => {
  expect(() => createServer({ name: 'untyped', version: '1.0.0', ...options })).toThrow(message);
});

test('what is optional may be absent', () => {
  const server = make();
  const input = z.object({ city: z.string() });
  server.tool('t', { input, output: undefined, timeoutMs: undefined, visible: undefined, task: undefined, run });
  server.tool('u', { input: undefined, timeoutMs: 0, run });
  server.resource('a://b', { name: 'b', visible: undefined, read: run });
  server.resourceTemplate('a://{b}', { name: 'b', list: undefined, complete: undefined, read: run });
  server.prompt('p', { args: { city: { complete: undefined } }, get: run });
});

test.each<[string, Untyped[], string]>([
  ['use', [], 'server.use needs a pack, an object with a function "install", not nothing: server.use({ name:'],
  ['use', [{ name: 'x' }], 'server.use needs a pack, an object with a function "install", not an object'],
  ['use', [run], 'not a function. Call the function that creates the pack; add middleware with server.around'],
  ['mount', [], 'The first argument of mount must be a string: server.mount("prefix", createServer({ … }))'],
  ['mount', ['a'], 'The second argument of mount must be a server: server.mount("prefix", createServer({ … }))'],
  ['mount', ['a', { tool: run }], 'The second argument of mount must be a server'],
  ['mount', [make(), 'a'], 'The first argument of mount must be a string'],
  ['around', [], 'server.around needs a function, not nothing: server.around((request, next) => next())'],
  ['around', [{ before: run }], 'server.around needs a function, not an object'],
  ['restrict', [], 'server.restrict needs a function, not nothing: server.restrict((kind, key, principal) => true)'],
  ['restrict', [['admin']], 'server.restrict needs a function, not an array'],
  ['observe', [], 'server.observe needs an object, not nothing: server.observe({ ended: ({ outcome }) => … })'],
  ['observe', [run], 'server.observe needs an object, not a function'],
  ['observe', [{ ended: 'log' }], 'server.observe, ended: must be a function, not a string'],
  ['observe', [{ recieved: run }], 'server.observe: there is no event "recieved"; use one of received, sent, started'],
  ['method', [], 'server.method needs a name, a non-empty string, as its first argument, not nothing'],
  [
    'method',
    ['a/b'],
    'server.method needs a function as its second argument, not nothing: server.method("name", (params',
  ],
  ['addInstructions', ['Be kind.'], 'server.addInstructions needs a function, not a string: server.addInstructions('],
  ['resourceTemplate', [], 'A resource template needs a URI template, a string: server.resourceTemplate('],
  ['skill', [], 'A skill needs a definition, an object: server.skill({ uri: "skill://name/SKILL.md", … })'],
])('server.%s with wrong arguments %#', (method, args, message) => {
  expect(() => make()[method](...args)).toThrow(message);
});

test('a pack that is rejected is not closed with the server', async () => {
  const server = make();
  expect(() => server.use({ name: 'half', close: () => expect.unreachable() })).toThrow('needs a pack');
  await server.close();
});

test('an observer may be of a class with other members, and leave all events out', async () => {
  class Recorder {
    seen = 0;
    other = run;
    ended = (): void => void this.seen++;
    reset(): void {}
  }
  const recorder = new Recorder();
  const server = make();
  server.observe(recorder);
  server.observe({});
  server.observe({ ended: undefined, label: 'x' });
  const client = await TestClient.open(server as Server, '2025-11-25');
  await client.request('ping');
  expect(recorder.seen).toBeGreaterThan(0);
});
