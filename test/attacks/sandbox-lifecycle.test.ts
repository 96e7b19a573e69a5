// How sandboxed programs begin and end: rejections before anything is started, cancelling, closing, long-lived workers,
// and our own sudden death. The escape attempts are in `sandbox.test.ts`.

import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, closeSync, openSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox, SandboxPolicy } from '../../src/security/sandbox/index.ts';
import { createSandbox, probeSandbox, SandboxError, workerLimits } from '../../src/security/sandbox/index.ts';
import { isFullRun } from '../support/full.ts';
import { ensureProgram } from '../support/programs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { Host } from './sandbox-host.ts';
import { findMarked, openHost } from './sandbox-host.ts';

const available = ensureProgram('bwrap');

let host: Host;
const opened: Sandbox[] = [];

beforeAll(async () => {
  host = await openHost();
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((sandbox) => sandbox.close()));
  expect(host.survivors()).toEqual([]);
});

afterAll(() => host.close());

async function open(policy: Partial<SandboxPolicy> = {}): Promise<Sandbox> {
  const sandbox = await createSandbox({
    programs: ['sh', 'cat', 'sleep', { name: 'find', options: ['-name', '-type', '-l', '-a', '--color'] }],
    writable: [host.work],
    readOnly: [host.library],
    environment: { set: { ATTACK_MARK: host.mark }, allow: ['GREETING', 'LD_PRELOAD', 'BASH_ENV'] },
    ...policy,
  });
  opened.push(sandbox);
  return sandbox;
}

const code = (expected: string) => expect.objectContaining({ name: 'SandboxError', code: expected });

describe.skipIf(!available)('what is rejected before anything is started', () => {
  test.each(['rm', '/bin/rm', '../../bin/rm', './sh', 'sh -c id', 'sh\0', '', ' sh', '__proto__', 'constructor'])(
    'S4-47: a program outside the list: %j',
    async (program) => {
      await expect((await open()).run({ program })).rejects.toEqual(code('program-not-allowed'));
    },
  );

  test.each([['-exec'], ['-delete'], ['-fprintf'], ['-ok'], ['-execdir=x'], ['--colour'], ['-lx']])(
    'an option outside the list of its program: %s',
    async (option) => {
      await expect((await open()).run({ program: 'find', args: ['.', option] })).rejects.toEqual(
        code('argument-not-allowed'),
      );
    },
  );

  test('an argument with a NUL character', async () => {
    await expect((await open()).run({ program: 'cat', args: ['a\0b'] })).rejects.toEqual(code('argument-not-allowed'));
  });

  test('more arguments than the limit', async () => {
    const args = Array.from({ length: 100 }, () => 'x'.repeat(1_000));
    await expect((await open()).run({ program: 'cat', args })).rejects.toEqual(code('argument-not-allowed'));
  });

  test.each(['PATH', 'HOME', 'LD_PRELOAD', 'BASH_ENV', 'A=B', '__proto__'])(
    'a variable that no request may set: %s',
    async (name) => {
      const env = Object.fromEntries([[name, 'x']]);
      await expect((await open()).run({ program: 'cat', env })).rejects.toEqual(code('variable-not-allowed'));
    },
  );

  test('a working directory outside the allowed ones, however it is spelt', async () => {
    const sandbox = await open();
    const forms = ['/', '/etc', '/proc', '/tmp-evil', '/tmp/..', `${host.work}/../../../etc`, 'work', `${host.work}\0`];
    for (const cwd of forms) {
      await expect(sandbox.run({ program: 'cat', cwd })).rejects.toEqual(code('directory-not-allowed'));
    }
  });

  test('a policy that would bind the system or its parents', async () => {
    for (const path of ['/', '/proc', '/proc/self', '/sys', '/dev/shm', '/etc', '/usr', '/usr/lib', '/run']) {
      await expect(open({ writable: [path], readOnly: [] })).rejects.toEqual(code('directory-not-allowed'));
    }
    for (const path of ['/', '/proc', '/sys', '/dev', '/etc']) {
      await expect(open({ writable: [], readOnly: [path] })).rejects.toEqual(code('directory-not-allowed'));
    }
  });

  test('a program that lies where the sandbox can write', async () => {
    const path = join(host.work, 'tool');
    writeFileSync(path, '#!/bin/sh\n', { mode: 0o755 });
    await expect(open({ programs: [path] })).rejects.toEqual(code('program-not-found'));
  });

  test('one more program than may run at once', async () => {
    const sandbox = await open({ limits: { maxConcurrent: 1 } });
    const first = sandbox.run({ program: 'sleep', args: ['0.3'] });
    await expect(sandbox.run({ program: 'cat' })).rejects.toEqual(code('busy'));
    expect((await first).exitCode).toBe(0);
    expect((await sandbox.run({ program: 'cat' })).exitCode).toBe(0);
  });
});

