import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRedactor } from './redact.ts';

const { redact, redactText, isSecretKey } = createRedactor();
const hidden = '[redacted]';

test.each([
  ...['password', 'Password', 'db_password', 'PASSWD', 'passphrase', 'pwd', 'secret', 'client_secret', 'clientSecret'],
  ...['token', 'access_token', 'refreshToken', 'id_token', 'x-auth-token', 'apiKey', 'API_KEY', 'x-api-key', 'api.key'],
  ...[
    'Authorization',
    'proxy-authorization',
    'cookie',
    'Set-Cookie',
    'private_key',
    'privateKey',
    'AWS_SECRET_ACCESS_KEY',
  ],
  ...[
    'Mcp-Session-Id',
    'sessionId',
    'session',
    'jwt',
    'credentials',
    'auth',
    'otp',
    'pin',
    'code_verifier',
    'requestState',
  ],
  ...['client_assertion', 'signature', '--token', '--api-key', 'x'.repeat(300)],
])('a value under %s is hidden', (key) => {
  expect(isSecretKey(key)).toBe(true);
  expect(Object.values(redact({ [key]: 'hunter2hunter2' }) as object)).toEqual([hidden]);
});

test.each([
  ...['progressToken', 'maxTokens', 'tokens', 'tokenCount', 'nextCursor', 'name', 'key', 'user', 'id', 'method', 'uri'],
  ...[
    'authorization_servers',
    'authorizationUrl',
    'author',
    'passenger',
    'compass',
    'nextPageToken',
    'sessions',
    'pinned',
  ],
])('a value under %s stays', (key) => {
  expect(isSecretKey(key)).toBe(false);
  expect(redact({ [key]: 'plain' })).toEqual({ [key]: 'plain' });
});

const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';
const pem = '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc=\n-----END RSA PRIVATE KEY-----';

// Built from pieces, so that no scanner reports this file as a leak.
const word = 'Ab3dEf6hIj9lMn2pQr5tUv8xYz1Bc4De7Gh0J';
test.each<readonly [string, string, string]>([
  ['a bearer token', `Authorization: Bearer ${word}`, `Authorization: ${hidden}`],
  ['a bearer token in a sentence', `sent Bearer ${word} to it`, `sent Bearer ${hidden} to it`],
  ['basic credentials', 'curl -H "x: Basic dXNlcjpwYXNzd29yZA=="', `curl -H "x: Basic ${hidden}"`],
  ['all parts of a cookie', 'Cookie: a=1; b=2; c=3\nnext', `Cookie: ${hidden}\nnext`],
  ['all parts of a signature', 'Authorization: AWS4 Credential=a/b, Signature=c', `Authorization: ${hidden}`],
  ['a header in JSON text', '{"cookie":"a=1; b=2","x":1}', `{"cookie":"${hidden}","x":1}`],
  ['a JSON Web Token', `got ${jwt}.`, `got ${hidden}.`],
  ['a JSON Web Token glued to a name', `token-${jwt}`, `token-${hidden}`],
  ['a password in a URL', 'postgres://user:hunter2@db:5432/x', `postgres://user:${hidden}@db:5432/x`],
  ['a password with an at sign in a URL', 'redis://:p@ss@host/0', `redis://:${hidden}@host/0`],
  ['a token in a query', 'https://a.test/?access_token=abc123&x=1', `https://a.test/?access_token=${hidden}&x=1`],
  ['a code in a query', 'http://a.test/cb?code=abc&state=xyz', `http://a.test/cb?code=${hidden}&state=${hidden}`],
  ['a signed link', 'https://s3.test/o?X-Amz-Signature=abc', `https://s3.test/o?X-Amz-Signature=${hidden}`],
  ['an assignment', 'export DB_PASSWORD=hunter2', `export DB_PASSWORD=${hidden}`],
  ['a setting', 'password: hunter2', `password: ${hidden}`],
  ['a quoted setting', "apiKey = 'hunter2'", `apiKey = '${hidden}'`],
  ['a member of JSON text', '{"client_secret":"hunter2"}', `{"client_secret":"${hidden}"}`],
  ['a member of JSON text inside JSON text', '"{\\"password\\":\\"hunter2\\"}"', `"{\\"password\\":\\"${hidden}\\"}"`],
  ['a command line', 'mysql --password=hunter2 -u me', `mysql --password=${hidden} -u me`],
  ['a private key', `key:\n${pem}\ndone`, `key:\n${hidden}\ndone`],
  ['a private key that is cut', pem.slice(0, 60), hidden],
  ['a private key inside JSON', JSON.stringify(pem).slice(1, -1), hidden],
  ...[
    'sk-',
    'sk-proj-',
    'sk-ant-api03-',
    'ghp_',
    'gho_',
    'github_pat_',
    'glpat-',
    'xoxb-',
    'AIza',
    'npm_',
    'hf_',
    'tskey-',
  ].map((prefix) => [`a key of the shape ${prefix}`, `use ${prefix}${word} now`, `use ${hidden} now`] as const),
  ['a Stripe key', `sk_${'live'}_${word}`, hidden],
  ['an AWS key id', `AKIA${'ABCDEFGH12345678'}`, hidden],
])('%s is hidden in text', (_what, text, expected) => {
  expect(redactText(text)).toBe(expected);
});

