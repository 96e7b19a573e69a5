// The server's own files are no part of what it serves: data, settings, policy, tokens, audit log, credentials and
// compiled code lie below the root, and every way to them that a caller or a local user can think of leads nowhere.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isFullRun } from '../support/full.ts';
import { ensureProgram, reportMissing } from '../support/programs.ts';
import { type Answer, ServerProcess, useCommand } from '../support/server-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

useCommand();

const haveSandbox = ensureProgram('bwrap') && ensureProgram('prlimit');
const secret = 'OWN-SECRET';

let base = '';
const mounted: string[] = [];
beforeEach(() => {
  base = temporaryFolder();
  for (const name of ['settings/mooring', 'state/mooring', 'cache/mooring', 'logs', 'conf', 'docs']) {
    mkdirSync(join(base, name), { recursive: true });
  }
  writeFileSync(join(base, 'docs/public.txt'), 'public');
  writeFileSync(join(base, 'conf/mooring.json'), `{ "log": { "level": "error" } } // ${secret}`);
  writeFileSync(join(base, 'conf/mooring.json.bak'), secret);
  writeFileSync(join(base, 'conf/policy.yaml'), `# ${secret}\nversion: 1\nrules:\n${everythingAllowed}`);
  writeFileSync(join(base, 'conf/tokens.json'), `{ "tokens": [], "comment": "${secret}" }`);
  writeFileSync(join(base, 'settings/mooring/mooring.json'), `// ${secret}\n{}`);
  writeFileSync(join(base, 'cache/mooring/compiled'), secret);
  writeFileSync(join(base, 'state/mooring/credentials.json'), `{ "version": 1, "records": { "x": "${secret}" } }`);
});
afterEach(() => {
  for (const point of mounted.splice(0)) spawnSync('umount', [point]);
});

const everythingAllowed = '  - { effect: allow, tools: ["*"], resources: ["**"], prompts: ["*"] }\n';

const at = (name: string): string => join(base, name);
const uriOf = (name: string): string => `file://${at(name)}`;

/** Own files, by their plain names; those of the data folder appear with the first note. */
const own = [
  ...['data/mooring.db', 'data/mooring.db-wal', 'data/mooring.db-shm', 'conf/mooring.json', 'conf/mooring.json.bak'],
  ...['conf/policy.yaml', 'conf/tokens.json', 'logs/audit.jsonl', 'settings/mooring/mooring.json'],
  ...['state/mooring/credentials.json', 'cache/mooring/compiled'],
];

interface Options {
  readonly root?: string;
  readonly flags?: readonly string[];
  readonly node?: string;
}

async function start(profile: string, { root = base, flags = [], node }: Options = {}): Promise<ServerProcess> {
  const server = new ServerProcess(
    [
      ...['serve', profile, '--root', root, '--data', at('data'), '--config', at('conf/mooring.json')],
      ...['--policy', at('conf/policy.yaml'), '--token-file', at('conf/tokens.json')],
      ...['--audit', at('logs/audit.jsonl'), ...flags],
    ],
    { XDG_STATE_HOME: at('state'), XDG_CONFIG_HOME: at('settings'), XDG_CACHE_HOME: at('cache') },
    node,
  );
  await server.initialize();
  return server;
}

const text = (answer: Answer): string => answer.result.content[0].text;
const read = (server: ServerProcess, uri: string): Promise<Answer> => server.request('resources/read', { uri });

async function listed(server: ServerProcess): Promise<string[]> {
  const uris: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const { result } = await server.request('resources/list', cursor === undefined ? {} : { cursor });
    uris.push(...result.resources.map(({ uri }: { uri: string }) => uri));
    cursor = result.nextCursor;
    if (cursor === undefined) return uris.filter((uri) => uri.startsWith('file:')).map((uri) => uri.slice(7));
  }
}

/** Fills the data folder, also where the profile keeps no notes itself. */
async function fill(server: ServerProcess, profile: string): Promise<void> {
  const writer = profile === 'local' ? server : await start('local');
  expect(text(await writer.call('add_note', { content: secret }))).toBe('Note 1 added');
}

/** Both profiles serve files through the same code: by default each test but the first runs with one of them. */
const declareFor = (wanted: string, profile: string) => test.runIf(isFullRun || wanted === profile);

