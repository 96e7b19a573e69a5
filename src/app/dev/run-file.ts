// The program that `mooring dev` starts: runs a server file, and serves on stdio the server that it exports, unless the
// file has done so itself.
//
//   node run-file.js FILE ESBUILD     (ESBUILD: the file of esbuild, or empty)

import { register } from 'node:module';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Host } from '../../protocol/exchange.ts';
import { serveStdio } from '../../transports/stdio.ts';
import type { HookData } from './loader-hooks.ts';

const [node, , file, esbuild] = process.argv as [string, string, string, string];
const data: HookData = { esbuild: esbuild === '' ? undefined : esbuild };
process.setSourceMapsEnabled(true);
register('./loader-hooks.js', import.meta.url, { data });

// What the file sees is as if it had been started itself.
process.argv = [node, file];
const exported = await import(pathToFileURL(file).href);
// A file that serves on stdio reads stdin by now.
if (process.stdin.listenerCount('data') === 0 && process.stdin.listenerCount('readable') === 0) {
  const host = [exported.server, exported.default].find(isHost);
  if (host === undefined) {
    process.stderr.write(
      `${basename(file)} does not serve on stdio and exports no server. Add: export const server = createServer(…)\n`,
    );
    process.exit(1);
  }
  await serveStdio(host);
}

function isHost(value: unknown): value is Host {
  return typeof (value as Host | undefined)?.connect === 'function';
}
