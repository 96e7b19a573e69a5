// The command that a client uses to start a server. Mooring itself: npx for the published package, otherwise this copy.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { options } from '../config/options.ts';
import { absolutePath } from '../config/values.ts';
import type { ClientConfigEntry } from './clients.ts';

export interface LaunchOptions {
  readonly profile: string | undefined;
  /** Further arguments of `mooring serve`. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** `npx`, `this` copy, or `auto`: the way this process was started. */
  readonly how: 'npx' | 'this' | 'auto';
  readonly platform?: NodeJS.Platform;
  /** The running script. */
  readonly script?: string;
}

/** The arguments of `mooring` that serve a profile. Without "serve", the profile would be parsed as a command. */
export function serveArguments({ profile, args }: Pick<LaunchOptions, 'profile' | 'args'>): string[] {
  return ['serve', ...(profile === undefined ? [] : [profile]), ...anchored(args)];
}

/** The command that starts a profile. */
export function launchEntry(options: LaunchOptions): ClientConfigEntry {
  return launchMooring(serveArguments(options), options);
}

/** The command that starts the gateway with this file. `sharedIn`: the folder of one that is shared with other clients. */
export function launchGateway(
  file: string,
  env: Readonly<Record<string, string>> = {},
  sharedIn?: string,
): ClientConfigEntry {
  return launchMooring([...gatewayCommand(sharedIn), '--config', file], { env, how: 'auto' });
}

export function gatewayCommand(sharedIn: string | undefined): readonly string[] {
  return sharedIn === undefined ? ['gateway'] : ['connect', '--folder', sharedIn];
}

function launchMooring(
  serve: readonly string[],
  options: Pick<LaunchOptions, 'env' | 'how' | 'platform' | 'script'>,
): ClientConfigEntry {
  const { env, how, platform = process.platform, script = process.argv[1] ?? '' } = options;
  const published = /[/\\]node_modules[/\\](\.bin|mooring)[/\\]/.test(script);
  if (how === 'this' || (how === 'auto' && !published)) {
    return { command: process.execPath, args: [resolve(script), ...serve], env };
  }
  const npx = ['npx', '-y', 'mooring', ...serve];
  // npx is a batch file on Windows, and clients start programs without a shell.
  const [command, ...rest] = platform === 'win32' ? ['cmd', '/c', ...npx] : npx;
  return { command: command as string, args: rest, env };
}

/** Clients start programs in any working folder, so relative paths are made absolute here. */
function anchored(args: readonly string[]): string[] {
  const flags = options.filter(({ kind }) => kind === 'path' || kind === 'paths').map(({ flag }) => `--${flag}`);
  const paths = new Set([...flags, '--config']);
  const absolute = (path: string): string => absolutePath(path, process.cwd(), homedir());
  return args.map((arg, i) => {
    const [flag = '', ...value] = arg.split('=');
    if (value.length > 0 && paths.has(flag)) return `${flag}=${absolute(value.join('='))}`;
    return i > 0 && paths.has(args[i - 1] as string) ? absolute(arg) : arg;
  });
}

/** The entry for a command of the user. Files are given by their full paths: clients start servers in any folder. */
export function commandEntry(words: readonly string[], env: Readonly<Record<string, string>>): ClientConfigEntry {
  const [command = '', ...args] = words;
  const full = (word: string): string => (/[/\\]|\.\w+$/.test(word) && existsSync(word) ? resolve(word) : word);
  return { command: /[/\\]/.test(command) ? full(command) : command, args: args.map(full), env };
}

const runners =
  /^(npx|npm|pnpm|pnpx|yarn|bunx?|deno|node|uvx?|pipx?|python[\d.]*|tsx|ts-node|cmd|docker)(\.exe|\.cmd)?$/;
const runnerWords = /^(exec|dlx|run|x|tool|\/c)$/;
const plainNames = /^(index|main|server|cli|app|start|run|mcp|dist|build|src|lib|bin|out)$/;

/** A name for the entry of a command: the package or script, without scope, version, folders and extension. */
export function commandName(words: readonly string[]): string {
  const word = words.find((each, i) => {
    const base = each.split(/[/\\]/).at(-1) as string;
    return !each.startsWith('-') && !(i === 0 && words.length > 1 && runners.test(base)) && !runnerWords.test(each);
  });
  const parts = (word ?? 'server').replace(/(?<=.)@[^/@]*$/, '').split(/[/\\]/);
  const names = parts.map((part) => part.replace(/\.[a-z]+$/i, '')).filter((part) => /\w/.test(part));
  return (names.findLast((part) => !plainNames.test(part)) ?? names.at(-1) ?? 'server').replace(/^@/, '');
}
