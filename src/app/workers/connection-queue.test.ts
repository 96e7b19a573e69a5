import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { ConnectionQueue } from './connection-queue.ts';

afterEach(() => {
  vi.useRealTimers();
});

function fakeWorker() {
  const passed: { number: number; socket: Socket }[] = [];
  const worker = {
    passed,
    send: ({ number }: { number: number }, socket: Socket) => passed.push({ number, socket }),
  };
  return worker as unknown as ChildProcess & typeof worker;
}

function fakeSocket() {
  const socket = { destroyed: false, on: () => {}, destroy: () => void (socket.destroyed = true) };
  return socket as unknown as Socket;
}

type Worker = ReturnType<typeof fakeWorker>;
const last = ({ passed }: Worker) => passed.at(-1) as { number: number; socket: Socket };
const respond = (queue: ConnectionQueue, worker: Worker, accepted: boolean): void =>
  queue.onResponse(worker, last(worker).number, accepted);
const socketsOf = ({ passed }: Worker): Socket[] => passed.map(({ socket }) => socket);

function queueOf(...workers: readonly Worker[]): ConnectionQueue {
  const queue = new ConnectionQueue();
  for (const worker of workers) queue.addWorker(worker);
  return queue;
}

test('workers get connections in turn, each the next one when it has accepted the last', () => {
  const [a, b] = [fakeWorker(), fakeWorker()];
  const queue = queueOf(a, b);
  const [first, second, third, fourth] = [fakeSocket(), fakeSocket(), fakeSocket(), fakeSocket()];
  for (const socket of [first, second, third]) queue.add(socket);
  expect([socketsOf(a), socketsOf(b)]).toEqual([[first], [second]]);
  respond(queue, b, true);
  expect(last(b).socket).toBe(third);
  expect([first.destroyed, second.destroyed]).toEqual([false, true]);
  respond(queue, a, true);
  queue.add(fourth);
  expect(last(a).socket).toBe(fourth);
});

test('a connection that a worker had not accepted when it ended is the next one for another', () => {
  const [a, b] = [fakeWorker(), fakeWorker()];
  const queue = queueOf(a, b);
  const [first, second, third] = [fakeSocket(), fakeSocket(), fakeSocket()];
  for (const socket of [first, second, third]) queue.add(socket);
  queue.onEnd(a);
  respond(queue, b, true);
  expect(last(b).socket).toBe(first);
  expect(first.destroyed).toBe(false);
  respond(queue, b, true);
  expect([first.destroyed, last(b).socket === third]).toEqual([true, true]);
  expect(socketsOf(a)).toEqual([first]);
});

test('a worker that closes gets no more connections, and what it rejects is for another', () => {
  const [a, b] = [fakeWorker(), fakeWorker()];
  const queue = queueOf(a, b);
  const [first, second] = [fakeSocket(), fakeSocket()];
  queue.add(first);
  queue.removeWorker(a);
  respond(queue, a, false);
  expect(last(b).socket).toBe(first);
  respond(queue, b, true);
  queue.add(second);
  expect([a.passed.length, b.passed.length, queue.workers]).toEqual([1, 2, 1]);
});

test('connections wait until there is a worker, but not more than a limit', () => {
  const queue = queueOf();
  const sockets = Array.from({ length: 10_001 }, fakeSocket);
  for (const socket of sockets) queue.add(socket);
  expect(sockets.filter(({ destroyed }) => destroyed)).toEqual([sockets.at(-1)]);
  const worker = fakeWorker();
  queue.addWorker(worker);
  expect(last(worker).socket).toBe(sockets[0]);
  queue.close();
  respond(queue, worker, true);
  expect(sockets.filter(({ destroyed }) => !destroyed)).toEqual([]);
  expect(worker.passed).toHaveLength(1);
});

test('a connection that is not accepted in time is closed, and a late response changes nothing', () => {
  vi.useFakeTimers();
  const worker = fakeWorker();
  const queue = queueOf(worker);
  const [first, second] = [fakeSocket(), fakeSocket()];
  for (const socket of [first, second]) queue.add(socket);
  vi.advanceTimersByTime(30_000);
  expect([first.destroyed, last(worker).socket === second]).toEqual([true, true]);
  queue.onResponse(worker, worker.passed[0]?.number as number, false);
  expect(second.destroyed).toBe(false);
  respond(queue, worker, true);
  expect(second.destroyed).toBe(true);
});
