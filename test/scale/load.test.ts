// Workers under a mixed load: killed, told to end, and replaced one after the other.
import { afterEach, expect, test } from 'vitest';
import { useClosers } from '../support/closers.ts';
import { isFullRun } from '../support/full.ts';
import { childrenOf } from '../support/workers.ts';
import { failures, Load, type LoadOptions } from './support/load.ts';
import { type ScheduleProgram, startScheduleProgram } from './support/program.ts';

const closers = useClosers(afterEach);
const timeout = 90_000;

async function start(...args: string[]): Promise<ScheduleProgram> {
  const program = await startScheduleProgram(['--workers', '2', ...args]);
  closers.push(() => program.close());
  return program;
}

const clients = { stateless: 6, session: 6, stream: 6 };

function startLoad(program: ScheduleProgram, options: Partial<LoadOptions> = {}): Load {
  const load = new Load({ clients, url: () => program.address, ...options });
  closers.push(() => load.stop());
  return load;
}

/** Of connections, and whether each request opens one. By default each test has one of them. */
const kinds: readonly (readonly [string, boolean])[] = [
  ['kept', false],
  ['new', true],
];

const workersOf = (program: ScheduleProgram): number[] => childrenOf(program.child.pid as number);

test.each(isFullRun ? kinds : kinds.slice(0, 1))(
  'a worker that is killed breaks only what was open on it (%s connections)',
  { timeout },
  async (_, fresh) => {
    const program = await start();
    const load = startLoad(program, { freshConnections: fresh });
    await load.more(300);
    const [first] = workersOf(program);
    const { inFlight } = load;
    process.kill(first as number, 'SIGKILL');
    const isReplaced = () => workersOf(program).length === 2 && !workersOf(program).includes(first as number);
    await expect.poll(isReplaced, { timeout: 20_000 }).toBe(true);
    // Until clients have read the ends of their connections.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const noticedAtMs = performance.now();
    await load.more(300);
    const failed = failures(await load.stop());
    expect(failed.filter(({ outcome }) => outcome !== 'broken')).toEqual([]);
    expect(failed.length).toBeLessThanOrEqual(inFlight);
    const late = failed.filter(({ sentAtMs }) => sentAtMs > noticedAtMs);
    expect(late.map((each) => JSON.stringify({ ...each, noticedAtMs }))).toEqual([]);
  },
);

test.each(isFullRun ? kinds : kinds.slice(1))(
  'workers are replaced one after the other without a failed request (%s connections)',
  { timeout },
  async (_, fresh) => {
    const program = await start();
    const before = workersOf(program);
    const load = startLoad(program, { freshConnections: fresh, pauseMs: isFullRun ? 20 : 80 });
    await load.more(200);
    program.child.kill('SIGUSR2');
    const areReplaced = () => {
      const now = workersOf(program);
      return now.length === 2 && !now.some((pid) => before.includes(pid));
    };
    await expect.poll(areReplaced, { timeout: 40_000 }).toBe(true);
    await load.more(200);
    expect(failures(await load.stop())).toEqual([]);
    expect(program.lines.filter((line) => line.includes('unexpectedly'))).toEqual([]);
  },
);

test('after SIGTERM it serves as before until its delay is over, and reports that it is not ready', {
  timeout,
}, async () => {
  const program = await start('--drain-delay', '5000');
  const load = startLoad(program);
  await load.more(200);
  program.child.kill('SIGTERM');
  const ready = new URL('/readyz', program.address);
  const readiness = (): Promise<number> =>
    fetch(ready).then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(readiness, { interval: 20 }).toBe(503);
  // As a load balancer does that has noticed.
  expect(failures(await load.stop())).toEqual([]);
  expect(await program.exited).toBe(0);
});
