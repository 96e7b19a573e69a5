// A policy as clients see it: what it hides does not exist, what it rejects says why, and no request gets around it.

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createServer, type Server } from '../../src/engine/server.ts';
import type { Peer, Principal } from '../../src/protocol/exchange.ts';
import {
  applyPolicy,
  compilePolicy,
  explainCall,
  formatExplanation,
  loadPolicy,
  type Policy,
  PolicyError,
  policySchema,
} from '../../src/security/policy/index.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { TestClient } from '../support/test-client.ts';

const peer = (principal?: Principal): Peer =>
  principal === undefined ? { transport: 'memory' } : { transport: 'memory', principal };
const alice = { id: 'alice', issuer: 'https://id.example', scopes: ['notes:read'] };
const guest = { id: 'guest-7', issuer: 'https://id.example' };
const impostor = { id: 'alice', issuer: 'https://evil.example' };

function served(policy: Omit<Policy, 'version'>, profile?: string): Server {
  const server = createServer({ name: 'policed', version: '1.0.0' });
  const input = { type: 'object' } as const;
  for (const name of ['echo', 'search_web', 'execute_command']) {
    server.tool(name, { input, run: (args) => `${name} ${JSON.stringify(args)}` });
  }
  server.resource('note://public/1', { name: 'one', read: () => 'public' });
  server.resource('note://secret/1', { name: 'two', read: () => 'secret' });
  server.resourceTemplate('file:///{+path}', {
    name: 'files',
    read: ({ path }) => `file ${path}`,
    list: () => ['srv/a', 'etc/passwd'].map((path) => ({ uri: `file:///${path}`, name: path })),
    complete: { path: () => ['etc/passwd'] },
  });
  server.prompt('greet', { get: () => 'hello' });
  server.prompt('admin', { args: { who: { complete: () => ['root'] } }, get: () => 'admin' });
  applyPolicy(server, compilePolicy({ version: 1, ...policy }, profile === undefined ? {} : { profile }));
  return server;
}

const namesOf = async (client: TestClient, method: string, key: string): Promise<string[]> =>
  (await client.request(method)).result[key].map(
    (each: { name?: string; uri?: string; uriTemplate?: string }) => each.uri ?? each.uriTemplate ?? each.name,
  );

