// The messages of the load in both eras, and what a right answer to each looks like.
import assert from 'node:assert/strict';

/** @typedef {import('../contestants.mjs').Era} Era */

/** The revision the load speaks; a server that knows only an older one of that era answers with its own. */
export const revisions = { handshake: '2025-11-25', stateless: '2026-07-28' };
const clientInfo = { name: 'bench', version: '1.0.0' };
const meta = {
  'io.modelcontextprotocol/protocolVersion': revisions.stateless,
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** @param {Era} era @param {number | string} id @param {string} method @param {object} params */
export const request = (era, id, method, params) => ({
  jsonrpc: '2.0',
  id,
  method,
  params: era === 'stateless' ? { ...params, _meta: { ...meta, .../** @type {any} */ (params)._meta } } : params,
});

/** The first message of a connection. @param {Era} era @param {string} [protocolVersion] */
export const opening = (era, protocolVersion = revisions.handshake) =>
  era === 'stateless'
    ? request(era, 0, 'server/discover', {})
    : request(era, 0, 'initialize', { protocolVersion, capabilities: {}, clientInfo });

export const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };

// Just short of the 100 KiB at which some HTTP stacks refuse a body.
const longText = 'all work and no play makes a dull payload '.repeat(2400).slice(0, 100_000);
export const listLength = 100;

/** @param {unknown} result @param {string} text */
function expectText(result, text) {
  const { content, isError } = /** @type {any} */ (result);
  assert.ok(!isError, 'the call failed');
  assert.equal(content[0].type, 'text');
  assert.equal(content[0].text, text);
}

/** Of a client that knows tasks. */
export const withTasks = {
  _meta: {
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  },
};

/**
 * The calls a load is made of. Every answer to one call must be of equal length, so arguments never vary.
 * @type {Record<'calculate' | 'echo' | 'list' | 'createIssue' | 'getTask' | 'createTask', { method: string, params: any, expect: (result: any) => void, resultType?: string }>}
 */
export const calls = {
  calculate: {
    method: 'tools/call',
    params: { name: 'calculate', arguments: { operation: 'add', a: 1, b: 2 } },
    expect: (result) => expectText(result, '3'),
  },
  echo: {
    method: 'tools/call',
    params: { name: 'echo', arguments: { text: longText } },
    expect: (result) => expectText(result, longText),
  },
  createIssue: {
    method: 'tools/call',
    params: {
      name: 'create_issue',
      arguments: {
        project: 'mooring',
        title: 'The connection is closed after a minute',
        body: 'The client sends nothing for a minute, and the next request fails.',
        kind: 'bug',
        priority: 2,
        confidential: false,
        labels: ['client', 'http', 'timeouts'],
        reporter: { name: 'Ada', email: 'ada@example.com', teams: ['core', 'docs'] },
      },
    },
    expect: (result) => expectText(result, 'created'),
  },
  // Its task is set by the suite that creates it.
  getTask: {
    method: 'tasks/get',
    params: { taskId: '', ...withTasks },
    expect: ({ status }) => assert.equal(status, 'working'),
  },
  createTask: {
    method: 'tools/call',
    params: { name: 'quick', arguments: {}, ...withTasks },
    expect: ({ status }) => assert.equal(status, 'working'),
    resultType: 'task',
  },
  list: {
    method: 'tools/list',
    params: {},
    expect: ({ tools }) => {
      assert.equal(tools.length, listLength, 'the list is not complete');
      assert.deepEqual(tools[0].inputSchema.properties.operation.enum, ['add', 'subtract', 'multiply', 'divide']);
      assert.deepEqual(tools.at(-1).inputSchema.required, ['id', 'count', 'kind']);
    },
  },
};

/** A call that validation must stop. */
export const badArguments = { name: 'calculate', arguments: { operation: 'add', a: 'one', b: 2 } };

/** @param {any} answer */
export const isRefusal = (answer) => answer.error !== undefined || answer.result?.isError === true;

/** Checks one answer to `call` in full. @param {Era} era @param {keyof typeof calls} call @param {any} answer */
export function expectAnswer(era, call, answer) {
  assert.equal(answer.jsonrpc, '2.0');
  assert.equal(answer.error, undefined, `refused: ${JSON.stringify(answer.error)}`);
  calls[call].expect(answer.result);
  if (era === 'stateless') assert.equal(answer.result.resultType, calls[call].resultType ?? 'complete');
}

export const firstId = 1_000_000;

/** One request as bytes, its id of fixed width, so that a run of many is a copy and a few digits each. */
export class Template {
  #bytes;
  #at;

  /** @param {Era} era @param {keyof typeof calls} call @param {(body: Buffer) => Buffer} [frame] */
  constructor(era, call, frame = (body) => Buffer.concat([body, Buffer.from('\n')])) {
    const { method, params } = calls[call];
    this.#bytes = frame(Buffer.from(JSON.stringify(request(era, firstId, method, params))));
    this.#at = this.#bytes.lastIndexOf(String(firstId));
  }

  /** Requests `from`, `from + 1`, … as one buffer. @param {number} from @param {number} count */
  fill(from, count) {
    const size = this.#bytes.length;
    const out = Buffer.allocUnsafe(size * count);
    for (let n = 0; n < count; n++) {
      this.#bytes.copy(out, n * size);
      for (let rest = from + n, at = n * size + this.#at + 6; rest > 0; rest = Math.trunc(rest / 10), at--) {
        out[at] = 0x30 + (rest % 10);
      }
    }
    return out;
  }
}
