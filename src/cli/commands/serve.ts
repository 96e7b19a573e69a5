// mooring serve [profile]: the options, as words.

import { parseArgs } from 'node:util';
import { profiles } from '../../app/profiles/index.ts';
import { ServeError, serve } from '../../app/serve.ts';
import { UsageError } from '../usage.ts';

const help = (): string => `Usage: mooring serve [profile] [options]

Profiles:
${Object.entries(profiles)
  .map(([name, { about }]) => `  ${name.padEnd(14)}${about}`)
  .join('\n')}

Options:
  -h, --help    show this

Environment:
  MCP_LOG_LEVEL   debug, info, notice, warning, error (default info)
  MCP_LOG_JSON    true: one JSON object per log line
`;

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args);
  if (values.help === true) {
    process.stdout.write(help());
    return 0;
  }
  if (positionals.length > 1) throw new UsageError(`One profile at a time, not ${positionals.join(', ')}`);
  try {
    await serve({ ...(positionals[0] === undefined ? {} : { profile: positionals[0] }) });
  } catch (error) {
    throw error instanceof ServeError ? new UsageError(error.message) : error;
  }
  return 0;
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: { help: { type: 'boolean', short: 'h' } } });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}. See "mooring serve --help"`);
  }
}
