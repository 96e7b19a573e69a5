// The program that `mooring dev` starts: runs a server file, and serves the server that it exports, over HTTP or
// on stdio, unless the file has done that itself.
//
//   node run-file.js FILE ESBUILD [--http]     (ESBUILD: the file of esbuild, or empty)

import { once } from 'node:events';
import { register } from 'node:module';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Server } from '../../engine/server.ts';
import { serveStdio } from '../../transports/stdio.ts';
import type { HookData } from './loader-hooks.ts';

const [node, , file, esbuild, mode] = process.argv as [string, string, string, string, string?];
const data: HookData = { esbuild: esbuild === '' ? undefined : esbuild };
process.setSourceMapsEnabled(true);
register('./loader-hooks.js', import.meta.url, { data });
// The file sees the arguments as if it had been started directly.
process.argv = [node, file];
// Listened for before the file runs, so that it is not missed.
const started = mode === '--http' ? once(process, 'message') : undefined;
if (started === undefined) process.stdin.on('newListener', reportReading);

const exported = await import(pathToFileURL(file).href);
if (started !== undefined) {
  const { serveForDev } = await import('./serve-for-dev.ts');
  await serveForDev(exportedServer('With --http, it must'), started);
} else if (process.stdin.listenerCount('data') === 0 && process.stdin.listenerCount('readable') === 0) {
  // A file that serves on stdio reads stdin by now.
  await serveStdio(exportedServer('It does not serve on stdio, so it must'));
}

/** Not at once: a loop that follows in the file would keep the server from reading. */
function reportReading(event: string | symbol): void {
  if (event !== 'data' && event !== 'readable') return;
  process.stdin.off('newListener', reportReading);
  // Without the callback, an error would end a server that has closed the channel, which is reported by itself.
  setImmediate(() => process.send?.('reading', () => {}));
}

function exportedServer(requirement: string): Server {
  const server = [exported.server, exported.default].find((each) => typeof each?.connect === 'function');
  if (server !== undefined) return server;
  process.stderr.write(`${basename(file)} exports no server. ${requirement}: export const server = createServer(…)\n`);
  process.exit(1);
}
