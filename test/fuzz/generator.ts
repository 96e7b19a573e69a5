// Messages that are nearly right: templates of every method in both eras, changed a little in their values and then in
// their bytes. Everything follows from a seed, so that a case can be reproduced.

/** Numbers from 0 to 1, the same for the same seed. */
export type Random = () => number;

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
};

const requests: readonly (readonly [string, object?])[] = [
  ['ping'],
  ['server/discover', {}],
  ['initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'f', version: '1' } }],
  ['tools/list', {}],
  ['tools/list', { cursor: 'AAAA' }],
  ['tools/call', { name: 'test_simple_text', arguments: {} }],
  ['tools/call', { name: 'test_image_content' }],
  ['tools/call', { name: 'test_error_handling', arguments: {} }],
  ['tools/call', { name: 'test_tool_with_logging', arguments: {} }],
  ['tools/call', { name: 'test_structured_object', arguments: {} }],
  ['tools/call', { name: 'test_sampling', arguments: { prompt: 'x' } }],
  ['tools/call', { name: 'test_elicitation', arguments: { message: 'x' } }],
  ['tools/call', { name: 'test_input_required_result_elicitation', requestState: 'AAAA', inputResponses: {} }],
  ['tools/call', { name: 'json_schema_2020_12_tool', arguments: { name: 'x', address: { street: 's' } } }],
  ['tools/call', { name: 'test_x_mcp_header', arguments: { region: 'eu' } }],
  ['tools/call', { name: '__proto__', arguments: { constructor: 1 } }],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'test://static-text' }],
  ['resources/read', { uri: 'test://template/1/data' }],
  ['resources/read', { uri: 'file:///%2e%2e/etc' }],
  ['resources/subscribe', { uri: 'test://watched-resource' }],
  ['resources/unsubscribe', { uri: 'test://watched-resource' }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'test_simple_prompt' }],
  ['prompts/get', { name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } }],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' }, argument: { name: 'arg1', value: 'p' } },
  ],
  ['logging/setLevel', { level: 'debug' }],
  ['tasks/get', { taskId: 'x' }],
  ['no/such/method', {}],
];

const notifications: readonly (readonly [string, object?])[] = [
  ['notifications/initialized'],
  ['notifications/cancelled', { requestId: 1, reason: 'x' }],
  ['notifications/progress', { progressToken: 1, progress: 1 }],
  ['notifications/roots/list_changed'],
];

/** Names that have a meaning in JavaScript or in the protocol. */
const names = [
  '__proto__',
  'constructor',
  'toString',
  'toJSON',
  'then',
  'length',
  '',
  '\u0000',
  '$ref',
  'id',
  'method',
  'x',
];

/** Values that break things: types, edges, and names that mean something to the language. */
const unusual: readonly unknown[] = [
  ...[null, true, false, 0, -0, -1, 1e308, -1e308, 0.1, 2 ** 53, 2 ** 53 + 1, -(2 ** 31)],
  ...['', ' ', '\u0000', '\ud800', '\uffff', '💥', 'x'.repeat(5000), '../../etc/passwd', '%00', '{{}}', ...names],
  ...['2026-07-28', '2024-11-05', '9999-99-99'],
  ...[[], [[]], {}, { a: {} }, [null], { length: -1 }, { toJSON: 1 }, Array(200).fill(0)],
  ...[{ toString: 1 }, { toString: null, valueOf: 2 }, { [Symbol.toPrimitive.toString()]: 1 }, ['__proto__']],
  JSON.parse('{"__proto__":{"then":1},"then":1}'),
];

/** One message as text, with a unique id. */
export function makeMessage(random: Random, id: string | number): string {
  // Not a message at all, but JSON.
  if (random() < 0.03) return JSON.stringify(pick(random, unusual));
  const kind = random();
  const stateless = random() < 0.5;
  let message: Record<string, unknown>;
  if (kind < 0.82) {
    const [method, params] = pick(random, requests);
    const full = stateless ? { ...params, _meta: envelope } : params;
    message = { jsonrpc: '2.0', id, method, ...(full === undefined ? {} : { params: full }) };
  } else if (kind < 0.92) {
    const [method, params] = pick(random, notifications);
    message = { jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) };
  } else if (kind < 0.96) message = { jsonrpc: '2.0', id, result: { action: 'accept', content: {} } };
  else message = { jsonrpc: '2.0', id, error: { code: -1, message: 'x' } };
  for (let changes = Math.floor(random() * 4); changes > 0; changes--)
    message = change(random, message) as typeof message;
  const text =
    random() < 0.04 ? `[${JSON.stringify(message)},${JSON.stringify(pick(random, unusual))}]` : JSON.stringify(message);
  return text ?? 'null';
}

/** A copy with one thing in it changed. */
function change(random: Random, value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > 6) return pick(random, unusual);
  if (Array.isArray(value)) {
    if (value.length === 0) return [pick(random, unusual)];
    const at = Math.floor(random() * value.length);
    return value.map((item, index) => (index === at ? change(random, item, depth + 1) : item));
  }
  const keys = Object.keys(value);
  const key = pick(random, keys.length === 0 ? ['x'] : keys);
  const entries = Object.entries(value);
  const choice = random();
  if (choice < 0.15) return Object.fromEntries(entries.filter(([name]) => name !== key));
  if (choice < 0.3) return { ...value, [pick(random, names)]: pick(random, unusual) };
  if (choice < 0.4)
    return Object.fromEntries(entries.map(([name, item]) => [name === key ? name.toUpperCase() : name, item]));
  return Object.fromEntries(
    entries.map(([name, item]) => [name, name === key ? change(random, item, depth + 1) : item]),
  );
}

/** The bytes of a text, most times as they are. */
export function makeBytes(random: Random, text: string): Buffer {
  const bytes = Buffer.from(text);
  if (random() < 0.7 || bytes.length === 0) return bytes;
  const at = Math.floor(random() * bytes.length);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  const garbage = Buffer.from(Array.from({ length: 1 + Math.floor(random() * 8) }, () => Math.floor(random() * 256)));
  switch (Math.floor(random() * 8)) {
    case 0:
      return before;
    case 1:
      return Buffer.concat([before, garbage, after]);
    case 2:
      return Buffer.concat([before, garbage, after.subarray(Math.min(garbage.length, after.length))]);
    case 3:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
    case 4:
      return Buffer.concat([before, Buffer.from('\r\n'), after]);
    case 5:
      return Buffer.concat([bytes, bytes]);
    case 6:
      return Buffer.concat([Buffer.from('['.repeat(Math.floor(random() * 400))), bytes]);
    default:
      return Buffer.concat([Buffer.from('  \t'), bytes, Buffer.from('  \r')]);
  }
}
