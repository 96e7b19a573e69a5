// Builds the HTTP fixture once and starts it as a process of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { HttpTestClient } from './http-client.ts';

const children = new Set<ChildProcess>();
let directory = '';

/** Registers the build before, and the cleaning up after, the tests of the calling file. */
export function useHttpProcess(): void {
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'mooring-http-'));
    await build({
      entryPoints: [join(import.meta.dirname, '../e2e/fixtures/http-process.ts')],
      outfile: join(directory, 'server.mjs'),
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      external: ['ws', 'ajv', 'ajv/*'],
      logLevel: 'warning',
    });
  });
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });
}

export interface HttpProcess {
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;
  readonly client: HttpTestClient;
}

/** Starts a server and waits until it listens. */
export async function startHttpProcess(env: Record<string, string> = {}): Promise<HttpProcess> {
  const child = spawn(process.execPath, [join(directory, 'server.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  children.add(child);
  const exit = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).once('line', (line) => resolve(Number(line)));
    void exit.then((code) => reject(new Error(`the server exited with ${code}`)));
  });
  return { child, exit, client: new HttpTestClient(port) };
}
