// mooring gateway restart: restarts a server of the running gateway.

import { findGateway } from '../../app/gateway/running.ts';
import { lineForTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import { command } from '../command.ts';
import { findServer } from './find-server.ts';

const help = `Usage: mooring gateway restart SERVER [--pid N]

Ends the processes and connections of a server and starts it again, or starts one that does not run. Calls in progress
fail. Exit code: 1 if it does not start.

Options:
  --pid N      the gateway with this process id, if several are running
  -h, --help   show this help
`;

const options = {
  pid: { type: 'string' },
} as const;

export const run = command({ name: 'gateway restart', help, options }, async ({ values, positionals, out }) => {
  const [server, ...more] = positionals;
  if (server === undefined || more.length > 0) throw new UsageError('Usage: mooring gateway restart SERVER');
  const running = await findGateway(values.pid);
  if (running === undefined) throw new Error('No gateway is running, so there is nothing to restart');
  const { slug, state, connections } = findServer(server, await running.status());
  if (state === 'disabled') throw new Error(`${slug} is disabled in the configuration, so it was not restarted`);
  const wasRunning = connections > 0 || state === 'starting';
  await running.restart(slug);
  const now = (await running.status()).find((each) => each.slug === slug);
  // With a connection for each call, none is open now. A reason is that of a server that has ended already.
  if (now?.state === 'ready' || (now?.state === 'idle' && now.reason === undefined)) {
    out.write(`${slug} ${wasRunning ? 'was restarted' : 'was not running, and was started'}\n`);
    return 0;
  }
  if (now === undefined) throw new Error(`${slug} is not in the configuration any more`);
  const reason = now.reason === undefined ? '' : `: ${lineForTerminal(now.reason, 500)}`;
  const before = wasRunning ? 'was ended' : 'was not running';
  const after = now.connections > 0 ? 'was started' : `did not start${wasRunning ? ' again' : ''}`;
  throw new Error(`${slug} ${before}, and ${after}: it is ${now.state}${reason}`);
});
