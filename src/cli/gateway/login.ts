// mooring gateway login: stores the inputs and secrets of a configuration, and signs in to a server.

import { enterValues, signIn } from '../../app/gateway/login.ts';
import { lineForTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import { command } from '../command.ts';
import { findServer } from './find-server.ts';

const help = `Usage: mooring gateway login [SERVER] [--config FILE]… [--again]

Asks at the terminal for the inputs and secrets of the configuration that are not known yet, and stores them in a file
that only you can read, for gateways that a client starts. With SERVER, it also signs in to that server with the browser,
if the server requires it. With MOORING_CREDENTIALS_KEY (32 random bytes in base64) that file is encrypted.

Options:
  --config FILE    a configuration file; repeatable (default: your user configuration)
  --again          ask for stored values again, to replace them
  -h, --help       show this help
`;

const options = {
  config: { type: 'string', multiple: true },
  again: { type: 'boolean' },
} as const;

export const run = command({ name: 'gateway login', help, options }, async ({ values, positionals, out }) => {
  const [named, ...more] = positionals;
  if (more.length > 0) throw new UsageError('Usage: mooring gateway login [SERVER]');
  const { config, entered } = await enterValues({ files: values.config ?? [], again: values.again === true });
  if (entered.length > 0) out.info(`Stored: ${entered.map((id) => lineForTerminal(id)).join(', ')}\n`);
  else if (named === undefined) out.info('All inputs and secrets are known\n');
  if (named === undefined) return 0;
  const server = findServer(named, config.servers);
  await signIn(server);
  out.info(`Signed in to ${server.slug}\n`);
  return 0;
});
