// Logging to a descriptor whose reader is slow does not block the process.

import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LogSink, sendToFd } from '../../src/logging/sink.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a descriptor that blocks is written to on another thread', async () => {
  const pipe = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const fd = openSync(pipe, constants.O_RDWR);
  const sink = new LogSink(sendToFd(fd), (count) => `${count} dropped\n`);
  const size = 300_000; // The pipe holds 65,536: the first write blocks in the middle.
  sink.write('x'.repeat(size));
  await nextTurn();
  let read = 0;
  const buffer = Buffer.alloc(65_536);
  while (read < size) read += readSync(fd, buffer);
  await sink.flushed();
  closeSync(fd);
  expect(read).toBe(size);
});