describe('what a policy hides', () => {
  const rules: Policy['rules'] = [
    { effect: 'deny', tools: ['execute_*'], principals: ['guest-*'], name: 'no commands for guests' },
    { effect: 'allow', tools: ['**'], prompts: ['greet'], issuers: ['https://id.example'] },
    { effect: 'allow', resources: ['note://public/**', 'file:///srv/**'] },
  ];

  test('tools that are denied are in no list and look like tools that do not exist', async () => {
    const server = served({ rules });
    const [one, two] = [
      await TestClient.open(server, undefined, {}, peer(alice)),
      await TestClient.open(server, undefined, {}, peer(guest)),
    ];
    expect(await namesOf(one, 'tools/list', 'tools')).toEqual(['echo', 'search_web', 'execute_command']);
    expect(await namesOf(two, 'tools/list', 'tools')).toEqual(['echo', 'search_web']);
    expect((await one.call('execute_command', {})).result.isError).toBeUndefined();
    const denied = await two.call('execute_command', {});
    const missing = await two.call('no_such_command', {});
    expect(denied.error?.code).toBe(missing.error?.code);
    expect(denied.error?.message).toBe(missing.error?.message.replace('no_such', 'execute'));
  });

  test('what no rule allows is denied', async () => {
    const client = await TestClient.open(served({ rules }));
    expect(await namesOf(client, 'tools/list', 'tools')).toEqual([]);
    expect(await namesOf(client, 'prompts/list', 'prompts')).toEqual([]);
    expect((await client.request('prompts/get', { name: 'greet' })).error).toBeDefined();
  });

  test('a name is not enough where another issuer has a user of that name', async () => {
    const client = await TestClient.open(served({ rules }), undefined, {}, peer(impostor));
    expect(await namesOf(client, 'tools/list', 'tools')).toEqual([]);
  });

  test('prompts that are denied can neither be got nor completed', async () => {
    const client = await TestClient.open(served({ rules }), undefined, {}, peer(alice));
    expect(await namesOf(client, 'prompts/list', 'prompts')).toEqual(['greet']);
    expect((await client.request('prompts/get', { name: 'admin' })).error?.message).toContain('Unknown prompt');
    const ref = { type: 'ref/prompt', name: 'admin' };
    expect(
      (await client.request('completion/complete', { ref, argument: { name: 'who', value: '' } })).error,
    ).toBeDefined();
  });

  test('S4-48: resources that are denied are in no list and cannot be read, by any variant of their name', async () => {
    const client = await TestClient.open(served({ rules }));
    expect(await namesOf(client, 'resources/list', 'resources')).toEqual(['note://public/1', 'file:///srv/a']);
    expect((await client.request('resources/read', { uri: 'note://public/1' })).result.contents[0].text).toBe('public');
    expect((await client.request('resources/read', { uri: 'file:///srv/x' })).result.contents[0].text).toBe(
      'file srv/x',
    );
    for (const uri of [
      'note://secret/1',
      'file:///etc/passwd',
      'file:///srv/../etc/passwd',
      'file:///srv/%2e%2e/etc/passwd',
      'file:///srv/..%2fetc/passwd',
      'file:///srv/%252e%252e/etc/passwd',
      'file:///srv/..\\etc\\passwd',
      'FILE:///etc/passwd',
    ]) {
      const { error } = await client.request('resources/read', { uri });
      expect(error?.message, uri).toContain('Resource not found');
    }
  });

  test('callers are not notified of changes to what they may not read', async () => {
    const server = served({ rules });
    const client = await TestClient.open(server);
    for (const uri of ['note://public', 'note://secret/1', 'note://secret', 'note://public/1']) {
      await client.request('resources/subscribe', { uri });
    }
    const listener = new TestClient(server);
    listener.send({
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: {
        notifications: { resourceSubscriptions: ['note://secret/1', 'note://public/1'] },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    });
    server.resourceUpdated('note://secret/1');
    server.resourceUpdated('note://public/1');
    for (const each of [client, listener]) {
      await each.next(({ method }) => method === 'notifications/resources/updated');
      const told = each.received.filter(({ method }) => method === 'notifications/resources/updated');
      expect(told.map(({ params }) => params.uri)).toEqual(['note://public/1']);
    }
  });

  test('a change that concerns one caller is announced to no other', async () => {
    const server = served({});
    const [one, two] = [
      await TestClient.open(server, undefined, {}, peer(alice)),
      await TestClient.open(server, undefined, {}, peer(guest)),
    ];
    for (const each of [one, two]) await each.request('resources/subscribe', { uri: 'note://public/1' });
    server.resourceUpdated('note://public/1', (principal) => principal?.id === 'alice');
    await one.next(({ method }) => method === 'notifications/resources/updated');
    expect(two.received.filter(({ method }) => method === 'notifications/resources/updated')).toEqual([]);
  });

  test('lists that differ between callers are never marked as good for all', async () => {
    const server = createServer({ name: 's', version: '1', cache: { ttlMs: 60_000, cacheScope: 'public' } });
    server.tool('echo', { run: () => 'x' });
    applyPolicy(server, compilePolicy({ version: 1, rules: [{ effect: 'allow', tools: ['echo'] }] }));
    const { result } = await new TestClient(server).stateless('tools/list');
    expect(result.cacheScope).toBe('private');
  });

  test('rules may hold for some profiles only', async () => {
    const only: Policy['rules'] = [{ effect: 'allow', tools: ['echo'], profiles: ['lab*'] }];
    const [lab, shop] = [
      await TestClient.open(served({ rules: only }, 'lab')),
      await TestClient.open(served({ rules: only }, 'shop')),
    ];
    expect(await namesOf(lab, 'tools/list', 'tools')).toEqual(['echo']);
    expect(await namesOf(shop, 'tools/list', 'tools')).toEqual([]);
  });

  test('a new policy replaces the old one, and clients are notified that lists have changed', async () => {
    const server = createServer({ name: 's', version: '1' });
    server.tool('a', { run: () => 'a' });
    server.tool('b', { run: () => 'b' });
    const policy = (tool: string) => compilePolicy({ version: 1, rules: [{ effect: 'allow', tools: [tool] }] });
    const applied = applyPolicy(server, policy('a'));
    const client = await TestClient.open(server);
    expect(await namesOf(client, 'tools/list', 'tools')).toEqual(['a']);
    applied.replace(policy('b'));
    await client.next(({ method }) => method === 'notifications/tools/list_changed');
    expect(await namesOf(client, 'tools/list', 'tools')).toEqual(['b']);
    expect((await client.call('a')).error).toBeDefined();
  });
});

describe('what a policy says of arguments', () => {
  const client = (rules: Policy['arguments'], principal?: Principal) =>
    TestClient.open(served({ arguments: rules }), undefined, {}, peer(principal));

  test('S4-47: an argument that is denied gives an error result, and the tool does not run', async () => {
    const connection = await client([
      {
        tools: ['execute_command'],
        argument: 'command',
        allow: ['ls', 'git'],
        reason: 'is not on the list of commands',
      },
    ]);
    const { result } = await connection.call('execute_command', { command: 'rm' });
    expect(result).toEqual({
      content: [
        {
          type: 'text',
          text: 'Denied by policy: argument "command" of execute_command is not on the list of commands',
        },
      ],
      isError: true,
    });
    expect((await connection.call('execute_command', { command: 'ls' })).result.content[0].text).toContain('"ls"');
  });

  test('schemas, lengths, and texts however deep are checked', async () => {
    const connection = await client([
      { tools: ['search_web'], argument: 'count', schema: { type: 'integer', maximum: 10 } },
      { tools: ['search_web'], argument: 'query', maxLength: 5 },
      { tools: ['*'], argument: '*', deny: ['**secret**'], ignoreCase: true },
      { tools: ['search_web'], argument: '/options/site', deny: ['*.internal'] },
    ]);
    const rejected = async (args: object) => (await connection.call('search_web', args)).result.isError === true;
    expect(await rejected({ count: 3, query: 'cats', options: { site: 'example.org' } })).toBe(false);
    expect(await rejected({ count: 30 })).toBe(true);
    expect(await rejected({ query: 'long query' })).toBe(true);
    expect(await rejected({ options: { deep: [{ x: ['my SECRET plan'] }] } })).toBe(true);
    expect(await rejected({ options: { site: 'db.internal' } })).toBe(true);
  });

  test('a text is denied at any depth that a message may have', async () => {
    const connection = await client([{ tools: ['*'], argument: '*', deny: ['**secret**'] }]);
    let nested: unknown = 'a secret';
    for (let depth = 0; depth < 240; depth++) nested = [nested];
    const { result } = await connection.request('tools/call', { name: 'echo', arguments: { nested } });
    expect(result.content[0].text).toContain('Denied by policy');
  });

  test('long arguments are checked in slices: other callers are answered first, and a cancelled call does not run', async () => {
    const deny = Array.from({ length: 40 }, (_, index) => `**secret?${index}*`);
    const server = served({ arguments: [{ tools: ['**'], argument: '*', deny }] });
    let runs = 0;
    server.tool('count', { input: { type: 'object' }, run: () => `run ${++runs}` });
    const [slow, quick] = await Promise.all([
      TestClient.open(server, undefined, {}, peer(alice)),
      TestClient.open(server, undefined, {}, peer(guest)),
    ]);
    const long = { name: 'count', arguments: { text: 'secret'.repeat(40_000) } };
    const answered: string[] = [];
    const first = slow.request('tools/call', long).then(() => answered.push('long'));
    const second = quick.request('tools/call', { name: 'echo', arguments: {} }).then(() => answered.push('short'));
    await Promise.all([first, second]);
    expect(answered).toEqual(['short', 'long']);
    slow.send({ jsonrpc: '2.0', id: 'cancelled', method: 'tools/call', params: long });
    slow.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'cancelled' } });
    // Calls of one caller are checked one after the other.
    const { result } = await slow.request('tools/call', long);
    expect(result.content[0].text).toBe('run 2');
  });

  test('rules may hold for some callers only', async () => {
    const rules: Policy['arguments'] = [
      { tools: ['echo'], argument: 'n', schema: { maximum: 1 }, principals: ['guest-*'] },
    ];
    const [one, two] = [await client(rules, alice), await client(rules, guest)];
    expect((await one.call('echo', { n: 5 })).result.isError).toBeUndefined();
    expect((await two.call('echo', { n: 5 })).result.isError).toBe(true);
  });

  test('prototype names are names like any other', async () => {
    const connection = await client([{ tools: ['echo'], argument: '__proto__', schema: { type: 'integer' } }]);
    connection.channel.receiveText(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"__proto__":{"x":1}}}}',
    );
    expect((await connection.next(({ id }) => id === 1)).result.isError).toBe(true);
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect((await connection.call(name, {})).error?.message).toContain('Unknown tool');
    }
  });
});