describe.each(['local', 'system'])('%s', (profile) => {
  test('own files below the root are not listed and not found, by any variant of their name', async () => {
    // The data folder does not exist yet when the tree is opened, and is looked at before it does.
    symlinkSync('data', at('linked'));
    symlinkSync('data/mooring.db', at('docs/linked.db'));
    symlinkSync(at('conf/policy.yaml'), at('docs/absolute.yaml'));
    symlinkSync('../conf', at('docs/conf'));
    const server = await start(profile);
    expect((await read(server, uriOf('data/mooring.db'))).error?.code).toBe(-32002);
    await fill(server, profile);
    linkSync(at('data/mooring.db'), at('docs/hard.db'));
    expect(readdirSync(at('data'))).toEqual(expect.arrayContaining(['mooring.db', 'mooring.db-wal', 'mooring.db-shm']));

    expect(await listed(server)).toEqual([at('docs/public.txt')]);
    const forms = [
      ...own,
      ...['linked/mooring.db', 'docs/linked.db', 'docs/absolute.yaml', 'docs/conf/policy.yaml', 'docs/hard.db'],
      ...['docs/../data/mooring.db', 'docs/%2e%2e/data/mooring.db', '%64ata/mooring%2edb', './data//mooring.db'],
      ...['DATA/MOORING.DB', 'data/mooring.db/', 'data/./mooring.db', 'data/mooring.db%00', 'data', 'linked'],
    ];
    for (const name of forms) {
      const { error, result } = await read(server, uriOf(name));
      expect(result, name).toBeUndefined();
      expect(error.code, name).toBe(-32002);
    }
    expect((await read(server, uriOf('docs/public.txt'))).result.contents[0].text).toBe('public');
    expect(server.lines.join('\n')).not.toContain(secret);
  });

  declareFor('local', profile)('nor are they through /proc when the root is the whole machine', async () => {
    const server = await start(profile, { root: '/' });
    await fill(server, profile);
    const ways = [
      ...['/proc/self/root', '/proc/self/cwd/../../../../../../..', '/proc/1/root', '//'].map((way) => `${way}${base}`),
      ...[`/proc/${process.pid}/root${base}`, `/dev/fd/../root${base}`],
    ].map((way) => `file://${way}/data/mooring.db`);
    for (let fd = 0; fd < 64; fd++) ways.push(`file:///proc/self/fd/${fd}`, `file:///dev/fd/${fd}`);
    for (const uri of ways) {
      const { result } = await read(server, uri);
      expect(JSON.stringify(result ?? ''), uri).not.toMatch(/SQLite format|OWN-SECRET|U1FMaXRlIGZvcm1hdCAz/);
    }
    for (const name of own) expect((await read(server, uriOf(name))).error?.code, name).toBe(-32002);
    expect((await read(server, uriOf('docs/public.txt'))).result.contents[0].text).toBe('public');
  });

  declareFor('local', profile)('their changes are not told', async () => {
    const server = await start(profile);
    await fill(server, profile);
    for (const name of [...own, 'docs/public.txt']) await server.request('resources/subscribe', { uri: uriOf(name) });
    const seen = server.lines.length;
    await fillAgain(server, profile);
    for (const name of own.filter((each) => !each.startsWith('data/'))) {
      writeFileSync(at(name), `${readFileSync(at(name), 'utf8')}\n`);
    }
    writeFileSync(at('data/another'), 'x');
    writeFileSync(at('docs/public.txt'), 'changed');
    await server.until(() => server.lines.slice(seen).find((line) => line.includes('public.txt')));
    const updates = server.lines.filter((line) => line.includes('resources/updated')).join('\n');
    expect(updates).toContain('docs/public.txt');
    for (const name of own) expect(updates).not.toContain(at(name));
    expect(await listed(server)).toEqual([at('docs/public.txt')]);
  });

  declareFor('system', profile)(
    'a root that is an own file, or lies in an own folder, is rejected with the reason',
    async () => {
      mkdirSync(at('data/plugins/one'), { recursive: true });
      symlinkSync(at('data'), at('elsewhere'));
      for (const root of [
        'data',
        'data/plugins/one',
        'elsewhere',
        'conf/mooring.json',
        'state/mooring/credentials.json',
      ]) {
        const server = new ServerProcess(
          ['serve', profile, '--root', at(root), '--data', at('data'), '--config', at('conf/mooring.json')],
          { XDG_STATE_HOME: at('state') },
        );
        expect(await server.exited, root).not.toBe(0);
        expect(server.stderr).toContain(`Cannot use root ${at(root)}: it belongs to this server`);
      }
    },
  );

  declareFor('system', profile)(
    'bind mounts of the data folder, of its files and of what is around it show nothing of it',
    async () => {
      await fill(await start('local'), 'local');
      for (const name of ['m-data', 'm-base']) mkdirSync(at(name));
      writeFileSync(at('m-file'), '');
      const binds = [
        ['data', 'm-data'],
        ['data/mooring.db', 'm-file'],
        ['conf', 'm-base'],
      ] as const;
      for (const [from, to] of binds) {
        if (spawnSync('mount', ['--bind', at(from), at(to)]).status !== 0) {
          reportMissing('bind mounts of own files: mounting needs root');
          return;
        }
        mounted.push(at(to));
      }
      const server = await start(profile);
      for (const name of ['m-data/mooring.db', 'm-file', 'm-base/policy.yaml', 'm-base/mooring.json.bak']) {
        expect((await read(server, uriOf(name))).error?.code, name).toBe(-32002);
      }
      expect(await listed(server)).toEqual([at('docs/public.txt')]);
      expect(server.lines.join('\n')).not.toContain(secret);
    },
  );
});

async function fillAgain(server: ServerProcess, profile: string): Promise<void> {
  const writer = profile === 'local' ? server : await start('local');
  await writer.call('add_note', { content: secret });
}

