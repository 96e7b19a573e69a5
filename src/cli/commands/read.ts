// mooring read: prints the contents of a resource.

import { writeFileSync } from 'node:fs';
import { UsageError } from '../../app/usage-error.ts';
import { connectionFlags, connectionHelp, targetHelp, withServer } from '../client/connection.ts';
import { requireQuotes } from '../client/positionals.ts';
import { showResource } from '../client/print-content.ts';
import { formatBytes, SavedFiles } from '../client/saved-files.ts';
import type { ResourceContents } from '../client/types.ts';
import { command } from '../command.ts';

const help = `Usage: mooring read <server> <uri> [options]

Prints the contents of a resource. In a pipe, and with -o, the bytes are written unchanged.

Options:
  -o, --output FILE  write the contents to this file
  --save DIR         folder for images and other files (default: a new temporary folder)

${targetHelp}
${connectionHelp}`;

const options = {
  ...connectionFlags,
  output: { type: 'string', short: 'o' },
  save: { type: 'string' },
} as const;

export const run = command({ name: 'read', help, options }, async ({ values, positionals, out }) => {
  const [target, uri, ...more] = positionals;
  await requireQuotes({ command: 'read', after: '<uri>' }, positionals, values.config);
  if (target === undefined || uri === undefined || more.length > 0)
    throw new UsageError('Usage: mooring read <server> <uri>');
  return withServer(target, values, out, async (client, signal) => {
    const result = await client.readResource(uri, { signal });
    if (values.json === true) {
      out.json(result);
      return 0;
    }
    if (values.output !== undefined) {
      const bytes = Buffer.concat(result.contents.map(bytesOf));
      writeFileSync(values.output, bytes);
      out.info(`${formatBytes(bytes.length)} written to ${values.output}\n`);
      return 0;
    }
    const files = new SavedFiles(values.save);
    for (const contents of result.contents) {
      if (out.width === undefined) process.stdout.write(bytesOf(contents));
      else showResource(contents, out, files);
    }
    return 0;
  });
});

function bytesOf({ text, blob }: ResourceContents): Buffer {
  return text === undefined ? Buffer.from(blob ?? '', 'base64') : Buffer.from(text);
}
