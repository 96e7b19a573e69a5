// mooring dev: runs a server file and restarts it when it changes, while the client stays connected.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DevListener } from '../../app/dev/index.ts';
import { lineForTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import { readArgs } from '../parse-args.ts';
import { openOutput } from '../ui/output.ts';
import { styleFor } from '../ui/style.ts';

const help = `Usage: mooring dev <file> [options]

Serves a TypeScript or JavaScript file on stdio, or over HTTP, and restarts it when the file, or one that it imports,
changes. The client stays connected and is notified that the lists of tools, resources and prompts changed. Calls, their
durations and errors are printed to stderr.

The file exports its server (export const server = createServer(…)), or, on stdio, serves it with serveStdio(server).
TypeScript needs Node 22.18 or later, or esbuild in the project.

Options:
  --http        serve over HTTP on 127.0.0.1 instead: sessions and event streams of clients stay open
  --port N      port of --http (default 8000; 0 picks a free one)
  -h, --help    show this help

Examples: as the command of a client, and for clients that connect to http://127.0.0.1:8000/mcp:
  npx mooring dev /home/ada/notes/src/server.ts
  npx mooring dev --http src/server.ts
`;

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArgs('dev', args, {
    http: { type: 'boolean' },
    port: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) {
    openOutput().write(help);
    return 0;
  }
  const [target, ...more] = positionals;
  if (target === undefined || more.length > 0) throw new UsageError('Usage: mooring dev <file> [--http] [--port N]');
  const port = portFrom(values.port, values.http === true);
  const file = resolve(target);
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new UsageError(`${file} is not a file. Name the file that exports or serves your server`);
  }
  const { serveDev, serveDevHttp } = await import('../../app/dev/index.ts');
  const style = styleFor(process.stderr);
  const print = (text: string): void => {
    process.stderr.write(`${style.faint(new Date().toLocaleTimeString('sv'))}  ${text}\n`);
  };
  const listener: DevListener = {
    onServing() {
      if (process.stdin.isTTY !== true) return;
      print('serving on stdin and stdout, for a client that starts this command. To try it in a terminal, use --http');
    },
    onCall({ method, name, durationMs, error }) {
      const what = name === undefined ? method : `${method} ${name}`;
      const took = style.faint(`${durationMs.toFixed(durationMs < 10 ? 1 : 0)} ms`);
      const failed = error === undefined ? '' : `  ${style.bad(`failed: ${lineForTerminal(error, 500)}`)}`;
      print(`${style.name(lineForTerminal(what))}  ${took}${failed}`);
    },
    onUnexpectedOutput: (line) => print(`${style.warn('not a message on stdout:')} ${lineForTerminal(line, 500)}`),
    onRestart: (changed) => print(`${style.good('restarting:')} ${lineForTerminal(changed)} changed`),
    onCrash: (message) => print(style.bad(lineForTerminal(message, 500))),
    onSlowStart: (message) => print(style.warn(lineForTerminal(message, 500))),
  };
  if (values.http !== true) {
    await serveDev(file, listener);
    return 0;
  }
  print(`listening on ${await serveDevHttp(file, port, listener)}`);
  return new Promise(() => {}); // A signal ends the process.
}

function portFrom(text: string | undefined, http: boolean): number {
  if (text === undefined) return 8000;
  if (!http) throw new UsageError('--port is for --http. On stdio there is no port');
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new UsageError(`--port ${text} is not a number from 0 to 65535`);
  return port;
}
