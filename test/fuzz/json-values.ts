// Every kind of JSON value, as text: by itself, and at every position of a message that code reads. Texts, since
// JSON.stringify could not write some of them (numbers too large, a name twice, `__proto__`).

/** Values of every kind, with the edges of each and names that mean something to the language. */
export const jsonValues: readonly string[] = [
  ...[
    'null',
    'true',
    'false',
    '0',
    '-0',
    '1',
    '-1',
    '1.5',
    '1e308',
    '1e999',
    '-1e999',
    '9007199254740993',
    '-2147483649',
  ],
  ...['""', '" "', '"x"', '"\\u0000"', '"\\ud800"', '"__proto__"', '"constructor"', '"2026-07-28"', '"💥"'],
  `"${'x'.repeat(70_000)}"`,
  ...['[]', '[[]]', '[null]', '[1,"a",null,{}]', `[${'0,'.repeat(200)}0]`, `${'['.repeat(300)}${']'.repeat(300)}`],
  ...['{}', '{"":0}', '{"a":{"b":{"c":[]}}}', '{"a":1,"a":2}', `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`],
  ...[
    '{"toString":1}',
    '{"toString":null,"valueOf":{}}',
    '{"toJSON":1}',
    '{"then":1}',
    '{"length":-1}',
    '{"0":1,"length":1}',
  ],
  ...['{"__proto__":{"id":1,"method":"ping"}}', '{"constructor":{"prototype":{}}}', '{"hasOwnProperty":1}'],
];

/** Fewer of them, for places where each kind once is enough. */
const fewValues: readonly string[] = [
  ...['null', 'true', '0', '1e999', '9007199254740993', '""', '"__proto__"', '[]', '[null]', '{}'],
  ...['{"toString":1}', '{"then":1}', '{"__proto__":{"id":1}}'],
];

/** Messages with one place left open. `#` is that place, `@` an id that nothing else has. */
const places: readonly string[] = [
  '{"jsonrpc":#,"id":@,"method":"ping"}',
  '{"jsonrpc":"2.0","id":#,"method":"ping"}',
  '{"jsonrpc":"2.0","id":#,"method":"tools/call","params":{"name":"x","arguments":{}}}',
  '{"jsonrpc":"2.0","id":@,"method":#}',
  '{"jsonrpc":"2.0","id":@,"method":"ping","params":#}',
  '{"jsonrpc":"2.0","id":@,"method":"tools/list","params":{"cursor":#}}',
  '{"jsonrpc":"2.0","id":@,"method":"tools/list","params":{"_meta":#}}',
  '{"jsonrpc":"2.0","id":@,"method":"tools/list","params":{"_meta":{"progressToken":#}}}',
  ...['protocolVersion', 'clientInfo', 'clientCapabilities', 'logLevel'].map(
    (name) => `{"jsonrpc":"2.0","id":@,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/${name}":#}}}`,
  ),
  '{"jsonrpc":"2.0","id":@,"method":"tools/call","params":{"name":#}}',
  '{"jsonrpc":"2.0","id":@,"method":"tools/call","params":{"name":"x","arguments":#}}',
  '{"jsonrpc":"2.0","id":@,"method":"tools/call","params":{"name":"x","arguments":{},"requestState":#,"inputResponses":{}}}',
  '{"jsonrpc":"2.0","id":@,"method":"tools/call","params":{"name":"x","arguments":{},"inputResponses":#}}',
  '{"jsonrpc":"2.0","id":@,"method":"tools/call","params":{"name":"x","arguments":{},"task":#}}',
  '{"jsonrpc":"2.0","id":@,"method":"resources/read","params":{"uri":#}}',
  '{"jsonrpc":"2.0","id":@,"method":"resources/subscribe","params":{"uri":#}}',
  '{"jsonrpc":"2.0","id":@,"method":"resources/unsubscribe","params":{"uri":#}}',
  '{"jsonrpc":"2.0","id":@,"method":"prompts/get","params":{"name":#,"arguments":{}}}',
  '{"jsonrpc":"2.0","id":@,"method":"prompts/get","params":{"name":"x","arguments":#}}',
  '{"jsonrpc":"2.0","id":@,"method":"completion/complete","params":{"ref":#,"argument":{"name":"a","value":"b"}}}',
  '{"jsonrpc":"2.0","id":@,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"x"},"argument":#}}',
  '{"jsonrpc":"2.0","id":@,"method":"logging/setLevel","params":{"level":#}}',
  '{"jsonrpc":"2.0","id":@,"method":"tasks/get","params":{"taskId":#}}',
  '{"jsonrpc":"2.0","id":@,"method":"initialize","params":{"protocolVersion":#,"capabilities":{},"clientInfo":{"name":"f","version":"1"}}}',
  '{"jsonrpc":"2.0","id":@,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":#,"clientInfo":{"name":"f","version":"1"}}}',
  '{"jsonrpc":"2.0","id":@,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":#}}',
  '{"jsonrpc":"2.0","method":#}',
  '{"jsonrpc":"2.0","method":"notifications/initialized","params":#}',
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":#}}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":#,"progress":#}}',
  '{"jsonrpc":"2.0","id":#,"result":{}}',
  '{"jsonrpc":"2.0","id":@,"result":#}',
  '{"jsonrpc":"2.0","id":@,"error":#}',
  '{"jsonrpc":"2.0","id":@,"error":{"code":#,"message":#}}',
  '[#]',
  '[{"jsonrpc":"2.0","id":@,"method":"ping"},#]',
];

/** Every value by itself and in every place. `firstId` is the first of the ids they use. */
export function* everyMessage(firstId: number): Generator<string> {
  yield* jsonValues;
  let id = firstId;
  for (const place of places) {
    for (const value of place.includes('"id":#') ? jsonValues : fewValues) {
      yield place.replaceAll('#', () => value).replace('@', String(id++));
    }
  }
}