test.each([
  'The quick brown fox jumps over the lazy dog.',
  'basic information about tokens and passwords',
  'https://example.org/path?page=2&q=token+bucket#top',
  'user@example.org wrote to me@example.org',
  'ratio 3:4, time 12:34:56',
  'at Object.<anonymous> (file:///srv/app/index.js:10:5)',
  '{"progressToken":"abc-123","maxTokens":500}',
  'sk-learn and key-value stores',
  'The bearer of this letter',
])('%j is not changed', (text) => {
  expect(redactText(text)).toBe(text);
});

test('arrays, nested values, maps, sets, headers and errors are searched', () => {
  const cause = new Error('connect postgres://u:hunter2@db/x');
  const value = {
    list: [{ password: 'hunter2' }, [['token', 'hunter2']], [{ deep: { apiKey: 'hunter2' } }]],
    map: new Map<unknown, unknown>([
      ['secret', 'hunter2'],
      ['ok', 1],
      [7, `Bearer ${word}`],
    ]),
    set: new Set([`Bearer ${word}`]),
    headers: new Headers({ authorization: 'hunter2hunter2', accept: '*/*' }),
    rawHeaders: ['Host', 'a.test', 'Cookie', 'hunter2', 'Accept', '*/*'],
    pairs: [
      { name: 'Authorization', value: 'hunter2' },
      { value: ['hunter2'], key: 'api_key' },
      { name: 'x', value: 'y' },
    ],
    argv: ['run', '--password', 'hunter2', '-v'],
    url: new URL('https://u:hunter2@a.test/'),
    error: Object.assign(new Error('x', { cause }), { code: 'E', token: 'hunter2' }),
  };
  const copy = redact(value) as typeof value;
  expect(JSON.stringify(copy)).not.toContain('hunter2');
  expect(JSON.stringify(copy)).not.toContain(word);
  expect(copy).toMatchObject({
    list: [{ password: hidden }, [['token', hidden]], [{ deep: { apiKey: hidden } }]],
    map: { secret: hidden, ok: 1, '[number]': `Bearer ${hidden}` },
    set: [`Bearer ${hidden}`],
    headers: { authorization: hidden, accept: '*/*' },
    rawHeaders: ['Host', 'a.test', 'Cookie', hidden, 'Accept', '*/*'],
    pairs: [
      { name: 'Authorization', value: hidden },
      { key: 'api_key', value: hidden },
      { name: 'x', value: 'y' },
    ],
    argv: ['run', '--password', hidden, '-v'],
    url: `https://u:${hidden}@a.test/`,
    error: { name: 'Error', message: 'x', code: 'E', token: hidden, cause: { name: 'Error' } },
  });
});

test('a secret is hidden completely, whatever its type, but its absence may be visible', () => {
  expect(
    redact({
      auth: { user: 'me', pass: 'x' },
      token: 12345,
      cookies: ['a', 'b'],
      secret: null,
      password: '',
      jwt: false,
    }),
  ).toEqual({ auth: hidden, token: hidden, cookies: hidden, secret: null, password: '', jwt: false });
});

test('a secret used as a key is hidden too', () => {
  expect(redact({ [`ghp_${word}`]: 1 })).toEqual({ [hidden]: 1 });
});

test('the input is never changed, not even when frozen', () => {
  const value = { a: [{ password: 'hunter2', when: new Date(0) }], text: `Bearer ${word}` };
  const before = structuredClone(value);
  const freeze = (node: object): void => {
    for (const item of Object.values(Object.freeze(node)))
      if (typeof item === 'object' && !(item instanceof Date)) freeze(item);
  };
  freeze(value);
  redact(value);
  expect(value).toEqual(before);
});

