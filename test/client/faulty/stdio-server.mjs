// A server that behaves badly in the way its argument names. Plain JavaScript, without any library: what it writes is
// exactly what stands here.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [, , mode = '', note] = process.argv;
const write = (text) => process.stdout.write(text);
const send = (message) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tool = { name: 'work', description: 'Works', inputSchema: { type: 'object' } };
const text = (words) => ({ content: [{ type: 'text', text: words }] });
const greeting = (version) => ({
  protocolVersion: version,
  capabilities: { tools: {}, resources: {}, logging: {} },
  serverInfo: { name: 'faulty', version: '1.0.0' },
});
const discovery = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
};

/** What a proper server would do; each mode changes a part of it. */
const proper = {
  'server/discover': ({ id }) => send({ id, error: { code: -32601, message: 'Method not found' } }),
  initialize: ({ id, params }) => send({ id, result: greeting(params.protocolVersion) }),
  'tools/list': ({ id }) => send({ id, result: { tools: [tool] } }),
  'tools/call': ({ id }) => send({ id, result: text('done') }),
};

/** The same for a server of the newest revision. */
const stateless = {
  ...proper,
  'server/discover': ({ id }) => send({ id, result: discovery }),
  initialize: ({ id }) => send({ id, error: { code: -32601, message: 'Method not found' } }),
};
const ask = (method, params = {}) => ({ resultType: 'input_required', inputRequests: { a: { method, params } } });
const nothing = () => {};

