// The X11 clipboard through xclip or xsel. Both leave a process behind that owns the selection, as X11 requires; it
// ends when another program copies something.

import { type ClipboardBackend, ClipboardError, noDisplay } from './backend.ts';
import { decodeText, type ProgramEnd, runProgram, untilVisible } from './program.ts';

interface ClipboardTool {
  readonly name: string;
  readonly readArgs: readonly string[];
  readonly writeArgs: readonly string[];
  /** Whether it stores texts as C strings. */
  readonly endsAtNul: boolean;
}

const xclip: ClipboardTool = {
  name: 'xclip',
  readArgs: ['-selection', 'clipboard', '-out'],
  writeArgs: ['-selection', 'clipboard', '-in'],
  endsAtNul: false,
};

const xsel: ClipboardTool = {
  name: 'xsel',
  readArgs: ['--clipboard', '--output'],
  writeArgs: ['--clipboard', '--input'],
  endsAtNul: true,
};

export const xclipBackend = (path: string): ClipboardBackend => x11Backend(path, xclip);
export const xselBackend = (path: string): ClipboardBackend => x11Backend(path, xsel);

function x11Backend(path: string, tool: ClipboardTool): ClipboardBackend {
  const read = async (signal: AbortSignal, maxBytes: number): Promise<string> => {
    const end = await runProgram(path, tool.readArgs, { signal, maxBytes });
    if (end.code === 0) return decodeText(end.output);
    // The selection has no owner, or its owner has no text.
    if (/target \S+ not available/i.test(end.errors)) return '';
    throw explain(tool.name, end);
  };
  return {
    name: tool.name,
    read,
    async write(text, signal) {
      if (tool.endsAtNul && text.includes('\0')) {
        throw new ClipboardError(`${tool.name} cannot store a NUL character`, 'Install xclip');
      }
      const end = await runProgram(path, tool.writeArgs, { signal, input: text, leavesOwner: true });
      if (end.code !== 0) throw explain(tool.name, end);
      await untilVisible(text, read, signal);
    },
  };
}

function explain(name: string, { code, errors }: ProgramEnd): ClipboardError {
  if (/can't open display|unable to open display/i.test(errors)) return noDisplay(new Error(errors.trim()));
  return new ClipboardError(`${name} ended with ${code ?? 'a signal'}${errors === '' ? '' : ` (${errors.trim()})`}`);
}
