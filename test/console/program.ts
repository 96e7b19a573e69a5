// Starts the program and waits for the link of its console.

import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Home, RunOptions } from '../support/program.ts';
import { ConsoleClient } from './console-client.ts';

export interface StartedConsole {
  readonly client: ConsoleClient;
  readonly child: ChildProcess;
  /** The lines on stderr so far. */
  readonly lines: readonly string[];
  /** The rest of the line that begins with these words. */
  said(words: string): Promise<string>;
}

/** Runs `mooring` with a console. */
export async function startConsole(
  home: Home,
  args: readonly string[],
  options: RunOptions = {},
): Promise<StartedConsole> {
  const child = home.start(args, options);
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let isOver = false;
  const wake = (): void => {
    for (const each of waiting) each();
    waiting.clear();
  };
  createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
    lines.push(line);
    wake();
  });
  child.once('close', () => {
    isOver = true;
    wake();
  });
  const said = async (words: string): Promise<string> => {
    for (;;) {
      const found = lines.find((line) => line.startsWith(words));
      if (found !== undefined) return found.slice(words.length);
      if (isOver) throw new Error(`The program has ended:\n${lines.join('\n')}`);
      await new Promise<void>((resolve) => waiting.add(resolve));
    }
  };
  return { client: new ConsoleClient(await said('console on ')), child, lines, said };
}

/** How a process ended. */
export function endOf(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve({ code: child.exitCode, signal: child.signalCode });
  }
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
}
