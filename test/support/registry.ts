// An npm registry on loopback for tests that install packages: it offers the packages of this repository as `npm pack` makes
// them, and every other package from node_modules. Nothing is downloaded.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packPackage } from './packed-package.ts';

const root = resolve(import.meta.dirname, '../..');

export interface Registry {
  readonly url: string;
  close(): Promise<void>;
}

/** The packages of this repository, and their folders. */
const own: Readonly<Record<string, string>> = {
  mooring: root,
  'create-mooring': join(root, 'packages/create-mooring'),
};

/** Serves these packages, and what they depend on. */
export async function startRegistry(): Promise<Registry> {
  const folder = mkdtempSync(join(tmpdir(), 'mooring-registry-'));
  const packed = Object.fromEntries(Object.entries(own).map(([name, cwd]) => [name, packPackage(cwd).tarball]));

  const manifest = (name: string): string => join(own[name] ?? join(root, 'node_modules', name), 'package.json');
  const made = new Map<string, Buffer>();
  const tarball = (name: string): Buffer => {
    const file = packed[name];
    if (file !== undefined) return readFileSync(file);
    const known = made.get(name);
    if (known !== undefined) return known;
    // npm expects all files below one folder; following the link gives it that name.
    const place = join(folder, name);
    mkdirSync(place, { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(place, 'package'));
    const archive = execFileSync('tar', ['-chf', '-', 'package'], { cwd: place, maxBuffer: 256 * 1024 * 1024 });
    const tarball = gzipSync(archive, { level: 1 });
    made.set(name, tarball);
    return tarball;
  };

  const server: Server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '').slice(1));
    const isTarball = path.endsWith('.tgz');
    const name = path.replace(/\/-\.tgz$/, '');
    if (!/^(@[\w.-]+\/)?[\w-][\w.-]*$/.test(name) || !existsSync(manifest(name))) {
      response.writeHead(404).end('{}');
      return;
    }
    if (isTarball) {
      response.end(tarball(name));
      return;
    }
    const { scripts: _, ...described } = JSON.parse(readFileSync(manifest(name), 'utf8'));
    const { port } = server.address() as AddressInfo;
    const version = { ...described, dist: { tarball: `http://127.0.0.1:${port}/${name}/-.tgz` } };
    const latest = described.version as string;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: { [latest]: version } }));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
