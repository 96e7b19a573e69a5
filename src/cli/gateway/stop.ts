// mooring gateway stop: ends a running gateway.

import { findGateway } from '../../app/gateway/running.ts';
import { command } from '../command.ts';

const help = `Usage: mooring gateway stop [--pid N]

Ends the running gateway: calls in progress may finish, then its servers and connections end. Clients that use it are
disconnected. Exit code: 1 if none is running.

Options:
  --pid N      the gateway with this process id, if several are running
  -h, --help   show this help
`;

const options = {
  pid: { type: 'string' },
} as const;

export const run = command({ name: 'gateway stop', help, options, maxWords: 0 }, async ({ values, out }) => {
  const running = await findGateway(values.pid);
  if (running === undefined) throw new Error('No gateway is running');
  await running.stop();
  out.write(`The gateway ${running.info.pid} ends\n`);
  return 0;
});
