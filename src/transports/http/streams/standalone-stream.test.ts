import { expect, test } from 'vitest';
import { StandaloneStream } from './standalone-stream.ts';

test('changes buffered for a stream are limited by number and by length, without duplicates', () => {
  const stream = new StandaloneStream('session', undefined, 100, () => 'someone');
  for (let n = 0; n < 200; n++) stream.push(`change ${n % 150}`);
  expect([...stream.takeMissed()]).toHaveLength(100);
  for (let n = 0; n < 100; n++) stream.push(`${n}${'x'.repeat(16_000)}`);
  expect([...stream.takeMissed()]).toHaveLength(8);
  // What was taken has made space.
  stream.push('x'.repeat(100_000));
  stream.push('x'.repeat(100_000));
  expect([...stream.takeMissed()]).toHaveLength(1);
});
