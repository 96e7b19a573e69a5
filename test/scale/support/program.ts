// The program with the tools of the schedules, in a folder of its own.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Program, startProgram } from '../../support/workers.ts';

const plugin = resolve(import.meta.dirname, '../fixtures/schedule-plugin');

export interface ScheduleProgram extends Program {
  readonly address: string;
  close(): Promise<void>;
}

/** Serves the profile `everything` with the plugin on a free port, and waits until it listens. `settings`: of its configuration file. */
export async function startScheduleProgram(
  args: readonly string[] = ['--workers', '2'],
  env: Record<string, string> = {},
  settings: object = {},
): Promise<ScheduleProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'mooring-scale-'));
  const config = join(folder, 'mooring.json');
  const all = { profile: 'everything', plugins: [{ source: plugin }], ...settings };
  writeFileSync(config, JSON.stringify(all), { mode: 0o600 });
  const own = { MOORING_CONFIG: config, MOORING_DATA: join(folder, 'data'), ...env };
  const program = startProgram(['--http', '--port', '0', ...args], own);
  const close = async (): Promise<void> => {
    program.child.kill('SIGKILL');
    await program.exited;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    return { ...program, address: await program.url(), close };
  } catch (error) {
    await close();
    throw error;
  }
}
