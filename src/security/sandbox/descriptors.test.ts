import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { inheritableDescriptors } from './descriptors.ts';

test('descriptors without the close-on-exec flag would be inherited, except the standard three', () => {
  const proc = temporaryFolder();
  try {
    for (const name of ['fd', 'fdinfo']) mkdirSync(join(proc, name));
    const flags = { 0: '02', 1: '01', 2: '01', 7: '02000000', 17: '0100002', 251: '01', 300: '02000001' };
    for (const [descriptor, value] of Object.entries(flags)) {
      writeFileSync(join(proc, 'fd', descriptor), '');
      writeFileSync(join(proc, 'fdinfo', descriptor), `pos:\t0\nflags:\t${value}\nmnt_id:\t15\n`);
    }
    writeFileSync(join(proc, 'fd', '99'), ''); // Closed between the listing and the check.
    expect(inheritableDescriptors(proc)).toEqual([17, 251]);
  } finally {
    rmSync(proc, { recursive: true });
  }
});