/** @type {Record<string, Record<string, (message: any) => unknown>>} */
const modes = {
  proper,
  stateless,
  'never-answers': { '*': nothing },
  'never-answers-nor-ends': { '*': nothing },
  'dies-on-probe': { ...proper, 'server/discover': () => process.exit(3) },
  'hangs-on-probe': {
    ...proper,
    'server/discover': () => {
      process.stdin.pause();
      setInterval(nothing, 1000);
    },
  },
  'ignores-probe': { ...proper, 'server/discover': nothing },
  'answers-probe-with-null': {
    ...proper,
    'server/discover': () => send({ id: null, error: { code: -32600, message: 'Invalid request' } }),
  },
  'answers-probe-without-id': {
    ...proper,
    'server/discover': () => send({ error: { code: -32600, message: 'Invalid request' } }),
  },
  'wrong-ids': { '*': ({ id }) => send({ id: id + 1000, result: greeting('2025-11-25') }) },
  'text-ids': { '*': ({ id }) => send({ id: String(id), result: greeting('2025-11-25') }) },
  'double-answers': {
    ...proper,
    'tools/call': ({ id }) => {
      send({ id, result: text('first') });
      send({ id, result: text('second') });
      send({ id, error: { code: -1, message: 'third' } });
    },
  },
  'both-result-and-error': {
    ...proper,
    'tools/call': ({ id }) => send({ id, result: {}, error: { code: 1, message: 'x' } }),
  },
  'null-result': { ...proper, 'tools/call': ({ id }) => send({ id, result: null }) },
  'array-result': { ...proper, 'tools/call': ({ id }) => send({ id, result: [] }) },
  neither: { ...proper, 'tools/call': ({ id }) => send({ id }) },
  'error-without-code': { ...proper, 'tools/call': ({ id }) => send({ id, error: 'sorry' }) },
  'no-jsonrpc': { ...proper, 'tools/call': ({ id }) => write(`{"id":${id},"result":{"content":[]}}\n`) },
  'content-is-text': { ...proper, 'tools/call': ({ id }) => send({ id, result: { content: 'done' } }) },
  'tools-is-object': { ...proper, 'tools/list': ({ id }) => send({ id, result: { tools: {} } }) },
  'cursor-is-number': { ...proper, 'tools/list': ({ id }) => send({ id, result: { tools: [], nextCursor: 1 } }) },
  'bad-tools': {
    ...proper,
    'tools/list': ({ id }) =>
      send({
        id,
        result: { tools: [null, 1, {}, { name: 5 }, { name: 'x' }, { name: 'y', inputSchema: null }, tool] },
      }),
  },
  'endless-pages': {
    ...proper,
    'tools/list': ({ id, params }) =>
      send({ id, result: { tools: [tool], nextCursor: `${Number(params?.cursor ?? 0) + 1}` } }),
  },
  'circular-pages': {
    ...proper,
    'tools/list': ({ id }) => send({ id, result: { tools: [tool], nextCursor: 'again' } }),
  },
  'bad-version': { ...proper, initialize: ({ id }) => send({ id, result: greeting('1999-01-01') }) },
  'no-version': { ...proper, initialize: ({ id }) => send({ id, result: { capabilities: {} } }) },
  'rejects-initialize': {
    '*': ({ id }) => send({ id, error: { code: -32000, message: 'We are closed on Sundays' } }),
  },
  'huge-answer': {
    ...proper,
    'tools/call': ({ id, params }) => send({ id, result: text('x'.repeat(params.arguments?.bytes ?? 0)) }),
  },
  'endless-line': {
    ...proper,
    'tools/call': ({ id }) => {
      const chunk = 'x'.repeat(1 << 20);
      write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
      const more = () => {
        while (write(chunk));
        process.stdout.once('drain', more);
      };
      more();
    },
  },
  'deep-answer': {
    ...proper,
    'tools/call': ({ id }) =>
      write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}}\n`),
  },
  'broken-json': { ...proper, 'tools/call': ({ id }) => write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[}\n`) },
  'not-utf8': {
    ...proper,
    'tools/call': ({ id }) => {
      process.stdout.write(Buffer.from([0xff, 0xfe, 0x0a]));
      send({ id, result: text('after rubbish') });
    },
  },
  'crashes-in-call': {
    ...proper,
    'tools/call': () => {
      process.stderr.write('Traceback: the disk is on fire\n');
      process.exit(7);
    },
  },
  'closes-stdout': {
    ...proper,
    'tools/call': () => {
      process.stdout.end();
      setInterval(nothing, 1000);
    },
  },
  'log-lines': {
    ...proper,
    'tools/call': ({ id }) => {
      write('INFO working on it\n\n\r\n  \nDEBUG {"jsonrpc": nearly}\n');
      send({ id, result: text('done') });
    },
  },
  'only-log-lines': { '*': () => write('Server listening on port 3000\n') },
  'windows-lines': {
    ...proper,
    initialize: ({ id, params }) =>
      write(`\ufeff${JSON.stringify({ jsonrpc: '2.0', id, result: greeting(params.protocolVersion) })}\r\n`),
    'tools/call': ({ id }) => write(`${JSON.stringify({ jsonrpc: '2.0', id, result: text('done') })}\r\n`),
  },
  batches: {
    ...proper,
    initialize: ({ id }) => send({ id, result: greeting('2025-03-26') }),
    'tools/call': ({ id }) => write(`${JSON.stringify([{ jsonrpc: '2.0', id, result: text('done') }])}\n`),
  },
  'batches-not-supported': {
    ...proper,
    'tools/call': ({ id }) => write(`${JSON.stringify([{ jsonrpc: '2.0', id, result: text('done') }])}\n`),
  },
  'progress-for-ever': {
    ...proper,
    'tools/call': ({ params }) => {
      let progress = 0;
      const { progressToken } = params._meta;
      setInterval(
        () => send({ method: 'notifications/progress', params: { progressToken, progress: ++progress } }),
        20,
      );
    },
  },
  'progress-stands-still': {
    ...proper,
    'tools/call': ({ params }) => {
      const { progressToken } = params._meta;
      setInterval(() => send({ method: 'notifications/progress', params: { progressToken, progress: 1 } }), 20);
    },
  },
  'flood-of-logs': {
    ...proper,
    'tools/call': ({ id }) => {
      for (let n = 0; n < 50_000; n++) {
        send({ method: 'notifications/message', params: { level: 'info', data: { n } } });
      }
      send({ id, result: text('done') });
    },
  },
  'flood-of-questions': {
    ...proper,
    'tools/call': ({ id }) => {
      const params = { messages: [], maxTokens: 1 };
      for (let n = 0; n < 5_000; n++) send({ id: `q${n}`, method: 'sampling/createMessage', params });
      send({ id, result: text('done') });
    },
  },
  'long-ids': {
    ...proper,
    'tools/call': ({ id }) => {
      for (let n = 0; n < 100; n++) send({ id: 'x'.repeat(1_000_000), method: 'ping' });
      send({ id, result: text('done') });
    },
  },
  'long-questions': {
    ...proper,
    'tools/call': ({ id }) => {
      const messages = [{ role: 'user', content: { type: 'text', text: 'x'.repeat(900_000) } }];
      for (let n = 0; n < 64; n++) {
        send({ id: `q${n}`, method: 'sampling/createMessage', params: { messages, maxTokens: 1 } });
      }
      send({ id, result: text('done') });
    },
  },
  'flood-of-stderr': {
    ...proper,
    'tools/call': ({ id }) => {
      for (let n = 0; n < 2_000; n++) process.stderr.write(`${'e'.repeat(10_000)}\n`);
      process.stderr.write('the last words\n', () => send({ id, result: text('done') }));
    },
  },
  pollutes: {
    ...proper,
    'tools/call': ({ id }) =>
      write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"__proto__":{"polluted":true},"constructor":{}}}\n`),
  },
  'asks-for-ever': {
    ...stateless,
    'tools/call': ({ id }) => send({ id, result: { ...ask('roots/list'), requestState: 's' } }),
  },
  'sends-undeclared-request': {
    ...stateless,
    'tools/call': ({ id }) => send({ id, result: ask('sampling/createMessage') }),
  },
  'asks-nonsense': { ...stateless, 'tools/call': ({ id }) => send({ id, result: ask('rm -rf') }) },
  'asks-nothing': { ...stateless, 'tools/call': ({ id }) => send({ id, result: { resultType: 'input_required' } }) },
  'unknown-result-type': { ...stateless, 'tools/call': ({ id }) => send({ id, result: { resultType: 'perhaps' } }) },
  'requests-where-there-are-none': {
    ...stateless,
    'tools/call': ({ id }) => {
      send({ id: 'q', method: 'roots/list' });
      send({ id, result: { ...text('done'), resultType: 'complete' } });
    },
  },
  'bad-structure': {
    ...proper,
    'tools/list': ({ id }) =>
      send({ id, result: { tools: [{ ...tool, outputSchema: { type: 'object', required: ['celsius'] } }] } }),
    'tools/call': ({ id }) => send({ id, result: { content: [], structuredContent: { fahrenheit: 70 } } }),
  },
  'bad-output-schema': {
    ...proper,
    'tools/list': ({ id }) =>
      send({ id, result: { tools: [{ ...tool, outputSchema: { $ref: 'http://127.0.0.1:9/schema.json' } }] } }),
    'tools/call': ({ id }) => send({ id, result: { content: [], structuredContent: { anything: 1 } } }),
  },
  'evil-pattern': {
    ...proper,
    'tools/list': ({ id }) => {
      const word = { type: 'string', pattern: '^(a+)+$' };
      send({ id, result: { tools: [{ ...tool, outputSchema: { type: 'object', properties: { word } } }] } });
    },
    'tools/call': ({ id }) => send({ id, result: { content: [], structuredContent: { word: `${'a'.repeat(1e5)}!` } } }),
  },
  'evil-schema': {
    ...proper,
    'tools/list': ({ id }) => {
      const items = { allOf: Array.from({ length: 15_000 }, (_, at) => ({ maximum: 10 + at })) };
      const outputSchema = { type: 'object', properties: { list: { items } } };
      send({ id, result: { tools: [{ ...tool, outputSchema }] } });
    },
    'tools/call': ({ id }) => {
      send({ id, result: { content: [], structuredContent: { list: Array.from({ length: 190_000 }, () => 1) } } });
    },
  },
  'slow-pages': {
    ...proper,
    'tools/list': ({ id, params }) => {
      const nextCursor = `${Number(params?.cursor ?? 0) + 1}`;
      setTimeout(() => send({ id, result: { tools: [tool], nextCursor } }), 300);
    },
  },
  'asks-nothing-for-ever': {
    ...stateless,
    'tools/call': ({ id }) =>
      setTimeout(() => send({ id, result: { resultType: 'input_required', requestState: 's' } }), 700),
  },
  'does-not-read': {
    ...proper,
    'tools/list': () => {
      process.stdin.pause();
      setInterval(nothing, 1000);
    },
  },
  'ignores-every-signal': proper,
  'leaves-children': proper,
  'answers-late': { ...proper, 'tools/call': ({ id }) => setTimeout(() => send({ id, result: text('late') }), 300) },
};

if (mode === 'exits-at-once') {
  process.stderr.write('Error: Cannot find module "left-pad"\n');
  process.exit(1);
}
if (mode === 'exits-silently') process.exit(0);
if (mode === 'reads-nothing') setInterval(nothing, 1000);
else {
  const handlers = modes[mode] ?? proper;
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.method === undefined || message.id === undefined) return;
    const handler = handlers[message.method] ?? handlers['*'];
    if (handler) handler(message);
    else send({ id: message.id, error: { code: -32601, message: `Method not found: ${message.method}` } });
  });
}
if (mode === 'ignores-every-signal' || mode === 'never-answers-nor-ends') {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, nothing);
  process.stdin.on('end', () => setInterval(nothing, 1000));
}
if (mode === 'leaves-children') {
  // It holds our pipes and outlives us, unless the whole group is ended.
  const loop = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)";
  spawn(process.execPath, ['-e', loop, note ?? ''], { stdio: 'inherit' });
}
