// Random schedules: open, call, ask, answer elsewhere, drop, resume, subscribe, delete, kill, in any order and at the same time.
//
//   MOORING_SEEDS=1000 npx vitest run test/scale/schedules.test.ts    many schedules
//   MOORING_SEED=17 npx vitest run test/scale/schedules.test.ts       one again: a failure names its seed
import { expect, test } from 'vitest';
import { isFullRun } from '../support/full.ts';
import { Random } from './support/random.ts';
import { runSchedule } from './support/schedule.ts';
import { InProcessTopology, WorkersTopology } from './support/topology.ts';

const count = Number(process.env['MOORING_SEEDS'] ?? (isFullRun ? 100 : 6));
const only = process.env['MOORING_SEED'];
const seeds = only === undefined ? Array.from({ length: count }, (_, n) => n + 1) : [Number(only)];

test('no schedule violates the model of its sessions', { timeout: 60_000 + seeds.length * 5_000 }, async () => {
  const left = [...seeds];
  // Schedules mostly wait, so several run at the same time.
  const runOthers = async (): Promise<void> => {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      const topology = await InProcessTopology.start(2 + (seed % 2));
      try {
        await runSchedule(seed, topology);
      } finally {
        await topology.close();
      }
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, runOthers));
  const violations = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
  expect(violations.map(({ message }) => message).join('\n')).toBe('');
});

test('nor does one with the workers of the program', { timeout: 180_000 }, async () => {
  // Few for one program: it ends when its workers fail again and again.
  const few = seeds.slice(0, isFullRun ? 3 : 1);
  const topology = await WorkersTopology.start(2);
  try {
    for (const seed of few) await runSchedule(seed, topology, { kills: 1 });
  } finally {
    await topology.close();
  }
});

test('a schedule is determined by its seed', () => {
  const numbers = (seed: number): number[] => {
    const random = new Random(seed);
    return Array.from({ length: 20 }, () => random.below(1_000));
  };
  expect(numbers(7)).toEqual(numbers(7));
  expect(numbers(7)).not.toEqual(numbers(8));
});
