// Protects stdout while it carries the protocol: what other code prints there goes to the log instead. It cannot see
// bytes that bypass the stream: fs.writeSync(1, …) and child processes that inherit stdout.

import type { Writable } from 'node:stream';

/** A printed line longer than this is logged in parts; stops output without newlines from filling the memory. */
const maxLineLength = 8 * 1024;

/**
 * Passes each line that is printed to `stream` to `log` instead, until the returned function is called. Code that must
 * still write to the stream takes its `write` before.
 */
export function guardStdout(log: (line: string) => void, stream: Writable = process.stdout): () => void {
  const { write, end } = stream;
  let rest = '';
  let logging = false;

  const print = (text: string): void => {
    // A logger that itself prints to stdout would cause endless recursion.
    if (logging) {
      process.stderr.write(text);
      return;
    }
    logging = true;
    try {
      rest += text;
      for (let at = rest.indexOf('\n'); at !== -1 || rest.length > maxLineLength; at = rest.indexOf('\n')) {
        const length = at === -1 || at > maxLineLength ? maxLineLength : at;
        log(rest.slice(0, length).replace(/\r$/, ''));
        rest = rest.slice(length === at ? length + 1 : length);
      }
    } finally {
      logging = false;
    }
  };

  const guarded = (chunk: unknown, encoding?: unknown, callback?: unknown): boolean => {
    print(textOf(chunk, encoding));
    const done = typeof encoding === 'function' ? encoding : callback;
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
  stream.write = guarded as Writable['write'];
  stream.end = ((chunk?: unknown, encoding?: unknown, callback?: unknown) => {
    if (chunk !== undefined && chunk !== null && typeof chunk !== 'function') print(textOf(chunk, encoding));
    const done = [chunk, encoding, callback].find((argument) => typeof argument === 'function');
    if (typeof done === 'function') process.nextTick(done);
    return stream;
  }) as Writable['end'];

  return () => {
    stream.write = write;
    stream.end = end;
    if (rest !== '') log(rest);
    rest = '';
  };
}

function textOf(chunk: unknown, encoding: unknown): string {
  if (chunk instanceof Uint8Array) return Buffer.from(chunk).toString();
  const other = typeof encoding === 'string' && encoding !== 'utf8' && Buffer.isEncoding(encoding);
  return other ? Buffer.from(String(chunk), encoding).toString() : String(chunk);
}
