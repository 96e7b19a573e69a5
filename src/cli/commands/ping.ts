// mooring ping: name, revision, capabilities and response times of a server.

import { lineForTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import { connectionFlags, connectionHelp, targetHelp, withServer } from '../client/connection.ts';
import { requireQuotes } from '../client/positionals.ts';
import { command } from '../command.ts';

const help = `Usage: mooring ping <server> [options]

Pings a server and shows its name, protocol revision, transport, capabilities and response times.

Options:
  -n, --count N    number of pings (default 3)

${targetHelp}
${connectionHelp}`;

const options = { ...connectionFlags, count: { type: 'string', short: 'n' } } as const;

export const run = command({ name: 'ping', help, options }, async ({ values, positionals, out }) => {
  const [target, ...more] = positionals;
  await requireQuotes({ command: 'ping' }, positionals, values.config);
  if (target === undefined || more.length > 0) throw new UsageError('Usage: mooring ping <server>');
  const count = Number(values.count ?? 3);
  if (!Number.isInteger(count) || count < 1)
    throw new UsageError(`--count must be a whole number of 1 or more, not ${JSON.stringify(values.count)}`);
  const begun = performance.now();
  return withServer(target, values, out, async (client, signal) => {
    const connectMs = performance.now() - begun;
    const times: number[] = [];
    for (let i = 0; i < count && !signal.aborted; i++) {
      const start = performance.now();
      await client.ping({ signal });
      times.push(performance.now() - start);
    }
    const { serverInfo, revision, transport, capabilities } = client;
    if (values.json === true) {
      out.json({ server: serverInfo ?? null, revision, transport, capabilities, connectMs, pingMs: times });
      return 0;
    }
    const { style } = out;
    const line = (name: string, text: string): void => out.write(`${style.faint(name.padEnd(14))}${text}\n`);
    line('server', style.name(lineForTerminal(`${serverInfo?.name ?? 'unnamed'} ${serverInfo?.version ?? ''}`.trim())));
    if (serverInfo?.title !== undefined) line('title', lineForTerminal(serverInfo.title));
    line('revision', revision);
    line('transport', transport);
    line(
      'capabilities',
      Object.keys(capabilities)
        .map((each) => lineForTerminal(each, 64))
        .join(', ') || 'none',
    );
    line('connected in', `${connectMs.toFixed(0)} ms`);
    line('pings', `${times.map((each) => each.toFixed(1)).join(', ')} ms`);
    return 0;
  });
});
