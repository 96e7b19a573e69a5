// The command line: finds the command, loads it, turns mistakes into a sentence and an exit code. Nothing else.

import { Mistake } from '../app/mistake.ts';
import { version } from '../app/version.ts';
import { run as serve } from './commands/serve.ts';

interface Command {
  readonly about: string;
  readonly group: 'Serve' | 'Set up' | 'Use a server' | 'Guard';
  load(): Promise<{ run(args: readonly string[]): Promise<number> }>;
}

/** One row per command. Modules are loaded when the command is run; `serve` is what most starts are, and is there. */
const commands: Readonly<Record<string, Command>> = {
  serve: {
    group: 'Serve',
    about: 'serve a profile over stdio or HTTP',
    load: async () => ({ run: (args) => serve(args) }),
  },
  install: { group: 'Set up', about: 'put Mooring into an AI client', load: () => import('./commands/install.ts') },
  uninstall: { group: 'Set up', about: 'take it out again', load: () => import('./commands/uninstall.ts') },
  init: { group: 'Set up', about: 'write a configuration to start from', load: () => import('./commands/init.ts') },
  config: {
    group: 'Set up',
    about: 'show the settings and where each comes from',
    load: () => import('./commands/config.ts'),
  },
  doctor: { group: 'Set up', about: 'try what works on this machine', load: () => import('./commands/doctor.ts') },
  tools: { group: 'Use a server', about: 'list its tools, or explain one', load: () => import('./commands/tools.ts') },
  call: { group: 'Use a server', about: 'call a tool', load: () => import('./commands/call.ts') },
  resources: { group: 'Use a server', about: 'list its resources', load: () => import('./commands/resources.ts') },
  read: { group: 'Use a server', about: 'read a resource', load: () => import('./commands/read.ts') },
  watch: { group: 'Use a server', about: 'tell when something changes', load: () => import('./commands/watch.ts') },
  prompts: { group: 'Use a server', about: 'list its prompts', load: () => import('./commands/prompts.ts') },
  prompt: { group: 'Use a server', about: 'show what a prompt comes to', load: () => import('./commands/prompt.ts') },
  ping: {
    group: 'Use a server',
    about: 'whether it is there, who it is, what it speaks',
    load: () => import('./commands/ping.ts'),
  },
  logout: {
    group: 'Use a server',
    about: 'forget a sign-in and revoke its tokens',
    load: () => import('./commands/logout.ts'),
  },
  token: { group: 'Guard', about: 'tokens for a server over HTTP', load: () => import('./commands/token.ts') },
  policy: { group: 'Guard', about: 'what a policy says about a call', load: () => import('./commands/policy.ts') },
  notes: {
    group: 'Guard',
    about: 'who keeps notes here, and deleting some',
    load: () => import('./commands/notes.ts'),
  },
  audit: { group: 'Guard', about: 'check, follow and search the audit log', load: () => import('./commands/audit.ts') },
};

/** Runs a command line. */
export function run(argv: readonly string[]): void {
  finish(dispatch(argv));
}

/** Runs a program that is one profile; `--version` and all options of serve are its own. */
export function runProfile(program: string, profile: string, argv: readonly string[]): void {
  const [first] = argv;
  finish(first === '--version' || first === '-v' ? dispatch(argv) : serve(argv, { program, profile }));
}

/** Sets the exit code: 0 fine, 1 failed, 2 asked for wrongly. */
function finish(work: Promise<number>): void {
  work.then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      process.stderr.write(`mooring: ${error instanceof Error ? error.message : String(error)}\n`);
      if (!(error instanceof Mistake) && process.env['MCP_LOG_LEVEL']?.toLowerCase() === 'debug') {
        process.stderr.write(`${(error as Error).stack}\n`);
      }
      process.exitCode = error instanceof Mistake ? 2 : 1;
    },
  );
}

async function dispatch(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  if (first === '--version' || first === '-v') {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  // What clients are told to start is `npx -y mooring`: without a word, and without a person, that serves.
  if (first === undefined) return process.stdin.isTTY === true ? help() : load('serve', []);
  if (first === '--help' || first === '-h') return help();
  if (first === 'help') return rest[0] === undefined ? help() : load(rest[0], ['--help']);
  if (first.startsWith('-')) return load('serve', argv);
  return load(first, rest);
}

async function load(name: string, args: readonly string[]): Promise<number> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    const { nearest } = await import('../app/text/nearest.ts');
    const meant = nearest(name, Object.keys(commands));
    const hint = meant === undefined ? '"mooring --help" lists them' : `did you mean ${JSON.stringify(meant)}?`;
    throw new Mistake(`Unknown command ${JSON.stringify(name)}; ${hint}`);
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
  out.write(`${out.style.strong('mooring')}: MCP servers that any client can tie up to

Usage: mooring <command> [options]
       mooring --version

${sections.join('\n\n')}

"mooring <command> --help" explains a command. Without one, and with stdin from a program, it serves on stdio.
`);
  return 0;
}
