// Why a server ended, where its stderr shows it, and what to do about it.

import { parseAddress } from '../../common/ip-address.ts';
import type { FindingId } from './findings.ts';

interface StderrCause {
  readonly id: FindingId;
  readonly pattern: RegExp;
  readonly remedy: string;
}

/** Causes that can be recognised in stderr; the first match counts. */
const stderrCauses: readonly StderrCause[] = [
  {
    id: 'port-in-use',
    pattern: /EADDRINUSE|address already in use/i,
    remedy: 'Stop the other process, or give the server another port.',
  },
  {
    id: 'package-not-found',
    pattern:
      /\bE404\b|404 Not Found - GET|No matching version found|could not determine executable|not found in the package registry/i,
    remedy: 'Check the name and version of the package.',
  },
  {
    id: 'node-too-old',
    pattern: /Unknown file extension "\.[cm]?ts"/,
    remedy: 'This Node.js does not run TypeScript. Use Node.js 22.18 or later, or start it with tsx: npx tsx FILE',
  },
  {
    id: 'node-too-old',
    pattern:
      /Unsupported engine|ERR_UNKNOWN_BUILTIN_MODULE|ERR_REQUIRE_ESM|(requires?|needs?|upgrade to) (at least )?node(\.?js)?\b/i,
    remedy: 'Install a newer Node.js, and make sure that the client starts that one.',
  },
  {
    // Nothing has required the module: it is the script itself.
    id: 'script-not-found',
    pattern: /Cannot find module [\s\S]*requireStack: \[\]/,
    remedy: 'Check the path of the script. Clients start a server in another folder, so give them an absolute path.',
  },
  {
    id: 'module-not-found',
    pattern: /Cannot find (module|package)|ERR_MODULE_NOT_FOUND|ModuleNotFoundError|No module named/,
    remedy: 'Install the dependencies of the server (npm install, pip install), and build it if it needs that.',
  },
  {
    id: 'env-required',
    pattern:
      /environment variable|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b.{0,40}\b(required|missing|not set|must be set|undefined|not found)|\b(required|missing|set|pass|provide)\b.{0,40}\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/,
    remedy: 'Add the variable to "env" of the entry, or pass it with --env NAME=VALUE.',
  },
  {
    id: 'permission-denied',
    pattern: /EACCES|EPERM|EROFS|permission denied|read-only file system/i,
    remedy: 'Give the server a folder that it may write, or correct the permissions.',
  },
];

/** The cause that a text on stderr shows; undefined if it shows none that is known. */
export const stderrCauseIn = (stderr: string): StderrCause | undefined =>
  stderrCauses.find(({ pattern }) => pattern.test(stderr));

/** The URL at which a log says that an HTTP server listens; undefined if it names none. */
export function listeningUrlIn(log: string): string | undefined {
  if (!/listen|running|started|serving|server|available/i.test(log)) return undefined;
  return log.match(/https?:\/\/[^\s"'<>,]+/g)?.find(isListeningUrl);
}

/** Servers log the port that they listen on, or an address of this machine. A documentation page has neither. */
function isListeningUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname, port } = new URL(text);
  return port !== '' || hostname === 'localhost' || parseAddress(hostname) !== undefined;
}
