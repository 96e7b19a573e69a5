// Ends a process of Windows with everything that it has started. A signal ends one process there: of a batch file, such as npx.cmd,
// only the shell, while the server would keep running.

import { execFile } from 'node:child_process';
import { win32 } from 'node:path';

const folder = win32.join(process.env['SystemRoot'] || 'C:\\Windows', 'System32');

/** Calls `failed` if they could not be ended. */
export function endTree(pid: number, failed: () => void, program = win32.join(folder, 'taskkill.exe')): void {
  execFile(program, ['/pid', String(pid), '/t', '/f'], { windowsHide: true }, (error) => {
    if (error !== null) failed();
  });
}