test('cycles, depth, width and long texts are bounded', () => {
  const circle: Record<string, unknown> = { name: 'x' };
  circle.self = circle;
  const shared = { y: 1 };
  expect(redact({ circle, twice: [shared, shared] })).toEqual({
    circle: { name: 'x', self: '[circular]' },
    twice: [{ y: 1 }, { y: 1 }],
  });
  let deep: unknown = 'bottom';
  for (let level = 0; level < 100_000; level++) deep = { deep };
  expect(JSON.stringify(redact(deep))).toContain('[too deep]');
  const wide = createRedactor({ maxValues: 10 });
  expect(wide.redact(new Array(1000).fill(0))).toEqual([...new Array(10).fill(0), '[990 more]']);
  expect(
    Object.keys(wide.redact(Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`k${i}`, i]))) as object),
  ).toHaveLength(11);
  expect(wide.redact(new Set(Array.from({ length: 1000 }, (_, i) => i)))).toHaveLength(11);
  const long = redactText(`start ${'word '.repeat(100_000)}`);
  expect(long.length).toBeLessThan(17_000);
  expect(long).toMatch(/… \[500006 characters\]$/);
});

test('a cut never shows a part of a secret', () => {
  const short = createRedactor({ maxTextChars: 100 });
  for (let offset = 60; offset < 110; offset++) {
    for (const tail of [0, 3000, 5000]) {
      const shown = short.redactText(`${'a '.repeat(offset).slice(0, offset)} ghp_${word}${' b'.repeat(tail)}`);
      expect(shown).not.toContain('ghp_');
    }
  }
  const many = short.redactText(`Bearer ${word} `.repeat(200));
  expect(many).not.toContain(word.slice(0, 8));
});

test('unusual values become plain ones', () => {
  class Account {
    user = 'me';
    password = 'hunter2';
  }
  const trap = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error('no');
      },
    },
  );
  const getter = {
    ok: 1,
    get bad(): never {
      throw new Error('no');
    },
  };
  const own = JSON.parse('{"__proto__":{"token":"hunter2"},"constructor":1}') as object;
  expect(
    redact([undefined, 10n, () => 1, Symbol('x'), Buffer.from('abc'), new Date(0), new Date(Number.NaN), /a/g]),
  ).toEqual([
    undefined,
    '10',
    '[function]',
    '[symbol]',
    '[3 bytes]',
    '1970-01-01T00:00:00.000Z',
    'Invalid Date',
    '/a/g',
  ]);
  expect(redact({ account: new Account(), trap, getter })).toEqual({
    account: { user: 'me', password: hidden },
    trap: '[unreadable]',
    getter: { ok: 1, bad: '[unreadable]' },
  });
  const copy = redact(own) as object;
  expect(JSON.stringify(copy)).toBe(`{"__proto__":{"token":"${hidden}"},"constructor":1}`);
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
});

test('names, shapes and the replacement can be added', () => {
  const own = createRedactor({ keys: ['clipboard-text'], patterns: [/\bEMP\d{4}\b/], replacement: '***' });
  expect(own.redact({ clipboardText: 'x', note: 'EMP1234 and EMP5678', password: 'y' })).toEqual({
    clipboardText: '***',
    note: '*** and ***',
    password: '***',
  });
  expect(createRedactor({ replacement: '$1$&' }).redactText('password=hunter2')).toBe('password=$1$&');
});

test('for any input, the copy is plain JSON and contains no planted secret', () => {
  const secret = `ghp_${word}`;
  const leaf = fc.oneof(
    fc.string(),
    fc.constantFrom(secret, `Bearer ${secret}`, `x=${secret};`),
    fc.integer(),
    fc.constant(null),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('tree')), fc.dictionary(fc.string(), tie('tree'))),
  }));
  fc.assert(
    fc.property(tree, (value) => {
      expect(JSON.stringify(redact(value)) ?? '').not.toContain(secret);
    }),
    { numRuns: 500 },
  );
});

test('a megabyte of hostile text takes linear time', () => {
  const whole = createRedactor({ maxTextChars: 1_000_000 });
  const units = [
    '-eyJ',
    'eyJ.',
    '://a:',
    'a://a:b',
    'Bearer ',
    'Basic a',
    'token',
    'token=',
    'password: ',
    '-----BEGIN PRIVATE KEY-----',
  ];
  for (const unit of [...units, '-----BEGIN ', 'sk-', 'sk-a', 'cookie:', '?code=', '&', 'AKIA', 'SG.a', '"', '@']) {
    const text = unit.repeat(Math.floor(1_000_000 / unit.length));
    expect(whole.redactText(text).length).toBeLessThan(text.length * 4);
  }
});
