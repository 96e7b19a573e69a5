// Where commands write: results go to stdout, messages to stderr.

import { type Style, styleFor } from './style.ts';

export interface Output {
  readonly style: Style;
  /** Columns of the terminal behind stdout; undefined when there is none. */
  readonly width: number | undefined;
  write(text: string): void;
  /** For messages, which must not end up in a pipe. */
  info(text: string): void;
  /** Any value, as JSON for programs. */
  json(value: unknown): void;
}

/** The terminal, or the pipes, of this process. */
export function openOutput(): Output {
  endWithStdout();
  const { stdout, stderr } = process;
  return {
    style: styleFor(stdout),
    width: stdout.isTTY === true ? Math.max(40, stdout.columns || 80) : undefined,
    write: (text) => void stdout.write(text),
    info: (text) => void stderr.write(text),
    json: (value) => void stdout.write(`${JSON.stringify(value, null, 2)}\n`),
  };
}

/** A reader that closed the pipe (`| head`) is not an error; a file that cannot be written is. */
function endWithStdout(): void {
  process.stdout.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.on('error', () => {}); // It may be the same file.
    process.stderr.write(`mooring: The output cannot be written: ${error.message}\n`);
    process.exit(1);
  });
}