test('limits of a policy are in force', async () => {
  const server = served({
    limits: {
      rate: [{ per: 'principal', tools: ['search_*'], requests: 1, window: '1h' }],
      calls: [{ tools: ['echo'], maxResult: '1KiB' }],
    },
  });
  const client = await TestClient.open(server, undefined, {}, peer(alice));
  await client.call('search_web', {});
  expect((await client.call('search_web', {})).error?.message).toBe('Rate limit exceeded');
  expect((await client.call('echo', { text: 'x'.repeat(2000) })).result.content[0].text).toContain(
    'exceeds 1024 bytes',
  );
});

test('a call without the scopes it needs is rejected with all of them, and passes with a token that has them', async () => {
  const server = served({
    scopes: [
      { tools: ['execute_*'], scopes: ['exec', 'audit'] },
      { resources: ['note://secret/**'], scopes: ['notes:secret'] },
    ],
  });
  const weak = await TestClient.open(server, undefined, {}, peer(alice));
  const rejected = await weak.call('execute_command', {});
  expect(rejected.error).toMatchObject({ code: -32000, data: { requiredScopes: ['exec', 'audit'] } });
  for (const uri of ['note://secret/1', 'note://public/../secret/1', 'note://%73ecret/1']) {
    expect((await weak.request('resources/read', { uri })).error, uri).toBeDefined();
  }
  const strong = await TestClient.open(server, undefined, {}, peer({ ...alice, scopes: ['exec', 'audit'] }));
  expect((await strong.call('execute_command', {})).result).toBeDefined();
  expect((await weak.stateless('tools/call', { name: 'execute_command' })).error?.code).toBe(403);
});

