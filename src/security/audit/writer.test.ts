import { statSync, writeFileSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { silentLogger } from '../../common/logger.ts';
import { hashGroup, origin } from './chain.ts';
import { LogFile } from './file.ts';
import { LineEncoder } from './line-encoder.ts';
import { createRedaction } from './redaction.ts';
import { AuditWriter } from './writer.ts';

/** A file on a disk that fails when told to, in the middle of a write too. */
class FaultyFile {
  bytes = Buffer.alloc(0);
  /** How much the disk still takes before it is full. */
  space = Number.POSITIVE_INFINITY;
  /** Says only that it failed, not how much it took. */
  rude = false;
  syncs = 0;

  async write(bytes: Buffer): Promise<{ bytesWritten: number }> {
    const taken = bytes.subarray(0, Math.max(0, Math.min(bytes.length, this.space)));
    this.bytes = Buffer.concat([this.bytes, taken]);
    this.space -= taken.length;
    if (taken.length === 0 || (this.rude && taken.length < bytes.length)) {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    }
    return { bytesWritten: taken.length };
  }
  async stat(): Promise<object> {
    const { ino, dev, nlink } = statSync(join(directory, 'audit.jsonl'));
    return { ino, dev, nlink, size: this.bytes.length };
  }
  async datasync(): Promise<void> {
    this.syncs++;
  }
  async close(): Promise<void> {}
}

let directory = '';
beforeEach(() => {
  directory = temporaryFolder();
  writeFileSync(join(directory, 'audit.jsonl'), '');
});
afterEach(() => {
  vi.useRealTimers();
});

function writerOn(
  handle: FaultyFile,
  sync: 'always' | 'interval' | 'never' = 'always',
  maxQueuedBytes = 16 * 1024 * 1024,
  logger = silentLogger,
): AuditWriter {
  const infinite = Number.POSITIVE_INFINITY;
  const limits = { maxFileBytes: infinite, maxTotalBytes: infinite, maxFiles: infinite };
  const file = new LogFile({ directory, name: 'audit', ...limits }, handle as unknown as FileHandle, 0);
  const lines = new LineEncoder(createRedaction({}), 32 * 1024, silentLogger);
  const options = { sync, failureMode: 'closed', maxQueuedBytes, minFreeBytes: 0, logger } as const;
  return new AuditWriter({ ...options, confirmClaim: () => {} }, lines, origin, file);
}

const mark = (n: number) => ({ event: 'mark', details: { n } });

function expectChain(bytes: Buffer, count: number): void {
  const lines = bytes.toString('utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(count);
  let group: string[] = [];
  let prev = '';
  for (const [index, line] of lines.entries()) {
    const entry = JSON.parse(line);
    expect(entry).toMatchObject({ seq: index + 1, details: { n: index } });
    if (entry.prev !== undefined && entry.prev !== prev) {
      expect(entry.prev).toBe(hashGroup(Buffer.from(group.join('\n'))));
      prev = entry.prev;
      group = [];
    }
    group.push(line);
  }
}

const groupsOf = (bytes: Buffer): number =>
  new Set(Array.from(bytes.toString('utf8').matchAll(/"prev":"(\w*)"/g), ([, prev]) => prev)).size;

test.each([
  ['says how much it took', false],
  ['does not say how much it took', true],
])('a disk that is full and %s loses no line and gets none twice', async (_what, rude) => {
  for (let space = 1; space < 260; space += 37) {
    const file = Object.assign(new FaultyFile(), { space, rude });
    const writer = writerOn(file);
    for (let n = 0; n < 3; n++) writer.record(mark(n));
    await expect(writer.flush(true)).rejects.toThrow('no space left');
    expect(writer.failure).toContain('no space left');
    writer.record(mark(3));
    file.space = Number.POSITIVE_INFINITY;
    await writer.close();
    expectChain(file.bytes, 4);
  }
});

test('a flush waits until the disk takes lines again', async () => {
  vi.useFakeTimers();
  const file = Object.assign(new FaultyFile(), { space: 0 });
  const writer = writerOn(file);
  writer.record(mark(0));
  let safe = false;
  const waiting = writer.flush().then(() => {
    safe = true;
  });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(safe).toBe(false);
  file.space = 10_000;
  await vi.advanceTimersByTimeAsync(1_000);
  await waiting;
  expectChain(file.bytes, 1);
});

test('the policy decides when lines are forced to the disk', async () => {
  const [always, interval, never] = [new FaultyFile(), new FaultyFile(), new FaultyFile()];
  const writers = [writerOn(always), writerOn(interval, 'interval'), writerOn(never, 'never')];
  for (const writer of writers) {
    writer.record(mark(0));
    await writer.flush();
    await writer.close();
  }
  expect([always.syncs > 0, interval.syncs > 0, never.syncs]).toEqual([true, true, 0]);
});

test('lines of one moment are written together', async () => {
  const file = new FaultyFile();
  const write = vi.spyOn(file, 'write');
  const writer = writerOn(file, 'never');
  for (let n = 0; n < 500; n++) writer.record(mark(n));
  await writer.flush();
  expect(write).toHaveBeenCalledTimes(1);
  expectChain(file.bytes, 500);
  await writer.close();
});

test('lines collected together are a group; each flush, and a line that covers all before it, begins another', async () => {
  const file = new FaultyFile();
  const writer = writerOn(file);
  for (let n = 0; n < 3; n++) writer.record(mark(n));
  await writer.flush();
  expect(groupsOf(file.bytes)).toBe(1);
  writer.record(mark(3));
  await writer.flush();
  expect(groupsOf(file.bytes)).toBe(2);
  writer.record(mark(4));
  writer.record({ event: 'close', details: { n: 5 } });
  await writer.close();
  expect(groupsOf(file.bytes)).toBe(4);
  expectChain(file.bytes, 6);
  expect(writer.head.hash).toBe(hashGroup(file.bytes.subarray(file.bytes.lastIndexOf(0x0a, -2) + 1, -1)));
});

test('a value that adds a line while it is encoded gets the line before its own', async () => {
  const file = new FaultyFile();
  const writer = writerOn(file);
  const nosy = {
    get n() {
      writer.record(mark(0));
      void writer.flush();
      return 1;
    },
  };
  writer.record({ event: 'mark', details: nosy });
  await writer.close();
  expectChain(file.bytes, 2);
});

test('what cannot be encoded still has its line, and says so', async () => {
  const file = new FaultyFile();
  const writer = writerOn(file);
  writer.record(mark(0));
  writer.record({ event: Symbol('mark') as unknown as string });
  writer.record(mark(2));
  await writer.close();
  const lines = file.bytes.toString('utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(['mark', 'unencodable', 'mark']);
});

test('lines added while others are being written follow them', async () => {
  const file = new FaultyFile();
  const writer = writerOn(file, 'never');
  let n = 0;
  for (let round = 0; round < 20; round++) {
    const flushed = writer.flush();
    for (let count = 0; count < 150 * (round % 4); count++) writer.record(mark(n++));
    await flushed;
  }
  await writer.close();
  expectChain(file.bytes, n);
});

test('while the disk is full, the bytes that wait are bounded, and what was dropped is recorded afterwards', async () => {
  const messages: string[] = [];
  const note = (message: string): void => void messages.push(message);
  const file = Object.assign(new FaultyFile(), { space: 0 });
  const writer = writerOn(file, 'interval', 20_000, { ...silentLogger, error: note, notice: note });
  for (let n = 0; n < 1_000; n++) writer.record(mark(n));
  expect(writer.queuedBytes).toBeLessThanOrEqual(20_000);
  expect(writer.failure).toBe('the disk does not keep up');
  await expect(writer.flush(true)).rejects.toThrow('no space left');
  expect(writer.failure).toContain('no space left');
  for (let n = 0; n < 1_000; n++) writer.record(mark(n));
  expect(writer.queuedBytes).toBeLessThanOrEqual(20_000);
  const dropped = writer.droppedLines;
  expect(dropped).toBeGreaterThan(1_500);

  file.space = Number.POSITIVE_INFINITY;
  await writer.flush();
  await vi.waitFor(() => expect(writer.failure).toBeUndefined(), 20_000);
  await writer.close();
  const lines = file.bytes.toString('utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(2_000 - dropped + 1);
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ event: 'dropped', details: { lines: dropped } });
  expect(messages).toEqual([
    'the audit log cannot be written; calls are rejected until it can',
    'the audit log can be written again',
  ]);
});

test('with too little space on the disk what is there is written, and no more should come', async () => {
  const file = new FaultyFile();
  const writer = writerOn(file);
  const free = vi.spyOn(LogFile.prototype, 'freeBytes').mockResolvedValue(-1);
  writer.record(mark(0));
  await writer.flush();
  await writer.check();
  expect(writer.failure).toBe('the disk has less than 0 bytes left');
  expectChain(file.bytes, 1);
  free.mockRestore();
  await writer.check();
  expect(writer.failure).toBeUndefined();
  await writer.close();
});
