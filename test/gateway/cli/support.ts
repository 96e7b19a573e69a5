// Gateways as users start them, with servers whose tools a test can change.

import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { vi } from 'vitest';
import { type Client, connect } from '../../../src/client/index.ts';
import { cli, type Home } from '../../support/program.ts';

const program = join(import.meta.dirname, '../fixtures/servers/tools.mjs');

export interface WrittenTool {
  readonly name: string;
  readonly description?: string;
}

/** Writes what a server offers, and returns its entry. */
export function serverEntry(home: Home, name: string, tools: readonly WrittenTool[], more: object = {}): object {
  const file = home.file(`${name}-tools.json`);
  writeFileSync(file, JSON.stringify({ tools }));
  return { command: process.execPath, args: [program, file], ...more };
}

/** Writes a configuration; returns its path. */
export function writeConfig(home: Home, content: object, name = 'servers.json'): string {
  const file = home.file(name);
  writeFileSync(file, JSON.stringify(content, null, 1), { mode: 0o600 });
  return file;
}

/** The environment of a gateway and of the commands that find it. */
export function runtimeOf(home: Home): Record<string, string> {
  const folder = join(home.path, 'run');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return { XDG_RUNTIME_DIR: folder };
}

/** The folder of the sockets of gateways. */
export const socketsOf = (home: Home): string => join(runtimeOf(home)['XDG_RUNTIME_DIR'] as string, 'mooring');

/** The processes of the gateways that have a socket. */
export function gatewaysOf(home: Home): number[] {
  const names = existsSync(socketsOf(home)) ? readdirSync(socketsOf(home)) : [];
  return names.flatMap((name) => /^gateway-(\d+)\.sock$/.exec(name)?.[1] ?? []).map(Number);
}

/** Connects to a gateway on stdio. */
export function connectStdio(home: Home, args: readonly string[], env: Record<string, string> = {}): Promise<Client> {
  const all = { ...home.env, ...runtimeOf(home), ...env };
  return connect([process.execPath, cli, 'gateway', ...args], { env: all, cwd: home.folder });
}

export interface HttpGateway {
  readonly url: string;
  readonly child: ChildProcess;
  said(): string;
  /** Resolves when a line of its log matches. */
  line(pattern: RegExp): Promise<string>;
}

/** Starts a gateway, on a free port unless the arguments name one. */
export async function startHttp(
  home: Home,
  args: readonly string[],
  env: Record<string, string> = {},
  command: readonly string[] = ['gateway'],
): Promise<HttpGateway> {
  const split = args.indexOf('--');
  const [before, after] = split === -1 ? [args, []] : [args.slice(0, split), args.slice(split)];
  const port = before.includes('--port') ? [] : ['--port', '0'];
  const words = [...command, ...before, '--http', ...port, ...after];
  const child = home.start(words, { env: { ...runtimeOf(home), ...env } });
  let said = '';
  const waiting = new Set<(line: string) => void>();
  createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
    said += `${line}\n`;
    for (const each of [...waiting]) each(line);
  });
  const line = (pattern: RegExp): Promise<string> =>
    new Promise((found, failed) => {
      const known = said.split('\n').find((each) => pattern.test(each));
      if (known !== undefined) return found(known);
      const look = (each: string): void => {
        if (!pattern.test(each)) return;
        waiting.delete(look);
        found(each);
      };
      waiting.add(look);
      child.once('close', (code) => failed(new Error(`exited with ${code}:\n${said}`)));
    });
  const address = await line(/listening on http/);
  const socket = join(runtimeOf(home)['XDG_RUNTIME_DIR'] as string, 'mooring', `gateway-${child.pid}.sock`);
  await vi.waitUntil(() => existsSync(socket), { timeout: 30_000 });
  return { url: /listening on (https?:\/\/[^\s"]+)/.exec(address)?.[1] as string, child, said: () => said, line };
}

export const textOf = (result: { readonly content: readonly unknown[] }): string =>
  (result.content[0] as { readonly text: string }).text;

export const toolNames = async (client: Client): Promise<string[]> =>
  (await client.listTools({ cache: 'refresh' })).map(({ name }) => name);

/** What a program writes to stderr. */
export function textFrom(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}
