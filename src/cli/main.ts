#!/usr/bin/env node
// The command line: finds the command, loads it, turns mistakes into a sentence and an exit code. Nothing else.

import { Mistake } from '../app/mistake.ts';

/** One row per command. Modules are loaded when the command is run, so that a start pays only for what it uses. */
const commands: Readonly<
  Record<string, { readonly about: string; load(): Promise<{ run(args: readonly string[]): Promise<number> }> }>
> = {
  serve: { about: 'serve a profile over stdio or HTTP', load: () => import('./commands/serve.ts') },
};

async function main(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined || first === 'help' || first === '--help' || first === '-h') return help();
  if (first === '--version' || first === '-v') {
    const { version } = await import('../app/version.ts');
    process.stdout.write(`${version}\n`);
    return 0;
  }
  const command = Object.hasOwn(commands, first) ? commands[first] : undefined;
  if (command === undefined) {
    throw new Mistake(`Unknown command ${JSON.stringify(first)}; one of ${Object.keys(commands).join(', ')}`);
  }
  return (await command.load()).run(rest);
}

function help(): number {
  const rows = Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(12)}${about}`);
  process.stdout.write(`mooring: MCP servers for every client\n\nUsage: mooring <command> [options]\n\n${rows.join('\n')}\n
Run "mooring <command> --help" for the options of a command.\n`);
  return 0;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const usage = error instanceof Mistake;
    process.stderr.write(`mooring: ${error instanceof Error ? error.message : String(error)}\n`);
    if (!usage && process.env['MCP_LOG_LEVEL']?.toLowerCase() === 'debug' && error instanceof Error) {
      process.stderr.write(`${error.stack}\n`);
    }
    process.exitCode = usage ? 2 : 1;
  },
);
