// mooring gateway import: takes the servers of a client over into a file for the gateway.

import { resolve } from 'node:path';
import { shortened } from '../../app/config/folders.ts';
import { gatewayFileText, importServers, replaceInClient, writeGatewayFile } from '../../app/gateway/import-servers.ts';
import { UsageError } from '../../app/usage-error.ts';
import { command } from '../command.ts';
import { clientName } from '../commands/install.ts';
import { printNotes } from './print-notes.ts';

const help = `Usage: mooring gateway import --from CLIENT [options]

Prints the servers of a client as a configuration for the gateway. "mooring install --list" shows the clients.

Options:
  --from CLIENT    claude-desktop, claude-code, cursor, vscode, codex, gemini, windsurf …
  --output FILE    write them to this file instead, readable only by you
  --replace        replace them in the client with the gateway, and keep a backup of its file; needs --output
  --shared         with --replace: the client shares the gateway with your other clients ("mooring connect")
  --project        read the client's project configuration in this folder
  --file FILE      read this file
  -h, --help       show this help

Example:
  mooring gateway import --from cursor --output ~/.config/mooring/gateway.json --replace
`;

const options = {
  from: { type: 'string' },
  output: { type: 'string' },
  replace: { type: 'boolean' },
  shared: { type: 'boolean' },
  project: { type: 'boolean' },
  file: { type: 'string' },
} as const;

export const run = command({ name: 'gateway import', help, options, maxWords: 0 }, async ({ values, out }) => {
  if (values.from === undefined) throw new UsageError('Name the client: mooring gateway import --from CLIENT');
  if (values.replace === true && values.output === undefined) {
    throw new UsageError('--replace needs --output FILE: the gateway reads the servers from that file');
  }
  if (values.shared === true && values.replace !== true) {
    throw new UsageError('--shared is for --replace; to start it yourself: mooring connect --config FILE');
  }
  const imported = await importServers(
    clientName(values.from),
    values.project === true ? 'project' : 'user',
    values.file,
  );
  const text = gatewayFileText(imported);
  const count = Object.keys(imported.servers).length;
  if (imported.gateways.length > 0) {
    const names = imported.gateways.map(({ name }) => name).join(', ');
    out.info(`Not imported, because it is the gateway itself: ${names}\n`);
  }
  printNotes(imported.notes, out);
  if (values.output === undefined) {
    out.write(text);
    return 0;
  }
  const file = resolve(values.output);
  writeGatewayFile(file, text);
  out.write(`${count} server${count === 1 ? '' : 's'} of ${shortened(imported.file)} in ${shortened(file)}\n`);
  if (values.replace !== true) {
    out.write(`Start it: mooring gateway --config ${shortened(file)}\n`);
    return 0;
  }
  const isOfProject = values.project === true;
  const sharedIn = values.shared === true ? (isOfProject ? process.cwd() : '~') : undefined;
  const { backup } = replaceInClient(imported, file, sharedIn);
  out.write(
    `${shortened(imported.file)} ${sharedIn === undefined ? 'starts the gateway' : 'uses the shared gateway'} now${backup === undefined ? '' : `; backup: ${shortened(backup)}`}\n`,
  );
  return 0;
});
