// Files that are none: opening a FIFO would wait for a writer, and a socket cannot be read.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkedPathAccess, procPathAccess } from '../../src/security/files/path-access.ts';
import { openRoots } from '../../src/security/files/tree.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test.each([
  ['proc', procPathAccess],
  ['checked', checkedPathAccess],
] as const)(
  'with %s path access, a FIFO and a socket are rejected without waiting for a writer',
  async (_name, access) => {
    const root = temporaryFolder();
    writeFileSync(join(root, 'a.txt'), 'inside');
    execFileSync('mkfifo', [join(root, 'pipe')]);
    const server = createServer().listen(join(root, 'socket'));
    await once(server, 'listening');
    const tree = openRoots([root], { access, writable: true });
    for (const name of ['pipe', 'socket']) {
      const special = { code: 'FILE_SPECIAL' };
      await expect(tree.readFile(name)).rejects.toMatchObject(special);
      await expect(tree.stat(name)).rejects.toMatchObject(special);
      await expect(tree.writeFile(name, 'x')).rejects.toMatchObject(special);
    }
    expect((await tree.list('.')).entries.map((entry) => entry.name)).toEqual(['a.txt']);
    server.close();
    await once(server, 'close');
  },
);
