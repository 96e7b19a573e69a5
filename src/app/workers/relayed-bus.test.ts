import { afterEach, expect, test, vi } from 'vitest';
import { TestBuses } from '../../../test/support/bus.ts';

let buses = new TestBuses();
afterEach(() => {
  buses.close();
  buses = new TestBuses();
});

test('all processes receive what is published, the sender included, in one order', async () => {
  const [a, b, c] = [await buses.join(), await buses.join(), await buses.join()];
  const received = new Map([a, b, c].map(({ bus }) => [bus.process, [] as unknown[]]));
  for (const { bus } of [a, b, c]) {
    bus.listen('test', (data, from, position) => void received.get(bus.process)?.push([data, from, position]));
  }
  const positions = await Promise.all(
    Array.from({ length: 30 }, (_, n) => [a, b, c][n % 3]?.bus.publish('test', { n })),
  );
  await Promise.all([a.bus.publish('end', null), b.bus.publish('end', null), c.bus.publish('end', null)]);
  const [first, ...others] = [...received.values()];
  expect(first).toHaveLength(30);
  for (const other of others) expect(other).toEqual(first);
  expect(new Set(positions).size).toBe(30);
  expect(positions.every((position) => (position as number) <= a.bus.position)).toBe(true);
});

test('a request is answered by the process it was sent to', async () => {
  const [a, b] = [await buses.join(), await buses.join()];
  b.bus.listen('add', async (data) => (data as number) + 1);
  b.bus.listen('fail', () => {
    throw new Error('not today');
  });
  expect(await a.bus.request(b.bus.process, 'add', 1, 20_000)).toBe(2);
  expect(await a.bus.request(b.bus.process, 'unknown topic', 1, 20_000)).toBeNull();
  await expect(a.bus.request(b.bus.process, 'fail', 1, 20_000)).rejects.toThrow('not today');
});

test('a request to a process that ends is rejected at once, and so is one to a process that has ended', async () => {
  const [a, b] = [await buses.join(), await buses.join()];
  const left = vi.fn();
  a.bus.onLeave(left);
  b.bus.listen('never', () => new Promise(() => {}));
  const waiting = a.bus.request(b.bus.process, 'never', null, 60_000);
  b.leave();
  await expect(waiting).rejects.toThrow('the process has ended');
  await expect(a.bus.request(b.bus.process, 'never', null, 60_000)).rejects.toThrow('the process has ended');
  expect(left.mock.calls).toEqual([[b.bus.process]]);
  expect([...a.bus.processes]).toEqual([a.bus.process]);
});

test('the relay serves requests itself', async () => {
  const { bus } = await buses.join();
  buses.relay.serve('echo', (data) => data);
  expect(await bus.request('relay', 'echo', { text: 'x' }, 20_000)).toEqual({ text: 'x' });
});

test('a process that receives nothing knows that it is not up to date', async () => {
  const { bus, pause, resume } = await buses.join();
  await expect.poll(() => performance.now() - bus.freshAtMs).toBeLessThan(400);
  pause();
  const before = bus.freshAtMs;
  await expect.poll(() => performance.now() - before).toBeGreaterThan(1_000);
  expect(bus.freshAtMs).toBeLessThan(before + 300);
  resume();
  await expect.poll(() => performance.now() - bus.freshAtMs).toBeLessThan(600);
});