test('a check of the policy shows what a call would get, by which rule, and the server does the same', async () => {
  const source: Omit<Policy, 'version'> = {
    rules: [
      { effect: 'deny', tools: ['execute_*'], principals: ['guest-*'], reason: 'guests run nothing' },
      { effect: 'allow', tools: ['*'] },
    ],
    scopes: [{ tools: ['search_web'], scopes: ['web'] }],
    arguments: [{ name: 'short', tools: ['echo'], argument: 'text', maxLength: 3 }],
    limits: { rate: [{ per: 'principal', requests: 10, window: '1m' }], calls: [{ timeout: '5s' }] },
  };
  const policy = compilePolicy({ version: 1, ...source });
  const questions = [
    { principal: guest, tool: 'execute_command', args: {} },
    { principal: alice, tool: 'execute_command', args: {} },
    { principal: alice, tool: 'search_web', args: {} },
    { principal: alice, tool: 'echo', args: { text: 'long' } },
    { principal: alice, resource: 'note://public/1' },
    { tool: 'echo', args: { text: 'ok' } },
  ];
  const explained = questions.map((question) => explainCall(policy, question));
  expect(explained.map(({ decision }) => decision)).toEqual(['deny', 'allow', 'step-up', 'deny', 'deny', 'allow']);
  expect(explained[0]?.reasons).toEqual([
    { step: 'access', rule: 'rules[0]', effect: 'deny', why: 'guests run nothing' },
  ]);
  expect(explained[3]?.reasons[1]).toMatchObject({ rule: 'arguments[0] "short"', effect: 'deny' });
  expect(formatExplanation(explained[5] as never)).toContain(
    'limits.rate[0]: 10 in 60000 ms per principal, 10 at once',
  );
  for (const [index, { principal, tool, resource, args }] of questions.entries()) {
    const client = await TestClient.open(served(source), undefined, {}, peer(principal));
    const answer =
      tool === undefined ? await client.request('resources/read', { uri: resource }) : await client.call(tool, args);
    const passed = answer.error === undefined && answer.result.isError !== true;
    expect(passed, JSON.stringify(questions[index])).toBe(explained[index]?.decision === 'allow');
  }
});

