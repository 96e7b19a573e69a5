// The Wayland clipboard through wl-copy and wl-paste (package wl-clipboard). wl-copy leaves a process behind that
// offers the text, as Wayland requires; it ends when another program copies something.

import { type ClipboardBackend, ClipboardError, noDisplay } from './backend.ts';
import { decodeText, type ProgramEnd, runProgram, untilVisible } from './program.ts';

export function waylandBackend(copyPath: string, pastePath: string): ClipboardBackend {
  const read = async (signal: AbortSignal, maxBytes: number): Promise<string> => {
    const end = await runProgram(pastePath, ['--no-newline', '--type', 'text'], { signal, maxBytes });
    if (end.code === 0) return decodeText(end.output);
    if (/nothing is copied|no selection|no suitable type/i.test(end.errors)) return '';
    throw explain('wl-paste', end);
  };
  return {
    name: 'wl-clipboard',
    read,
    async write(text, signal) {
      // Explicit type: otherwise wl-copy runs other programs to detect it.
      const args = text === '' ? ['--clear'] : ['--type', 'text/plain'];
      const end = await runProgram(copyPath, args, { signal, input: text, leavesOwner: true });
      if (end.code !== 0) throw explain('wl-copy', end);
      await untilVisible(text, read, signal);
    },
  };
}

function explain(name: string, { code, errors }: ProgramEnd): ClipboardError {
  if (/connect to a wayland server/i.test(errors)) return noDisplay(new Error(errors.trim()));
  return new ClipboardError(`${name} ended with ${code ?? 'a signal'}${errors === '' ? '' : ` (${errors.trim()})`}`);
}
