// Shows a URL to the user at this machine. The URL contains text of an untrusted server: it goes to the opener as one
// argument of an argv array, never through a shell, and only if it is http or https.
import { spawn } from 'node:child_process';
import { authErrors } from '../errors.ts';

/** Shows a URL to the user. */
export type OpenUrl = (url: URL) => void;

/** Prints the URL on stderr (stdout may carry a protocol) and asks the desktop to open it. */
export function openInBrowser(url: URL): void {
  const { command, args } = openerFor(url);
  process.stderr.write(`Open this address to sign in:\n  ${args.at(-1)}\n`);
  const child = spawn(command, args, { stdio: 'ignore', detached: true, shell: false });
  // No desktop here: the printed address is what remains.
  child.on('error', () => {});
  child.unref();
}

/** The program and its arguments for a platform. */
export function openerFor(url: URL, platform: NodeJS.Platform = process.platform): { command: string; args: string[] } {
  const address = printable(url);
  if (platform === 'darwin') return { command: '/usr/bin/open', args: [address] };
  if (platform === 'win32') return { command: 'rundll32', args: ['url.dll,FileProtocolHandler', address] };
  return { command: 'xdg-open', args: [address] };
}

/**
 * The URL in characters that mean nothing to shells and terminals. We use no shell, but an opener may be a script, and
 * percent-encoding costs nothing.
 */
function printable(url: URL): string {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw authErrors.insecureUrl('the sign-in address', url.href, 'only http and https are opened');
  }
  return url.href.replace(/[^\w\-.~:/?#[\]@!&*+,=%]/g, (char) =>
    [...Buffer.from(char)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}