describe('a policy file', () => {
  let directory = '';
  beforeAll(() => {
    directory = temporaryFolder();
  });

  const write = (text: string, name = 'policy.yaml'): string => {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };

  test('is read from YAML and JSON alike', async () => {
    const yaml = write(
      'version: 1\nrules:\n  - effect: allow\n    tools: [echo]\nlimits:\n  calls:\n    - timeout: 30s\n',
    );
    const json = write(
      '{"version":1,"rules":[{"effect":"allow","tools":["echo"]}],"limits":{"calls":[{"timeout":"30s"}]}}',
      'policy.json',
    );
    for (const path of [yaml, json]) {
      const policy = await loadPolicy(path);
      expect(policy.calls).toEqual([{ timeoutMs: 30_000 }]);
      expect(policy.access.decide('tools', 'echo', undefined).allowed).toBe(true);
      expect(policy.access.decide('tools', 'other', undefined)).toMatchObject({ allowed: false, rule: 'default' });
    }
  });

  test('gives files, commands and network in the shape their guards take', async () => {
    const policy = compilePolicy({
      version: 1,
      files: { read: ['/srv/docs'], write: ['/srv/work'], maxFile: '2MiB' },
      commands: { programs: ['ls', { name: 'git', options: ['--oneline'] }], timeout: '5s', maxOutput: '64KiB' },
      network: { allow: ['127.0.0.1:8888'], deny: ['*.internal'] },
    });
    expect(policy.files).toEqual({
      read: ['/srv/docs', '/srv/work'],
      write: ['/srv/work'],
      maxFileBytes: 2 * 1024 * 1024,
    });
    expect(policy.sandbox).toMatchObject({ limits: { timeoutMs: 5_000, maxOutputBytes: 65_536 } });
    expect(policy.network).toEqual({ allow: ['127.0.0.1:8888'], deny: ['*.internal'] });
  });

  test.each([
    ['a misspelled word', 'version: 1\nrule: []'],
    ['a misspelled word in a rule', 'version: 1\nrules: [{effect: allow, tool: [x]}]'],
    ['no version', 'rules: []'],
    ['another version', 'version: 2'],
    ['an unknown effect', 'version: 1\nrules: [{effect: maybe}]'],
    ['a key twice', 'version: 1\nversion: 1'],
    ['an alias', 'version: 1\nrules: [&a {effect: allow}, *a]'],
    ['a tag', 'version: 1\nrules: [!!js/function {effect: allow}]'],
    [
      'a pattern that could be slow',
      'version: 1\narguments: [{tools: [x], argument: a, schema: {pattern: "^(a+)+$"}}]',
    ],
    ['a network that cannot be read', 'version: 1\nnetwork: {allow: ["not a host!"]}'],
    ['a duration without unit', 'version: 1\nlimits: {calls: [{timeout: "30"}]}'],
    ['an empty glob', 'version: 1\nrules: [{effect: allow, tools: [""]}]'],
    ['a prototype name', 'version: 1\n__proto__: {x: 1}'],
    ['no policy at all', '- just\n- a list'],
    ['broken text', 'version: [1'],
  ])('with %s is rejected', async (_what, text) => {
    await expect(loadPolicy(write(text))).rejects.toThrow(PolicyError);
  });

  test('with values that are nested too deeply says so', async () => {
    const deep = write(`version: 1\nrules: ${'['.repeat(20_000)}${']'.repeat(20_000)}`);
    await expect(loadPolicy(deep)).rejects.toThrow(`${deep} cannot be parsed: its values are nested too deeply`);
  });

  test.each(['marked.json', 'marked.yaml'])('that begins with a byte order mark is read: %s', async (name) => {
    await expect(loadPolicy(write('\ufeff{ "version": 1, "rules": [] }', name))).resolves.toBeDefined();
  });

  test('that others may write to is rejected', async () => {
    const path = write('version: 1', 'loose.yaml');
    chmodSync(path, 0o666);
    await expect(loadPolicy(path)).rejects.toThrow('chmod go-w');
  });

  test('that tools may write to is rejected, also by another name', async () => {
    const inside = write(`version: 1\nfiles: {write: ["${directory}"]}`);
    await expect(loadPolicy(inside)).rejects.toThrow('where tools may write');
    mkdirSync(join(directory, 'elsewhere'), { recursive: true });
    symlinkSync(directory, join(directory, 'elsewhere', 'link'));
    const linked = write(`version: 1\ncommands: {programs: [ls], writable: ["${directory}/elsewhere/link"]}`);
    await expect(loadPolicy(linked)).rejects.toThrow('where tools may write');
    const guarded = write(`version: 1\nfiles: {write: ["${directory}/elsewhere"]}`);
    await expect(loadPolicy(guarded, { guarded: [join(directory, 'elsewhere/audit')] })).rejects.toThrow(
      'where tools may write',
    );
    await expect(loadPolicy(guarded)).resolves.toBeDefined();
  });

  test('has a schema that says the same as the types', () => {
    expect(policySchema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(policySchema.additionalProperties).toBe(false);
  });
});
