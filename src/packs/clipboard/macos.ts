// The macOS pasteboard through pbcopy and pbpaste, which are part of the system.

import { type ClipboardBackend, ClipboardError } from './backend.ts';
import { decodeText, type ProgramEnd, runProgram } from './program.ts';

/** Both use the locale; without one they decode UTF-8 as Mac Roman. */
const env = { LANG: 'en_US.UTF-8', LC_CTYPE: 'UTF-8' };

export function macosBackend(copyPath = '/usr/bin/pbcopy', pastePath = '/usr/bin/pbpaste'): ClipboardBackend {
  return {
    name: 'pasteboard',
    async read(signal, maxBytes) {
      const end = await runProgram(pastePath, ['-Prefer', 'txt'], { signal, maxBytes, env });
      if (end.code !== 0) throw explain('pbpaste', end);
      return decodeText(end.output);
    },
    async write(text, signal) {
      if (text.includes('\0')) throw new ClipboardError('the pasteboard cannot store a NUL character');
      const end = await runProgram(copyPath, [], { signal, input: text, env });
      if (end.code !== 0) throw explain('pbcopy', end);
    },
  };
}

function explain(name: string, { code, errors }: ProgramEnd): ClipboardError {
  return new ClipboardError(
    `${name} ended with ${code ?? 'a signal'}${errors === '' ? '' : ` (${errors.trim()})`}`,
    'Run the server in the session of a logged-in user',
  );
}
