// The server under test: how it is started over stdio and over HTTP, and how it is ended.
// The suite can be pointed at another server (to test the harness itself) by MOORING_SUBJECT_STDIO and MOORING_SUBJECT_HTTP.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** How long the server may take until it listens. */
const startLimitMs = 60_000;

/** The argv of the `everything` server on stdio. */
export const stdioSubject: readonly [string, ...string[]] = fromEnvironment('MOORING_SUBJECT_STDIO') ?? [
  process.execPath,
  cli,
  'serve',
  'everything',
];

/** A running HTTP server under test and the addresses of its transports. */
export interface HttpSubject {
  readonly url: string;
  readonly sseUrl: string;
  readonly webSocketUrl: string;
  close(): Promise<void>;
}

/** Starts the `everything` server on a free port and waits until it says that it listens. */
export async function startHttpSubject(...extraArgs: string[]): Promise<HttpSubject> {
  const [file, ...args] = fromEnvironment('MOORING_SUBJECT_HTTP') ?? [...stdioSubject, '--http', '--port', '0'];
  const child = spawn(file, [...args, ...extraArgs], { stdio: ['ignore', 'ignore', 'pipe'] });
  const said: string[] = [];
  const gone = new Promise<void>((done) => child.once('close', () => done()));

  const url = await new Promise<string>((found, failed) => {
    const giveUp = (why: string) => failed(new Error(`The server under test ${why}:\n${said.join('\n')}`));
    const timer = setTimeout(() => giveUp(`did not listen within ${startLimitMs} ms`), startLimitMs);
    createInterface({ input: child.stderr }).on('line', (line) => {
      said.push(line);
      const address = /listening on (http:\/\/[^\s"]+)/.exec(line)?.[1];
      if (!address) return;
      clearTimeout(timer);
      found(address);
    });
    child.once('error', (cause) => giveUp(`could not be started (${cause.message})`));
    child.once('exit', (code) => giveUp(`exited with ${code}`));
  }).catch(async (cause: unknown) => {
    child.kill('SIGKILL');
    throw cause;
  });

  return {
    url,
    sseUrl: new URL('/sse', url).href,
    webSocketUrl: url.replace(/^http/, 'ws'),
    close: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await gone;
      clearTimeout(timer);
    },
  };
}

function fromEnvironment(name: string): [string, ...string[]] | undefined {
  const words = process.env[name]?.split(' ').filter(Boolean);
  return words?.length ? (words as [string, ...string[]]) : undefined;
}
