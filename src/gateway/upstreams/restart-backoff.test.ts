import { expect, test } from 'vitest';
import { RestartBackoff } from './restart-backoff.ts';

function policyAt() {
  let now = 0;
  const policy = new RestartBackoff({ minMs: 100, maxMs: 300, tries: 4, withinMs: 10_000 }, 60_000, () => now);
  return { policy, pass: (ms: number) => (now += ms) };
}

test('pauses double up to the longest', () => {
  const { policy } = policyAt();
  const pauses = [policy.waitMs];
  for (let n = 0; n < 3; n++) {
    policy.failed();
    pauses.push(policy.waitMs);
  }
  expect(pauses).toEqual([0, 100, 200, 300]);
});

test('time that has passed since the failure counts', () => {
  const { policy, pass } = policyAt();
  policy.failed();
  pass(60);
  expect(policy.waitMs).toBe(40);
  pass(60);
  expect(policy.waitMs).toBe(0);
});

test('after too many failures it is down for a minute, unless it is reset', () => {
  const { policy, pass } = policyAt();
  for (let n = 0; n < 4; n++) policy.failed();
  expect(policy).toMatchObject({ isDown: true, waitMs: 60_000 });
  policy.reset();
  expect(policy).toMatchObject({ isDown: false, waitMs: 0 });
  for (let n = 0; n < 3; n++) policy.failed();
  pass(10_001);
  policy.failed();
  expect(policy).toMatchObject({ isDown: false, waitMs: 100 });
});

test('one start is allowed while it is down; if it succeeds, all tries are there again', () => {
  const { policy } = policyAt();
  for (let n = 0; n < 4; n++) policy.failed();
  policy.allowStart();
  expect(policy).toMatchObject({ isDown: true, waitMs: 0 });
  policy.failed();
  expect(policy).toMatchObject({ isDown: true, waitMs: 60_000 });
  policy.allowStart();
  policy.started();
  expect(policy).toMatchObject({ isDown: false, waitMs: 0 });
});

test('a start that succeeds does not hide that it has failed before', () => {
  const { policy } = policyAt();
  for (let n = 0; n < 3; n++) policy.failed();
  policy.started();
  policy.failed();
  expect(policy.isDown).toBe(true);
});
