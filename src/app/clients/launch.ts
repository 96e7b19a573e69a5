// The command that a client uses to start Mooring: npx for the published package, otherwise this copy.

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

/** The command that starts a profile. */
export function launchEntry(options: LaunchOptions): ClientConfigEntry {
  const { profile, args, env, how, platform = process.platform, script = process.argv[1] ?? '' } = options;
  // Without "serve" the first argument would be read as a command.
  const serve = ['serve', ...(profile === undefined ? [] : [profile]), ...anchored(args)];
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
