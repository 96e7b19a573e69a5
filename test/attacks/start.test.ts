// Starts that go wrong: they end at once, with a sentence and the exit code of a usage error, and they leave stdout alone.

import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { isFullRun } from '../support/full.ts';
import { profileNames } from '../support/profile-names.ts';
import { cli, useHome } from '../support/program.ts';

const home = useHome();
const transports: [string, readonly string[]][] = [
  ['stdio', []],
  ['HTTP', ['--http', '--port', '0']],
];

/** Folders that cannot be made. On Linux, Node 20 tries the first two forever when asked to make all parents. */
const impossible = process.platform === 'linux' ? ['/proc/nope', '/proc/nope/deeper', '/proc/self/status/x'] : [];

/** The start is the same for all profiles: everything with one of them; by default with the others one transport and one case each. */
const isThorough = (profile: string): boolean => isFullRun || profile === 'local';
const someOf = <T>(profile: string, at: number, all: readonly T[]): readonly T[] =>
  isThorough(profile) || all.length === 0 ? all : [all[at % all.length] as T];

describe.each(profileNames.map((profile, at) => [profile, at] as const))('%s', (profile, at) => {
  test.each(someOf(profile, at, transports))(
    'a data folder or an audit log that cannot be made ends the start (%s)',
    async (_name, http) => {
      const attempts = someOf(profile, at, impossible).map(async (folder) => {
        const [data, audit] = await Promise.all([
          home.run(['serve', profile, ...http, '--data', folder]),
          home.run(['serve', profile, ...http, '--audit', `${folder}/audit.jsonl`]),
        ]);
        expect(data).toMatchObject({ code: 2, stdout: '' });
        expect(data.stderr).toContain(`--data: ${folder} cannot be created`);
        expect(audit).toMatchObject({ code: 2, stdout: '' });
        expect(audit.stderr).toContain(`${folder}/audit.jsonl`);
      });
      await Promise.all(attempts);
    },
  );

  test.each(someOf(profile, at + 1, transports))(
    'a root that does not exist ends the start (%s)',
    async (_name, http) => {
      mkdirSync(home.file('there'));
      const roots = [
        ['--root', '/nope'],
        ['--root', home.file('there'), '--root', 'nope'],
        ['--', '/nope'],
      ];
      const attempts = someOf(profile, at, roots).map(async (args) => {
        const { code, stderr, stdout } = await home.run(['serve', profile, ...http, ...args]);
        expect([code, stdout]).toEqual([2, '']);
        expect(stderr).toMatch(/^mooring: --root: .*nope does not exist/);
      });
      await Promise.all(attempts);
    },
  );
});

test('roots of the configuration file are checked as well, and named by their line', async () => {
  writeFileSync(home.file('mooring.json'), '{\n  "roots": ["./nope"]\n}', { mode: 0o600 });
  const { code, stderr } = await home.run(['serve', '--config', 'mooring.json']);
  expect(code).toBe(2);
  expect(stderr).toContain(`mooring.json:2: ${home.file('nope')} does not exist`);
});

test.runIf(process.platform === 'linux')('a token file in a folder that cannot be made ends at once', async () => {
  const { code, stderr } = await home.run(['token', 'add', 'ada', '--file', '/proc/nope/tokens.json']);
  expect(code).toBe(2);
  expect(stderr).toContain('/proc/nope/tokens.json cannot be written: there is no such folder');
});

