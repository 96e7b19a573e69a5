// An MCP server over stdio (2025-06-18), written out by hand, that misbehaves as its tools are told to.
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const tool = (name, annotations) => ({ name, inputSchema: { type: 'object' }, ...(annotations && { annotations }) });
let isMute = false;
let givenRoots;

// Ends only when it is killed.
if (process.env.STUBBORN !== undefined) {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1_000);
}

const tools = [
  tool('pid'),
  tool('crash'),
  tool('crash_once', { readOnlyHint: true }),
  tool('hang'),
  tool('mute'),
  tool('noise'),
  tool('wrong_id'),
  tool('no_result'),
  tool('bad_block'),
  tool('injected'),
  tool('huge'),
  tool('env'),
  tool('ask_roots'),
  tool('given_roots'),
];

const calls = {
  pid: () => text(process.pid),
  crash: () => {
    process.stderr.write('out of memory\n');
    setTimeout(() => process.exit(3), 10);
  },
  crash_once: async () => {
    const { existsSync, writeFileSync } = await import('node:fs');
    const mark = process.env.CRASH_MARK;
    if (existsSync(mark)) return text('second time');
    writeFileSync(mark, '');
    process.exit(1);
  },
  hang: () => undefined,
  mute: () => {
    isMute = true;
  },
  noise: () => {
    process.stdout.write('Listening on port 3000\n{"half": \n');
    return text('quiet again');
  },
  wrong_id: (id) => {
    send({ id: id + 1_000, result: text('for nobody') });
    return text('right');
  },
  no_result: (id) => void process.stdout.write(`{"jsonrpc":"2.0","id":${id}}\n`),
  bad_block: () => ({ content: [null, 'text'] }),
  // A second id after the result: passed on as it is, it would answer another request.
  injected: (id) =>
    void process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[]},"id":${id},"x":{}}\n`),
  huge: () => text('x'.repeat(2_000_000)),
  env: () => text(JSON.stringify(process.env)),
  // Does not wait for the answer.
  ask_roots: () => {
    send({ id: 'roots', method: 'roots/list' });
    return text('asked');
  },
  given_roots: () => text(JSON.stringify(givenRoots ?? null)),
};

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params, ...answer } = JSON.parse(line);
  if (id === undefined || isMute) return;
  if (id === 'roots') {
    givenRoots = answer.result ?? answer.error;
    return;
  }
  if (method === 'initialize') {
    const serverInfo = { name: 'faulty', version: '1.0.0' };
    send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'ping') send({ id, result: {} });
  else if (method === 'tools/list') send({ id, result: { tools } });
  else if (method === 'tools/call') {
    const result = await calls[params.name]?.(id);
    if (result !== undefined) send({ id, result });
  } else send({ id, error: { code: -32601, message: 'Method not found' } });
});
