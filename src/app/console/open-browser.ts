// Asks the desktop to open an address of this machine.

import { spawn } from 'node:child_process';

/** Without a desktop this does nothing; the address has been printed. */
export function openBrowser(url: string): void {
  const { command, args } = openerFor(url);
  const child = spawn(command, args, { stdio: 'ignore', detached: true, shell: false });
  child.on('error', () => {});
  child.unref();
}

function openerFor(url: string): { command: string; args: string[] } {
  if (process.platform === 'darwin') return { command: '/usr/bin/open', args: [url] };
  if (process.platform === 'win32') return { command: 'rundll32', args: ['url.dll,FileProtocolHandler', url] };
  return { command: 'xdg-open', args: [url] };
}
