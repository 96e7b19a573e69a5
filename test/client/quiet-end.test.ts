// A program ends by itself once its client is closed, whatever the client was waiting for.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('fixtures/resting.mjs', import.meta.url));

test('a pause before a stream is resumed ends with the client', { timeout: 60_000 }, async () => {
  // The server asked for four minutes; a client that waited for them would be ended by the time limit, which rejects.
  const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 50_000 });
  expect(stdout).toBe('closed\n');
});