describe('a plugin that prints', () => {
  /** Every way to print that goes through the stream, at every moment of loading; the last one without an end of line. */
  const code = `
console.log('at the top');
process.stdout.write('{"jsonrpc":"2.0","id":1,"result":{}}\\n');
const kept = process.stdout.write.bind(process.stdout);
setTimeout(() => console.log('later'), 0);
await Promise.resolve().then(() => console.log('in a microtask'));
export const pack = () => {
  console.log('in the factory');
  console.info('%s', 'info');
  return {
    name: 'loud',
    install(server) {
      console.log('while installing');
      console.table?.([{ a: 1 }]);
      kept('kept\\n');
      process.stdout.write('without an end');
      server.tool('loud', { description: 'Prints', run: () => { console.log('in a call'); kept('kept in a call\\n'); return 'done'; } });
    },
  };
};
`;

  function writePlugin(): void {
    mkdirSync(home.file('loud'));
    writeFileSync(
      home.file('loud/mooring-plugin.json'),
      JSON.stringify({ name: 'loud', version: '1.0.0', main: 'index.mjs' }),
    );
    writeFileSync(home.file('loud/index.mjs'), code);
    writeFileSync(home.file('mooring.json'), JSON.stringify({ plugins: [{ source: './loud' }] }), { mode: 0o600 });
  }

  /** Plugins are loaded in the same place for all profiles. */
  const loading = isFullRun ? profileNames : ['local', 'clipboard', 'system'];
  test.each(loading)('while it loads never writes to the stdout of %s', async (profile) => {
    writePlugin();
    const ping =
      '{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}\n';
    const args = ['serve', profile, '--config', 'mooring.json', '--data', home.file('data')];
    const { code: exit, stdout, stderr } = await home.run(args, { input: ping });
    expect(exit).toBe(0);
    const lines = stdout.trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] as string)).toMatchObject({ id: 7, result: { protocolVersion: expect.any(String) } });
    for (const said of [
      'at the top',
      'in a microtask',
      'in the factory',
      'while installing',
      'kept',
      'without an end',
    ]) {
      expect(stderr).toContain(said);
    }
  });

  test('works for a client, before and during its calls', async () => {
    writePlugin();
    const args = [process.execPath, cli, 'serve', 'local', '--config', home.file('mooring.json')];
    const client = await connect([...args, '--data', home.file('data')], { env: home.env });
    expect((await client.callTool('loud', {})).content).toEqual([{ type: 'text', text: 'done' }]);
    await client.close();
  });

  test('prints nothing to stdout over HTTP either', async () => {
    writePlugin();
    const { child } = await home.serve(['local', '--config', 'mooring.json', '--data', home.file('data')]);
    let stdout = '';
    child.stdout?.on('data', (chunk) => {
      stdout += chunk;
    });
    child.kill('SIGTERM');
    await new Promise((done) => child.once('close', done));
    expect(stdout).toBe('');
  });
});

describe('health_check', () => {
  interface Part {
    readonly name: string;
    readonly status: string;
    readonly detail?: string;
  }

  /** What a caller is shown. */
  async function check(profile: string, ...args: string[]): Promise<{ text: string; parts: Part[] }> {
    const client = await connect([process.execPath, cli, 'serve', profile, ...args], {
      env: home.env,
      cwd: home.folder,
    });
    try {
      const { content } = await client.callTool('health_check', {});
      const { text } = content[0] as { text: string };
      return { text, parts: (JSON.parse(text) as { parts: Part[] }).parts };
    } finally {
      await client.close();
    }
  }

  const partOf = (parts: readonly Part[], name: RegExp): Part | undefined => parts.find((part) => name.test(part.name));

  test.each(['local', 'orchestrator', 'empirical'])(
    'of %s shows no absolute path where all is well',
    async (profile) => {
      const { text } = await check(profile, '--data', home.file('data'));
      expect(text).not.toContain(home.path);
    },
  );

  test('of local shows none when the data folder is broken', async () => {
    mkdirSync(home.file('data folder/mooring.db'), { recursive: true });
    const { text, parts } = await check('local', '--data', home.file('data folder'));
    expect(partOf(parts, /^data$/)).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('cannot be opened'),
    });
    expect(text).not.toContain(home.path);
    expect(text).not.toContain('data folder/');
  });

  test.each(['local', 'orchestrator', 'empirical'])('of %s shows none when plugins fail', async (profile) => {
    for (const name of ['no manifest', 'bad code', 'bad health']) mkdirSync(home.file(name));
    const manifest = (name: string): string => JSON.stringify({ name, version: '1.0.0', main: 'index.mjs' });
    writeFileSync(home.file('bad code/mooring-plugin.json'), manifest('bad-code'));
    writeFileSync(home.file('bad code/index.mjs'), `import '${home.file('bad code/missing.mjs')}';`);
    writeFileSync(home.file('bad health/mooring-plugin.json'), manifest('bad-health'));
    const health = `() => ({ status: 'degraded', detail: 'cannot read ${home.file('bad health')}/cache' })`;
    writeFileSync(
      home.file('bad health/index.mjs'),
      `export const pack = () => ({ name: 'x', install() {}, health: ${health} });`,
    );
    const plugins = ['missing', 'no manifest', 'bad code', 'bad health'].map((name) => ({ source: `./${name}` }));
    writeFileSync(home.file('mooring.json'), JSON.stringify({ plugins }), { mode: 0o600 });
    const { text, parts } = await check(profile, '--config', 'mooring.json', '--data', home.file('data'));
    expect(parts.filter(({ name }) => name.startsWith('plugin '))).toHaveLength(4);
    expect(partOf(parts, /missing/)?.status).toBe('failed');
    expect(partOf(parts, /bad-health/)).toMatchObject({ status: 'degraded', detail: expect.stringContaining('cache') });
    expect(text).not.toContain(home.path);
    expect(text).not.toMatch(/(^|[\s"'(])\/(?:home|tmp|root|var|work|usr)\b/);
  });
});
