// mooring console: finds the consoles that run, and opens one in the browser.

import { oneTimeLink, runningConsoles } from '../../app/console/running-consoles.ts';
import { lineForTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import { command } from '../command.ts';

const help = `Usage: mooring console [PID] [options]

Opens the console of a running server in the browser: the only one, or that of process PID. If several are running,
lists them. A server has a console if you, or a client, started it with --console or with "mooring inspect".

Options:
  --list       only list them, with their links; anyone who has a link can use the console
  --json       the same as JSON
  -h, --help   show this help
`;

const flags = {
  list: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const run = command({ name: 'console', help, options: flags }, async ({ values, positionals, out }) => {
  const [pid, ...more] = positionals;
  if (more.length > 0) throw new UsageError('Usage: mooring console [PID]. See "mooring console --help"');
  const running = runningConsoles().filter((each) => pid === undefined || String(each.pid) === pid);
  if (values.json === true) {
    out.json({ consoles: running });
    return 0;
  }
  if (running.length === 0) {
    out.info(
      pid === undefined
        ? 'No console is running. Start a server with --console, or use "mooring inspect <server>"\n'
        : `No console runs as process ${pid}. "mooring console" lists them\n`,
    );
    return 1;
  }
  const [only] = running;
  if (values.list === true || running.length > 1 || only === undefined) {
    for (const { pid: each, title, link } of running) {
      const shown = values.list === true ? `  ${link}` : '';
      out.write(`${String(each).padEnd(8)}${lineForTerminal(title)}${shown}\n`);
    }
    if (values.list !== true) out.info('Several consoles are running: "mooring console PID" opens one\n');
    return 0;
  }
  const { openBrowser } = await import('../../app/console/open-browser.ts');
  openBrowser(await oneTimeLink(only));
  out.info(`Opening the console of ${lineForTerminal(only.title)} in your browser\n`);
  return 0;
});
