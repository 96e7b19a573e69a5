// Checks of a command without starting it: whether the program exists, and paths that depend on a shell, an
// operating system or a folder.

import { existsSync, statSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import { isProgram, programPlaces } from '../../transports/find-program.ts';
import type { Report } from './findings.ts';

/** A command as a client would start it. */
export interface CommandEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  /** From a configuration file: clients may start it in any folder. */
  readonly configured: boolean;
}

/** Programs whose first argument that is not an option is a script. */
const interpreters = /^(node|bun|deno|tsx|ts-node|python[\d.]*|ruby|perl|php|bash|sh)(\.exe)?$/;

/** The reports about a command. */
export function checkCommand(entry: CommandEntry, platform: NodeJS.Platform = process.platform): Report[] {
  const { command, env } = entry;
  const cwd = resolve(entry.cwd ?? '.');
  if (entry.cwd !== undefined && !existsSync(cwd)) {
    return [
      {
        id: 'folder-not-found',
        detail: `The folder ${entry.cwd} does not exist`,
        remedy: 'Correct "cwd" or create the folder.',
      },
    ];
  }
  const foreign = foreignForm(entry, platform);
  if (foreign !== undefined) return [foreign];
  const tilde = [command, ...entry.args].find((word) => /^~[/\\]/.test(word));
  if (tilde !== undefined) {
    return [
      {
        id: 'tilde-path',
        detail: `${tilde} begins with ~, which only a shell expands`,
        remedy: 'Write the full path of your home folder.',
      },
    ];
  }
  return [...relativePaths(entry), ...missingProgram(command, env, cwd), ...missingScript(entry, cwd)];
}

/** A command for Windows elsewhere, or one that Windows cannot start. */
function foreignForm({ command, args }: CommandEntry, platform: NodeJS.Platform): Report | undefined {
  const name = basename(command.replaceAll('\\', '/')).toLowerCase();
  if (platform === 'win32') {
    if (!/^(npx|npm|pnpm|yarn|bunx)$/.test(name)) return undefined;
    return {
      id: 'windows-command',
      detail: `${command} is a batch file, which Windows starts only through cmd`,
      remedy: `Use "command": "cmd", "args": ["/c", "${name}", …].`,
    };
  }
  const windows =
    /^[a-z]:[\\/]/i.test(command) || /\.(exe|cmd|bat|ps1)$/.test(name) || (name === 'cmd' && args[0] === '/c');
  if (!windows) return undefined;
  const rest = name === 'cmd' ? args.slice(1).join(' ') : name.replace(/\.(exe|cmd|bat)$/, '');
  return {
    id: 'windows-command',
    detail: `${[command, ...args.slice(0, 2)].join(' ')} is a command for Windows`,
    remedy: `Use the command for this system: ${rest}.`,
  };
}

function missingProgram(command: string, env: CommandEntry['env'], cwd: string): Report[] {
  const found = findProgram(command, env, cwd);
  if (found === 'ok') return [];
  if (found === 'not-executable') {
    return [
      {
        id: 'command-not-executable',
        detail: `${command} exists, but is not a program that can be started`,
        remedy: `Make it executable (chmod +x ${command}), or start it with its interpreter, such as node ${command}.`,
      },
    ];
  }
  const [first = '', ...rest] = command.trim().split(/\s+/);
  if (rest.length > 0 && findProgram(first, env, cwd) === 'ok') {
    return [
      {
        id: 'command-has-arguments',
        detail: `"command" is ${JSON.stringify(command)}, which is not a program`,
        remedy: `Split it: "command": ${JSON.stringify(first)}, "args": ${JSON.stringify(rest)}.`,
      },
    ];
  }
  const remedy = installHints[basename(command)] ?? 'Install it, or write the full path of the program.';
  const detail = /[/\\]/.test(command) ? `There is no file ${command}` : `${command} is not in PATH`;
  return [{ id: 'command-not-found', detail, remedy }];
}

const installHints: Readonly<Record<string, string>> = {
  npx: 'Install Node.js from https://nodejs.org. Desktop applications may not have the PATH of your shell: write the full path.',
  node: 'Install Node.js from https://nodejs.org. Desktop applications may not have the PATH of your shell: write the full path.',
  uvx: 'Install uv from https://docs.astral.sh/uv, or write the full path of uvx.',
  uv: 'Install uv from https://docs.astral.sh/uv, or write the full path.',
  docker: 'Install and start Docker.',
  python: 'Use python3, or write the full path.',
};

type ProgramLookup = 'ok' | 'missing' | 'not-executable';

function findProgram(program: string, env: CommandEntry['env'], cwd: string): ProgramLookup {
  // Variables of the entry come first: on Windows, names that differ only in case are one, and the first is taken.
  const places = programPlaces(program, { ...env, ...process.env, ...env }, cwd);
  if (places.some(isProgram)) return 'ok';
  return places.some((place) => existsSync(place) && statSync(place).isFile()) ? 'not-executable' : 'missing';
}

/** The script of an interpreter, if it is one. */
function scriptOf({ command, args }: CommandEntry): string | undefined {
  if (!interpreters.test(basename(command))) return undefined;
  const [first] = args;
  // Options may take a value, so the word after one need not be the script.
  return first === undefined || first.startsWith('-') || !/[./\\]/.test(first) ? undefined : first;
}

function missingScript(entry: CommandEntry, cwd: string): Report[] {
  const script = scriptOf(entry);
  if (script === undefined || /^\w+:/.test(script) || existsSync(resolve(cwd, script))) return [];
  return [
    {
      id: 'script-not-found',
      detail: `There is no file ${resolve(cwd, script)}`,
      remedy: 'Correct the path. If the file is built from sources, build it first.',
    },
  ];
}

function relativePaths(entry: CommandEntry): Report[] {
  if (!entry.configured || (entry.cwd !== undefined && isAbsolute(entry.cwd))) return [];
  const script = scriptOf(entry);
  const relative = [
    ...(/[/\\]/.test(entry.command) && !isAbsolute(entry.command) ? [entry.command] : []),
    ...(script !== undefined && !isAbsolute(script) && !/^\w+:/.test(script) ? [script] : []),
  ];
  return relative.map((path) => ({
    id: 'relative-path' as const,
    detail: `${path} is a relative path, and clients start servers in different folders`,
    remedy: `Write the full path, such as ${resolve(path)}.`,
  }));
}
