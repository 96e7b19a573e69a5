// The Windows clipboard, from Windows itself and from WSL: Windows PowerShell, which is part of the system, calls the
// Win32 clipboard. The scripts are constant; the text is passed as base64 through the pipes, so neither a shell nor a
// code page can change it.

import { type ClipboardBackend, ClipboardError } from './backend.ts';
import { runProgram } from './program.ts';

const prelude =
  "$ErrorActionPreference='Stop';$ProgressPreference='SilentlyContinue';Add-Type -AssemblyName System.Windows.Forms;";

const readScript = `${prelude}$t=[Windows.Forms.Clipboard]::GetText([Windows.Forms.TextDataFormat]::UnicodeText);
[Console]::Out.Write([Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes($t)))`;

// The last two arguments retry while another program has the clipboard open; `$true` keeps the text after the exit.
const writeScript = `${prelude}$t=[Text.Encoding]::UTF8.GetString([Convert]::FromBase64String([Console]::In.ReadToEnd()));
if($t.Length -eq 0){[Windows.Forms.Clipboard]::Clear()}else{[Windows.Forms.Clipboard]::SetDataObject($t,$true,20,50)}`;

/** `-STA`: the clipboard requires a single-threaded apartment. `-EncodedCommand`: no quoting needed. */
const argsFor = (script: string): readonly string[] => [
  '-NoLogo',
  '-NoProfile',
  '-NonInteractive',
  '-STA',
  '-EncodedCommand',
  Buffer.from(script, 'utf16le').toString('base64'),
];

export function windowsBackend(powershellPath: string, name = 'windows'): ClipboardBackend {
  const run = async (script: string, signal: AbortSignal, input: string, maxBytes?: number): Promise<string> => {
    const limit = maxBytes === undefined ? {} : { maxBytes: Math.ceil(maxBytes / 3) * 4 + 4 };
    const end = await runProgram(powershellPath, argsFor(script), { signal, input, ...limit });
    if (end.code !== 0) {
      throw new ClipboardError(`PowerShell ended with ${end.code ?? 'a signal'}`, undefined, new Error(end.errors));
    }
    return end.output.toString('latin1').trim();
  };
  return {
    name,
    read: async (signal, maxBytes) =>
      Buffer.from(await run(readScript, signal, '', maxBytes), 'base64').toString('utf8'),
    async write(text, signal) {
      if (text.includes('\0')) throw new ClipboardError('the Windows clipboard cannot contain a NUL character');
      await run(writeScript, signal, Buffer.from(text, 'utf8').toString('base64'));
    },
  };
}
