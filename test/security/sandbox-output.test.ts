// The standard streams of a sandboxed program by their names: `/dev/stdout` and similar names are opened again, which the
// system does for pipes but not for sockets.

import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSandbox, type Sandbox, type SandboxLevel } from '../../src/security/sandbox/index.ts';
import { findProgram } from '../support/programs.ts';

const levels: SandboxLevel[] = findProgram('bwrap') === undefined ? ['limits', 'none'] : ['kernel', 'limits', 'none'];

describe.runIf(process.platform === 'linux').each(levels)('at level %s', (level) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await createSandbox({ programs: ['sh', 'tee', 'cat', 'node'], level });
  });
  afterAll(() => sandbox.close());

  const run = (script: string, stdin?: string) =>
    sandbox.run({ program: 'sh', args: ['-c', script], ...(stdin === undefined ? {} : { stdin }) });

  test('what is written to /dev/stdout and /dev/stderr arrives where it belongs', async () => {
    const script =
      'echo one > /dev/stdout; echo two > /dev/stderr; echo three > /dev/fd/1; echo four > /proc/self/fd/2';
    const { exitCode, stdout, stderr } = await run(script);
    expect([stdout.toString(), stderr.toString(), exitCode]).toEqual(['one\nthree\n', 'two\nfour\n', 0]);
  });

  test('a program that is given the name writes there', async () => {
    const { stdout, stderr, exitCode } = await sandbox.run({ program: 'tee', args: ['/dev/stdout'], stdin: 'twice\n' });
    expect([stdout.toString(), stderr.toString(), exitCode]).toEqual(['twice\ntwice\n', '', 0]);
  });

  test('/dev/stdin is what was given, to its end', async () => {
    const text = 'x'.repeat(300_000);
    const { stdout, stderr, exitCode } = await sandbox.run({ program: 'cat', args: ['/dev/stdin'], stdin: text });
    expect([stdout.toString() === text, stderr.toString(), exitCode]).toEqual([true, '', 0]);
  });

  test('without an input it is empty, and reading it does not wait', async () => {
    const { stdout, exitCode, stopped } = await run('cat; cat /dev/stdin; echo end');
    expect([stdout.toString(), exitCode, stopped]).toEqual(['end\n', 0, null]);
  });

  test('much output arrives whole and in order, also through the name', async () => {
    const { stdout, exitCode } = await run('i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done > /dev/stdout');
    const lines = stdout.toString().trim().split('\n');
    expect([lines.length, lines.at(-1), exitCode]).toEqual([20_000, '19999', 0]);
    expect(lines.every((line, at) => line === String(at))).toBe(true);
  });

  test('a worker can be written to through these names while it runs', async () => {
    const worker = await sandbox.spawn({
      program: 'sh',
      args: ['-c', 'while read l; do echo "got $l" > /dev/stdout; done < /dev/stdin'],
    });
    const heard: string[] = [];
    worker.stdout.on('data', (chunk: Buffer) => heard.push(chunk.toString()));
    worker.stdin.write('one\n');
    await expect.poll(() => heard.join('')).toBe('got one\n');
    worker.stdin.end('two\n');
    expect((await worker.exited).exitCode).toBe(0);
    await expect.poll(() => heard.join('')).toBe('got one\ngot two\n');
  });

  test('a program whose output is not read is held up, not lost, and ends with its sandbox', async () => {
    const worker = await sandbox.spawn({ program: 'sh', args: ['-c', 'yes 0123456789'] });
    worker.stdout.pause();
    const report = await worker.kill();
    expect(report.stopped).toBe('cancelled');
  });

  test('many at a time do not mix, and leave no descriptor open, started or not', async () => {
    const open = (): number => readdirSync('/proc/self/fd').length;
    const round = async (): Promise<void> => {
      const all = await Promise.all(
        Array.from({ length: 8 }, (_, n) => run(`for i in 1 2 3 4 5; do echo ${n} > /dev/stdout; done`)),
      );
      for (const [n, { stdout }] of all.entries()) expect(stdout.toString()).toBe(`${n}\n`.repeat(5));
      const unread = await sandbox.spawn({ program: 'sh', args: ['-c', 'echo x; echo y >&2'] });
      await unread.exited;
    };
    await round();
    const before = open();
    for (let n = 0; n < 4; n++) await round();
    // Some pipes are made ahead; what grows with every round is a leak.
    await expect.poll(open).toBeLessThanOrEqual(before + 16);
  });
});

test.runIf(process.platform === 'linux')('without a folder for temporary files programs run all the same', async () => {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = '/proc/none';
  try {
    const sandbox = await createSandbox({ programs: ['echo'], level: 'none' });
    // More than are created in advance.
    for (let i = 0; i < 20; i++) {
      const { stdout } = await sandbox.run({ program: 'echo', args: [String(i)] });
      expect(stdout.toString()).toBe(`${i}\n`);
    }
    await sandbox.close();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
});
