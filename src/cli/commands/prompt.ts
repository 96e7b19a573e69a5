// mooring prompt: prints the messages of a prompt.

import { nearest } from '../../app/text/nearest.ts';
import { UsageError } from '../../app/usage-error.ts';
import { type Client, ClientError } from '../../client/index.ts';
import { connectionFlags, connectionHelp, pairs, targetHelp, withServer } from '../client/connection.ts';
import { requireQuotes } from '../client/positionals.ts';
import { showContent } from '../client/print-content.ts';
import { SavedFiles } from '../client/saved-files.ts';
import { command } from '../command.ts';
import { someOf } from './tools.ts';

const help = `Usage: mooring prompt <server> <prompt> [--arg name=value …] [options]

Prints the messages that a prompt returns for the given arguments.

Options:
  --arg name=value   an argument; repeatable
  --save DIR         folder for images and other files (default: a new temporary folder)

${targetHelp}
${connectionHelp}`;

const options = {
  ...connectionFlags,
  arg: { type: 'string', multiple: true },
  save: { type: 'string' },
} as const;

export const run = command({ name: 'prompt', help, options }, async ({ values, positionals, out }) => {
  const [target, name, ...more] = positionals;
  await requireQuotes({ command: 'prompt', after: '<prompt>' }, positionals, values.config);
  if (target === undefined || name === undefined || more.length > 0) {
    throw new UsageError('Usage: mooring prompt <server> <prompt> [--arg name=value]');
  }
  const given = pairs(values.arg ?? [], '--arg');
  return withServer(target, values, out, async (client, signal) => {
    const result = await client.getPrompt(name, given, { signal }).catch(async (error: unknown) => {
      if (error instanceof ClientError && error.code === 'server-error') await requirePrompt(client, name, signal);
      throw error;
    });
    if (values.json === true) {
      out.json(result);
      return 0;
    }
    const files = new SavedFiles(values.save);
    for (const [i, { role, content }] of result.messages.entries()) {
      out.write(`${i === 0 ? '' : '\n'}${out.style.faint(`${role}:`)}\n`);
      showContent([content], out, files);
    }
    return 0;
  });
});

/** Throws if the server has no prompt of that name, with the one that was probably meant. */
async function requirePrompt(client: Client, name: string, signal: AbortSignal): Promise<void> {
  const prompts = client.capabilities['prompts'] === undefined ? [] : await client.listPrompts({ signal });
  const names = prompts.map((prompt) => prompt.name);
  if (names.includes(name)) return;
  const meant = nearest(name, names);
  const hint = meant === undefined ? `the server ${someOf(names, 'prompts')}` : `did you mean ${meant}?`;
  throw new UsageError(`There is no prompt ${JSON.stringify(name)}; ${hint}`);
}