describe.skipIf(!available)('the end of a program', () => {
  test('S4-39: a cancelled command ends with its whole tree', async () => {
    const sandbox = await open();
    const stop = new AbortController();
    const args = ['-c', 'setsid sleep 300 & (sleep 300 &); echo ready; sleep 300'];
    const running = sandbox.run({ program: 'sh', args, signal: stop.signal });
    // The shell and three of `sleep`.
    await expect.poll(() => host.survivors().length).toBeGreaterThanOrEqual(4);
    stop.abort();
    expect(await running).toMatchObject({ stopped: 'cancelled', exitCode: 137, signal: 'SIGKILL', timedOut: false });
    expect(host.survivors()).toEqual([]);
  });

  test('a command that was cancelled before it began is not started', async () => {
    const sandbox = await open();
    await expect(sandbox.run({ program: 'cat', signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
  });

  test('a command may be cancelled at any instant of its start', async () => {
    const sandbox = await open();
    for (let delayMs = 0; delayMs < 30; delayMs += 3) {
      const stop = new AbortController();
      const running = sandbox.run({ program: 'sleep', args: ['300'], signal: stop.signal });
      setTimeout(() => stop.abort(), delayMs);
      expect((await running).stopped).toBe('cancelled');
    }
    expect(host.survivors()).toEqual([]);
  });

  test('a time limit of a request is never above that of the policy', async () => {
    const sandbox = await open({ limits: { timeoutMs: 200 } });
    expect((await sandbox.run({ program: 'sleep', args: ['300'], timeoutMs: 60_000 })).timedOut).toBe(true);
  });

  test('exit status and signal are told as a shell tells them', async () => {
    const sandbox = await open();
    const end = async (script: string) => {
      const { exitCode, signal } = await sandbox.run({ program: 'sh', args: ['-c', script] });
      return [exitCode, signal];
    };
    expect(await end('exit 7')).toEqual([7, null]);
    expect(await end('kill -TERM $$')).toEqual([143, 'SIGTERM']);
  });

  test('closing ends what runs and rejects what comes', async () => {
    const sandbox = await open();
    const running = sandbox.run({ program: 'sleep', args: ['300'] });
    await sandbox.close();
    expect((await running).stopped).toBe('closed');
    await expect(sandbox.run({ program: 'cat' })).rejects.toEqual(code('closed'));
  });

  test('a working directory that is gone is an error of the start, with the reason', async () => {
    const sandbox = await open();
    const running = sandbox.run({ program: 'cat', cwd: join(host.work, 'nowhere') });
    await expect(running).rejects.toEqual(code('start-failed'));
    await expect(running).rejects.toThrow(/chdir/);
  });
});

describe.skipIf(!available)('workers', () => {
  test('a worker answers over its pipes until it is ended', async () => {
    const sandbox = await open();
    const worker = await sandbox.spawn({ program: 'cat' });
    const lines = createInterface({ input: worker.stdout })[Symbol.asyncIterator]();
    for (const word of ['one', 'two']) {
      worker.stdin.write(`${word}\n`);
      expect((await lines.next()).value).toBe(word);
    }
    expect(await worker.kill()).toMatchObject({ stopped: 'cancelled' });
  });

  test('a worker that is no longer spoken to ends by itself', async () => {
    const worker = await (await open()).spawn({ program: 'cat' });
    worker.stdin.end();
    worker.stdout.resume();
    expect(await worker.exited).toMatchObject({ exitCode: 0, stopped: null });
  });

  test('errors of a worker are drained, and their end is kept', async () => {
    const script = 'i=0; while [ $i -lt 20000 ]; do echo "error number $i" >&2; i=$((i+1)); done; echo done';
    const worker = await (await open()).spawn({ program: 'sh', args: ['-c', script] });
    worker.stdout.resume();
    expect((await worker.exited).exitCode).toBe(0);
    expect(worker.stderrTail().toString()).toMatch(/error number 19999\n$/);
    expect(worker.stderrTail().length).toBeLessThanOrEqual(64 * 1024);
  });

  test('Node itself works inside', async () => {
    const sandbox = await open({
      programs: [{ name: 'node', path: process.execPath }],
      readOnly: process.execPath.startsWith('/usr/') ? [] : [join(process.execPath, '../..')],
      limits: workerLimits,
    });
    const script = "import('node:os').then((os) => console.log(os.userInfo().username, process.pid))";
    const { stdout, stderr } = await sandbox.run({ program: 'node', args: ['-e', script] });
    expect(stderr.toString()).toBe('');
    expect(stdout.toString()).toMatch(/^sandbox \d+\n$/);
  });
});

describe.skipIf(!available)('network allowed by the policy', () => {
  test('internet sockets reach the host; Unix, abstract, raw and packet sockets do not', async () => {
    const visits: string[] = [];
    const server = createServer((socket) => {
      visits.push('TCP');
      socket.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const sandbox = await open({ programs: ['perl'], network: 'host' });
      const script = `
        sub try { print $_[0] ? "done\n" : "failed: $!\n" }
        socket(my $s, 2, 1, 0); try(connect($s, pack("SnC4x8", 2, ${port}, 127, 0, 0, 1)));
        try(socket(my $u, 1, 1, 0)); try(socket(my $r, 2, 3, 1)); try(socket(my $p, 17, 3, 0));`;
      const { stdout } = await sandbox.run({ program: 'perl', args: ['-e', script] });
      expect(stdout.toString()).toBe(`done\n${'failed: Operation not permitted\n'.repeat(3)}`);
      expect(visits).toEqual(['TCP']);
      expect(host.damage()).toEqual([]);
    } finally {
      server.close();
    }
  });
});

describe('weaker levels', () => {
  test('S4-46: without the kernel layers, time, output and the program list are still limited', async () => {
    const brief = await open({ level: 'limits', limits: { timeoutMs: 300 } });
    expect((await brief.run({ program: 'sh', args: ['-c', 'sleep 300 & sleep 300'] })).timedOut).toBe(true);
    const sandbox = await open({ level: 'limits', limits: { timeoutMs: 20_000, maxOutputBytes: 1_000 } });
    expect((await sandbox.run({ program: 'sh', args: ['-c', 'yes'] })).truncated).toBe(true);
    expect((await sandbox.run({ program: 'sh', args: ['-c', 'ulimit -n'] })).stdout.toString()).toBe('256\n');
    await expect(sandbox.run({ program: 'rm' })).rejects.toEqual(code('program-not-allowed'));
  });

  test.each(['limits', 'none'] as const)('%s: a daemon that a command has started ends with it', async (level) => {
    const daemon = `(setsid sh -c "trap '' TERM HUP; sleep 300; sleep 300" &)`;
    const sandbox = await open({ level, limits: { timeoutMs: 20_000 } });
    const begun = performance.now();
    expect(await sandbox.run({ program: 'sh', args: ['-c', `${daemon}; sleep 0.2; exit 3`] })).toMatchObject({
      ...{ exitCode: 3, signal: null, stopped: null },
    });
    expect(findMarked(host.mark)).toEqual([]);
    // It has the pipes of the command, which are not waited for.
    expect(performance.now() - begun).toBeLessThan(2_000);
    const brief = await open({ level, limits: { timeoutMs: 500 } });
    expect(await brief.run({ program: 'sh', args: ['-c', `${daemon}; sleep 300`] })).toMatchObject({ timedOut: true });
    expect(findMarked(host.mark)).toEqual([]);
    const worker = await sandbox.spawn({ program: 'sh', args: ['-c', `${daemon}; echo begun; cat`] });
    await new Promise((resolve) => worker.stdout.once('data', resolve));
    await worker.kill();
    expect(findMarked(host.mark)).toEqual([]);
    // Only a control group finds one that has removed its environment.
    if (!sandbox.describe.includes('control group version')) return;
    const hiding = `env -i /usr/bin/setsid /bin/sh -c 'sleep 300; :' ${host.mark} & sleep 0.5`;
    expect(await sandbox.run({ program: 'sh', args: ['-c', hiding] })).toMatchObject({ exitCode: 0 });
    expect(findMarked(host.mark)).toEqual([]);
  });

  test('without any level the environment is still built from nothing', async () => {
    const sandbox = await open({ level: 'none' });
    const { stdout } = await sandbox.run({ program: 'sh', args: ['-c', 'env'] });
    expect(stdout.toString()).not.toContain(host.secret);
    expect(stdout.toString()).toContain(`ATTACK_MARK=${host.mark}`);
  });
});

describe.skipIf(!available)('doctor', () => {
  test('every layer of the kernel level is tried and holds here', async () => {
    const reports = await probeSandbox();
    const failing = reports.filter(({ holds, layer }) => !holds && !layer.includes('optional'));
    expect(failing).toEqual([]);
    expect(reports.length).toBeGreaterThanOrEqual(12);
  });
});

describe.skipIf(!available)('a server of its own', () => {
  let directory: string;

  beforeAll(async () => {
    directory = temporaryFolder();
    chmodSync(directory, 0o755);
    const entry = fileURLToPath(new URL('../../src/security/sandbox/index.ts', import.meta.url));
    const outfile = join(directory, 'sandbox.mjs');
    await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile });
  });

  test.each(['limits', 'kernel'])('a server that ends takes its programs along, at level %s', async (level) => {
    const program = join(directory, 'ending.mjs');
    writeFileSync(program, endingSource);
    const mark = `${host.mark}-${level}`;
    execFileSync(process.execPath, [program, level, mark], { encoding: 'utf8' });
    await expect.poll(() => findMarked(mark), { interval: 20 }).toEqual([]);
  });

  test.each(['limits', 'kernel'])(
    'a descriptor that its launcher left open is not lent on, at level %s',
    async (level) => {
      const program = join(directory, 'lending.mjs');
      writeFileSync(program, lendingSource);
      const left = openSync(host.canary, 'r');
      try {
        const gap = Array.from({ length: 38 }, () => 'ignore' as const);
        const child = spawn(process.execPath, [program, level, host.canary], {
          stdio: ['ignore', 'pipe', ...gap, left],
        });
        const output = await new Response(Readable.toWeb(child.stdout!) as ReadableStream).text();
        expect(output).toMatch(/^held by the server: true\n/);
        expect(output).not.toContain(`-> ${host.canary}`);
      } finally {
        closeSync(left);
      }
    },
  );

  test('where the level does not hold, no sandbox is handed out', () => {
    // A user namespace with one user: no other user exists there, and root's files belong to no user.
    const program = join(directory, 'rejected.mjs');
    writeFileSync(program, rejectedSource);
    const output = execFileSync('unshare', ['--user', '--map-root-user', process.execPath, program], {
      encoding: 'utf8',
    });
    expect(output).toBe('level-unavailable');
  });

  test('a server that is killed at any instant leaves no process behind', async () => {
    const server = join(directory, 'server.mjs');
    writeFileSync(server, serverSource);
    const rounds = isFullRun ? 24 : 6;
    for (let round = 0; round < rounds; round++) {
      const mark = `${host.mark}-${round}`;
      const child = spawn(process.execPath, [server, mark], { stdio: ['ignore', 'pipe', 'inherit'] });
      await new Promise((resolve) => child.stdout.once('data', resolve));
      setTimeout(() => child.kill('SIGKILL'), (round * 48) / rounds);
      await new Promise((resolve) => child.once('exit', resolve));
      await expect.poll(() => findMarked(mark), { interval: 20 }).toEqual([]);
    }
  });
});

/** Says one word when its sandbox is ready, then starts a command that would outlive everybody. */
const serverSource = `
import { createSandbox } from './sandbox.mjs';
const mark = process.argv[2];
const sandbox = await createSandbox({ programs: ['sh'], environment: { set: { ATTACK_MARK: mark } } });
process.stdout.write('ready');
await sandbox.run({ program: 'sh', args: ['-c', 'setsid sleep 300 & sleep 300', mark] });
`;

/** Ends itself while a command runs. */
const endingSource = `
import { createSandbox } from './sandbox.mjs';
const [level, mark] = process.argv.slice(2);
const sandbox = await createSandbox({ level, programs: ['sh'], environment: { set: { ATTACK_MARK: mark } } });
const worker = await sandbox.spawn({ program: 'sh', args: ['-c', 'sleep 300 & echo ready; sleep 300', mark] });
worker.stdout.once('data', () => process.exit(0));
`;

/** Says whether it holds the descriptor of another program, and what a program that it starts holds. */
const lendingSource = `
import { readdirSync, readlinkSync } from 'node:fs';
import { createSandbox } from './sandbox.mjs';
const [level, canary] = process.argv.slice(2);
const held = readdirSync('/proc/self/fd').some((fd) => { try { return readlinkSync('/proc/self/fd/' + fd) === canary } catch { return false } });
const sandbox = await createSandbox({ level, programs: ['ls'] });
const { stdout } = await sandbox.run({ program: 'ls', args: ['-l', '/proc/self/fd'] });
process.stdout.write('held by the server: ' + held + '\\n' + stdout);
`;

/** Says why there is no sandbox. */
const rejectedSource = `
import { createSandbox } from './sandbox.mjs';
await createSandbox({ programs: ['sh'] }).then(
  () => process.stdout.write('handed out'),
  (error) => process.stdout.write(error.code),
);
`;

test('an error of the sandbox says what to do', async () => {
  const error = await createSandbox({ programs: ['no-such-program-anywhere'] }).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(SandboxError);
  expect((error as SandboxError).remedy).not.toBe('');
});
