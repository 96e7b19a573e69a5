// The words of a client command: the server, and what the command needs besides.

import { isNamedFile, isUnquotedCommand } from '../../app/targets.ts';
import { UsageError } from '../../app/usage-error.ts';

interface Words {
  /** As typed after `mooring`. */
  readonly command: string;
  /** What must follow the server, as in the help: `<tool>`. */
  readonly after?: string;
}

/**
 * Throws if the server is a command line without quotes: its first word alone would be started, and most programs then wait
 * for input until the time limit.
 */
export async function requireQuotes(
  { command, after }: Words,
  words: readonly string[],
  configFile: string | undefined,
): Promise<void> {
  if (!(await isUnquotedCommand(words, configFile))) return;
  const count = isNamedFile(words[1] ?? '') ? 2 : words.length - (after !== undefined && words.length > 2 ? 1 : 0);
  const rest = words.slice(count);
  if (rest.length === 0 && after !== undefined) rest.push(after);
  const quoted = JSON.stringify(words.slice(0, count).join(' '));
  throw new UsageError(`A command line must be in quotes: mooring ${[command, quoted, ...rest].join(' ')}`);
}
