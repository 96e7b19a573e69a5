// The command line: finds the command, loads it, and turns errors into a message and an exit code.

import { UsageError } from '../app/usage-error.ts';
import { version } from '../app/version.ts';
import { run as serve } from './commands/serve.ts';
import { UnknownOption } from './parse-args.ts';

interface Command {
  readonly about: string;
  readonly group: 'Serve' | 'Write a server' | 'Set up' | 'Use a server' | 'Security';
  load(): Promise<{ run(args: readonly string[]): Promise<number> }>;
}

/** One row per command. Modules are loaded when the command runs, except for `serve`, which clients start most. */
const commands: Readonly<Record<string, Command>> = {
  serve: {
    group: 'Serve',
    about: 'serve a profile over stdio or HTTP',
    load: async () => ({ run: (args) => serve(args) }),
  },
  gateway: {
    group: 'Serve',
    about: 'serve all servers of a configuration file as one',
    load: () => import('./commands/gateway.ts'),
  },
  connect: {
    group: 'Serve',
    about: 'connect a client to a gateway that it shares with other clients',
    load: () => import('./commands/connect.ts'),
  },
  dev: {
    group: 'Write a server',
    about: 'run a server file and restart it on changes',
    load: () => import('./commands/dev.ts'),
  },
  new: { group: 'Write a server', about: 'create a project', load: () => import('./commands/new.ts') },
  install: {
    group: 'Set up',
    about: 'add Mooring or your own server to an AI client',
    load: () => import('./commands/install.ts'),
  },
  uninstall: {
    group: 'Set up',
    about: 'remove Mooring from an AI client',
    load: () => import('./commands/uninstall.ts'),
  },
  list: {
    group: 'Set up',
    about: 'list the servers configured in all clients',
    load: () => import('./commands/list.ts'),
  },
  init: { group: 'Set up', about: 'create a configuration file', load: () => import('./commands/init.ts') },
  config: {
    group: 'Set up',
    about: 'show the settings and where each one comes from',
    load: () => import('./commands/config.ts'),
  },
  doctor: {
    group: 'Set up',
    about: 'find out why something does not work',
    load: () => import('./commands/doctor.ts'),
  },
  tools: { group: 'Use a server', about: 'list its tools, or describe one', load: () => import('./commands/tools.ts') },
  call: { group: 'Use a server', about: 'call a tool', load: () => import('./commands/call.ts') },
  task: {
    group: 'Use a server',
    about: 'show, wait for, answer or cancel a call that runs as a task',
    load: () => import('./commands/task.ts'),
  },
  resources: { group: 'Use a server', about: 'list its resources', load: () => import('./commands/resources.ts') },
  read: { group: 'Use a server', about: 'read a resource', load: () => import('./commands/read.ts') },
  watch: { group: 'Use a server', about: 'print a line for each change', load: () => import('./commands/watch.ts') },
  prompts: { group: 'Use a server', about: 'list its prompts', load: () => import('./commands/prompts.ts') },
  prompt: {
    group: 'Use a server',
    about: 'print the messages of a prompt',
    load: () => import('./commands/prompt.ts'),
  },
  skills: {
    group: 'Use a server',
    about: 'list its skills, or show one',
    load: () => import('./commands/skills.ts'),
  },
  inspect: {
    group: 'Use a server',
    about: 'see and try any server in the browser',
    load: () => import('./commands/inspect.ts'),
  },
  console: {
    group: 'Use a server',
    about: 'open the console of a running server',
    load: () => import('./commands/console.ts'),
  },
  ping: {
    group: 'Use a server',
    about: 'show its name, protocol revision and response times',
    load: () => import('./commands/ping.ts'),
  },
  logout: {
    group: 'Use a server',
    about: 'sign out and revoke the tokens',
    load: () => import('./commands/logout.ts'),
  },
  token: {
    group: 'Security',
    about: 'create, list and revoke bearer tokens',
    load: () => import('./commands/token.ts'),
  },
  policy: {
    group: 'Security',
    about: 'validate a policy and explain its decisions',
    load: () => import('./commands/policy.ts'),
  },
  notes: {
    group: 'Security',
    about: 'show which callers store notes, and delete notes',
    load: () => import('./commands/notes.ts'),
  },
  audit: {
    group: 'Security',
    about: 'verify, follow and search the audit log',
    load: () => import('./commands/audit.ts'),
  },
};

/** Runs a command line. */
export function run(argv: readonly string[]): void {
  finish(dispatch(argv), argv);
}

/** Runs a program that serves one fixed profile. It accepts `--version` and all options of serve. */
export function runProfile(program: string, profile: string, argv: readonly string[]): void {
  const [first] = argv;
  finish(first === '--version' || first === '-v' ? dispatch(argv) : serveOrVersion(argv, { program, profile }), argv);
}

/** Without a command, options are those of serve, and `--version`. */
async function serveOrVersion(argv: readonly string[], fixed?: Parameters<typeof serve>[1]): Promise<number> {
  try {
    return await serve(argv, fixed);
  } catch (error) {
    if (!(error instanceof UnknownOption) || argv[0] !== `--${error.option}`) throw error;
    throw new UnknownOption(error.option, [...error.known, 'version'], error.help);
  }
}

/** Sets the exit code. With `--json`, the error that ends a command is JSON too. */
function finish(work: Promise<number>, argv: readonly string[]): void {
  work
    .catch(async (error: unknown) => {
      const { reportError } = await import('./report-error.ts');
      const end = argv.indexOf('--');
      return reportError(error, (end === -1 ? argv : argv.slice(0, end)).includes('--json'));
    })
    .then((code) => {
      process.exitCode = code;
    });
}

async function dispatch(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  if (first === '--version' || first === '-v') {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  // Clients start `npx -y mooring`: without a command, and without a terminal, that serves.
  if (first === undefined) return process.stdin.isTTY === true ? help() : load('serve', []);
  if (first === '--help' || first === '-h') return help();
  if (first === 'help') return rest[0] === undefined ? help() : load(rest[0], ['--help']);
  if (first.startsWith('-')) return serveOrVersion(argv);
  return load(first, rest);
}

async function load(name: string, args: readonly string[]): Promise<number> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    const { nearest } = await import('../app/text/nearest.ts');
    const meant = nearest(name, Object.keys(commands));
    const hint = meant === undefined ? '"mooring --help" lists all commands' : `did you mean ${JSON.stringify(meant)}?`;
    const { offerFolder } = await import('../app/serving/offer-folder.ts');
    throw new UsageError(`Unknown command ${JSON.stringify(name)}; ${hint}${offerFolder(name)}`);
  }
  return (await command.load()).run(args);
}

async function help(): Promise<number> {
  const { openOutput } = await import('./ui/output.ts');
  const out = openOutput();
  const groups = [...new Set(Object.values(commands).map(({ group }) => group))];
  const sections = groups.map((group) => {
    const rows = Object.entries(commands).filter(([, command]) => command.group === group);
    return `${out.style.strong(group)}\n${rows.map(([name, { about }]) => `  ${out.style.name(name.padEnd(12))}${about}`).join('\n')}`;
  });
  out.write(`${out.style.strong('mooring')}: run, use and secure MCP servers

Usage: mooring <command> [options]
       mooring --version

${sections.join('\n\n')}

"mooring <command> --help" shows the options of a command.
Without a command, and with stdin from a program instead of a terminal, mooring serves on stdio.
`);
  return 0;
}
