// The host that sandboxed programs attack: files they must not reach, listeners they must not meet, and the ways to
// see afterwards that nothing of it was touched and no process was left behind.

import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What an attack finds around its sandbox. */
export interface Host {
  /** Writable inside. Holds a link to the canary and a socket of the host. */
  readonly work: string;
  /** Readable inside. */
  readonly library: string;
  /** Not visible inside. */
  readonly outside: string;
  readonly canary: string;
  /** Part of the environment of every attack; finds survivors. */
  readonly mark: string;
  /** Part of our own environment; must never be seen inside. */
  readonly secret: string;
  readonly tcpPort: number;
  readonly unixSocket: string;
  readonly abstractName: string;
  /** Everything that is wrong now; empty when the host is untouched. */
  damage(): string[];
  /** Host's numbers of processes that carry the mark. */
  survivors(): number[];
  close(): Promise<void>;
}

const canaryText = 'the canary is alive';

export async function openHost(): Promise<Host> {
  const base = mkdtempSync(join(tmpdir(), 'mooring-attack-'));
  chmodSync(base, 0o755);
  const [work, library, outside] = ['work', 'library', 'outside'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  for (const directory of [work, library, outside]) mkdirSync(directory);
  const canary = join(outside, 'canary');
  writeFileSync(canary, canaryText, { mode: 0o666 });
  writeFileSync(join(library, 'book'), 'read me', { mode: 0o666 });
  symlinkSync(canary, join(work, 'link-to-canary'));
  symlinkSync('/', join(work, 'link-to-root'));
  // As root the sandbox has a user of its own, which must be able to write here.
  if (process.getuid?.() === 0) for (const directory of [work, outside]) chmodSync(directory, 0o777);

  const nonce = base.slice(-6);
  const secret = `secret-${nonce}`;
  process.env['MOORING_ATTACK_SECRET'] = secret;
  const unixSocket = join(work, 'host.sock');
  const abstractName = `mooring-${nonce}`;
  const visits: string[] = [];
  const servers = await Promise.all([
    listen({ port: 0, host: '127.0.0.1' }, () => visits.push('TCP')),
    listen({ path: unixSocket }, () => visits.push('Unix socket')),
    listen({ path: `\0${abstractName}` }, () => visits.push('abstract socket')),
  ]);
  chmodSync(unixSocket, 0o777);
  const mark = `mark-${nonce}`;

  return {
    ...{ work, library, outside, canary, mark, secret, unixSocket, abstractName },
    tcpPort: (servers[0]!.address() as AddressInfo).port,
    damage: () => [
      ...(readFileSync(canary, 'utf8') === canaryText ? [] : ['the canary was changed']),
      ...(readFileSync(join(library, 'book'), 'utf8') === 'read me' ? [] : ['a read-only file was changed']),
      ...(readdirSync(outside).length === 1 ? [] : ['a file appeared outside']),
      ...visits.map((kind) => `a listener was reached: ${kind}`),
    ],
    survivors: () => findMarked(mark),
    close: async () => {
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
      delete process.env['MOORING_ATTACK_SECRET'];
      rmSync(base, { recursive: true, force: true });
    },
  };
}

function listen(address: { port: number; host: string } | { path: string }, onVisit: () => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      onVisit();
      socket.destroy();
    });
    server.once('error', reject);
    server.listen(address, () => resolve(server));
  });
}

/** Every process of this machine whose environment or command line holds the mark. */
export function findMarked(mark: string): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      return ['environ', 'cmdline'].some((name) => {
        try {
          return readFileSync(`/proc/${pid}/${name}`, 'utf8').includes(mark);
        } catch {
          return false; // Ended meanwhile, or of another user and so not ours.
        }
      });
    });
}
