// A pipe to a child process that speaks one JSON-RPC message a line, for bridge.ts.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type Bridge, type OpenPipe, startBridge } from './bridge.ts';
import { parseMessage } from './wire.ts';

/** How long a child may take to leave after its stdin has ended before it is killed. */
const graceMs = 5_000;

/** Starts a bridge that runs one child per session, and one for all stateless requests. */
export function startStdioBridge(command: readonly string[]): Promise<Bridge> {
  return startBridge(stdioPipe(command));
}

/** Opens pipes to children started with this argv; lines that are not JSON-RPC are ignored, stderr is kept for the reason of an exit. */
export function stdioPipe([file, ...args]: readonly string[]): OpenPipe {
  return async (events) => {
    const child = spawn(file as string, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-4_096);
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      const message = parseMessage(line);
      if (message) events.message(message);
    });
    // The pipe breaks when the child dies first; its exit is reported below.
    child.stdin.on('error', () => {});
    const gone = new Promise<void>((done) => {
      const end = (reason: string) => {
        events.closed(`${reason}\n${complaint}`.trim());
        done();
      };
      child.once('error', (cause) => end(`could not start ${file}: ${cause.message}`));
      child.once('close', (code, signal) => end(`the server under test exited (${signal ?? code})`));
    });
    return {
      send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
      close: async () => {
        child.stdin.end();
        const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
        await gone;
        clearTimeout(timer);
      },
    };
  };
}