describe.skipIf(!haveSandbox)('in the sandbox', () => {
  beforeEach(() => {
    // Programs run as another user where the tests run as root: the sandbox alone must hide what everybody may read.
    mkdirSync(at('data'));
    for (const name of ['', 'data', 'conf', 'logs', 'docs', 'state', 'state/mooring']) chmodSync(at(name), 0o755);
    writeFileSync(at('data/mooring.copy.db'), secret, { mode: 0o644 });
  });

  test('commands do not see own files, and see the rest', async () => {
    const server = await start('system');
    const command = async (program: string, ...args: string[]) => {
      const answer = await server.call('execute_command', { command: program, args });
      return { failed: answer.result.isError === true, text: text(answer) };
    };
    expect(await command('cat', at('docs/public.txt'))).toEqual({ failed: false, text: 'public' });
    for (const name of [...own.filter((each) => !each.startsWith('data')), 'data/mooring.copy.db']) {
      const { failed, text: said } = await command('cat', at(name));
      expect(failed, name).toBe(true);
      expect(said).not.toContain(secret);
    }
    expect(await command('ls', '-A', at('data'))).toEqual({ failed: false, text: '' });
    expect((await command('ls', '-A', at('docs'))).text).toBe('public.txt\n');
  });

  test('nor do they through a bind mount', async () => {
    mkdirSync(at('docs/mount'));
    if (spawnSync('mount', ['--bind', at('data'), at('docs/mount')]).status !== 0) {
      reportMissing('bind mounts of own files: mounting needs root');
      return;
    }
    mounted.push(at('docs/mount'));
    const server = await start('system');
    const answer = await server.call('execute_command', { command: 'ls', args: ['-A', at('docs/mount')] });
    expect(text(answer)).toBe('');
  });

  test('a data folder that does not exist yet is hidden once it does', async () => {
    rmSync(at('data'), { recursive: true });
    const server = await start('local', { flags: ['--enable', 'commands', '--allow-command', 'sh'] });
    const running = server.call('execute_command', {
      command: 'sh',
      args: ['-c', `until [ -e ${at('docs/go')} ]; do sleep 0.02; done; ls -A ${at('data')}`],
    });
    expect(text(await server.call('add_note', { content: secret }))).toBe('Note 1 added');
    writeFileSync(at('docs/go'), '');
    expect(text(await running)).toBe('');
  });

  test('workers that may write below the root cannot change own files', async () => {
    // Owned by an ordinary user where the tests are root, so that its worker may remove and replace what is in them.
    if (process.getuid?.() === 0)
      for (const name of ['', 'conf', 'docs', 'state/mooring']) chownSync(at(name), 4321, 4321);
    const names = ['conf/mooring.json', 'conf/policy.yaml', 'conf/tokens.json', 'state/mooring/credentials.json'];
    const before = names.map((name) => readFileSync(at(name), 'utf8'));
    const server = await start('local', { flags: ['--enable', 'workers', '--allow-command', 'sh'] });
    const script = [
      `cd ${base}`,
      `for f in ${names.join(' ')} data/mooring.copy.db data/new; do rm -f $f; echo changed > $f; done`,
      'cat conf/* data/* > docs/seen; echo done > docs/done',
    ].join('; ');
    const started = await server.call('start_worker', { program: 'sh', args: ['-c', script] });
    expect(started.result.isError, JSON.stringify(started)).toBeUndefined();
    await expect.poll(() => existsSync(at('docs/done'))).toBe(true);
    expect(names.map((name) => readFileSync(at(name), 'utf8'))).toEqual(before);
    expect(readFileSync(at('data/mooring.copy.db'), 'utf8')).toBe(secret);
    expect(existsSync(at('data/new'))).toBe(false);
    expect(readFileSync(at('docs/seen'), 'utf8')).not.toContain(secret);
  });
});

/** Further Node programs to try, separated by colons: their SQLite drivers differ in how they hold locks. */
const nodes = [process.execPath, ...(process.env['MOORING_OTHER_NODES']?.split(':') ?? [])];

test.each(nodes)('no acknowledged note is lost after reads of the database files and kill -9 (%s)', async (node) => {
  const notes = 5;
  const server = await start('local', { node });
  for (let n = 0; n < notes; n++) await server.call('add_note', { content: `before ${n}` });
  for (const name of ['mooring.db', 'mooring.db-wal', 'mooring.db-shm']) await read(server, uriOf(`data/${name}`));
  // Another process that comes and goes takes the write-ahead log with it unless it sees the locks of the first.
  const other = await start('local', { node });
  await other.call('get_notes');
  other.process.stdin?.end();
  await other.exited;
  for (let n = 0; n < notes; n++) {
    expect(text(await server.call('add_note', { content: `after ${n}` }))).toMatch(/^Note \d+ added$/);
  }
  await server.kill();
  const again = await start('local', { node });
  expect(JSON.parse(text(await again.call('get_notes')))).toMatchObject({ total: 2 * notes });
});
