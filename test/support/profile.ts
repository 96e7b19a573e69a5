// Puts a profile together for a test, as the command line would, with settings that touch nothing outside the test.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { type AssembledServer, profiles } from '../../src/app/profiles/index.ts';
import type { Settings } from '../../src/app/settings/settings.ts';
import type { Logger } from '../../src/common/logger.ts';
import { silentLogger } from '../../src/common/logger.ts';
import { settings } from './settings.ts';

const undo: (() => Promise<void> | void)[] = [];

/** Registers the cleaning up after each test of the calling file. */
export function useProfiles(): void {
  afterEach(async () => {
    for (const each of undo.splice(0).reverse()) await each();
  });
}

/** Done after the test, in reverse order. */
export function afterwards(work: () => Promise<void> | void): void {
  undo.push(work);
}

/** A folder that is gone after the test; `open` lets other users in, as a sandboxed program is one. */
export function makeFolder({ open = false } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'mooring-packs-'));
  if (open) chmodSync(folder, 0o755);
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Settings as a run without flags and configuration has them. */
export function makeSettings(profile: string, changes: Partial<Settings> = {}): Settings {
  return settings({ profile, dataDir: makeFolder(), ...changes });
}

/** The profile's server; closed after the test. */
export async function assemble(
  name: string,
  changes: Partial<Settings> = {},
  logger: Logger = silentLogger,
): Promise<AssembledServer> {
  const profile = await profiles[name]?.load();
  if (profile === undefined) throw new Error(`no profile ${name}`);
  const ready = await profile.assemble({ logger, version: '0.0.0-test', settings: makeSettings(name, changes) });
  undo.push(() => ready.server.close());
  return ready;
}

/** A logger that remembers. */
export function memoryLogger(): Logger & { readonly lines: string[] } {
  const lines: string[] = [];
  const write = (level: string) => (message: string, fields?: object) =>
    void lines.push(`${level} ${message}${fields === undefined ? '' : ` ${JSON.stringify(fields)}`}`);
  const logger = {
    lines,
    debug: write('debug'),
    info: write('info'),
    notice: write('notice'),
    warn: write('warn'),
    error: write('error'),
    child: () => logger,
    enabled: () => true,
  };
  return logger;
}
