// No process outlives a client that was killed: not a server that ignores every signal, not what a server started itself.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { guardScript } from '../../src/client/transports/orphan-guard.ts';
import { isFullRun } from '../support/full.ts';
import { ensureProgram } from '../support/programs.ts';
import { marked, newMark, until } from './faulty/processes.ts';

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const modes = ['proper', 'ignores-every-signal', 'leaves-children', 'reads-nothing-later'];

let parent: ChildProcess | undefined;
afterEach(() => {
  parent?.kill('SIGKILL');
});

function start(mark: string): ChildProcess {
  // The mark stands apart from the parent's own words, so that only its children are counted.
  parent = spawn(process.execPath, [path('fixtures/parent.mjs'), path('faulty/stdio-server.mjs'), mark, ...modes], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return parent;
}

const children = (mark: string) => marked(mark).filter((pid) => pid !== parent?.pid);

test('kill -9 of the client ends all its servers and what they started', async () => {
  const mark = newMark();
  const child = start(mark);
  await new Promise((ready) => child.stdout?.once('data', ready));
  // Four servers, and one process that one of them started.
  expect(children(mark)).toHaveLength(modes.length + 1);
  child.kill('SIGKILL');
  await until(() => children(mark).length === 0);
});

test('SIGTERM and a plain exit do so as well', async () => {
  const mark = newMark();
  const child = start(mark);
  await new Promise((ready) => child.stdout?.once('data', ready));
  child.kill('SIGTERM');
  await until(() => children(mark).length === 0);
});

test('at whatever instant of connecting the client is killed', async () => {
  const marks: string[] = [];
  const rounds = isFullRun ? 24 : 6;
  for (let round = 0; round < rounds; round++) {
    const mark = newMark();
    marks.push(mark);
    const child = start(mark);
    const gone = new Promise((exited) => child.once('exit', exited));
    // Spread over the time from the first line of the program to the first answer of the last server.
    await new Promise((next) => setTimeout(next, 60 + (round * 360) / rounds));
    child.kill('SIGKILL');
    await gone;
  }
  await until(() => marks.every((mark) => marked(mark).length === 0));
});

test.skipIf(!ensureProgram('busybox'))('the shell of Alpine ends them, too', async () => {
  const mark = newMark();
  const server = spawn(process.execPath, [path('faulty/stdio-server.mjs'), 'ignores-every-signal', mark], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  });
  await until(() => marked(mark).length === 1);
  const guardian = spawn('busybox', ['sh', '-c', guardScript], { stdio: ['pipe', 'ignore', 'inherit'] });
  guardian.stdin.end(`+ ${server.pid}\n`);
  await until(() => marked(mark).length === 0);
});
