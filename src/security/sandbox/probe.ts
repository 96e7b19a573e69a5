// The sandbox part of `mooring doctor`: tests every layer on this machine by trying what it should prevent. A layer works
// if the attempt failed for the right reason, not if an option was set.

import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProbeReport, RunRequest, Sandbox } from './contract.ts';
import { SandboxError } from './errors.ts';
import { createSandbox } from './sandbox.ts';
import { isolationErrors } from './self-check.ts';

const MiB = 1024 * 1024;

/** Small, so that a probe that reaches a limit ends quickly. */
const probeLimits = {
  timeoutMs: 5_000,
  maxProcesses: 16,
  maxProcessDataBytes: 32 * MiB,
  maxMemoryBytes: 64 * MiB,
  maxFileBytes: 2 * MiB,
  maxTmpBytes: 4 * MiB,
  maxOutputBytes: 64 * 1024,
} as const;

/** The outcome of a probe. */
type ProbeOutcome = { readonly holds: boolean; readonly detail: string };

interface ProbeContext {
  readonly run: (
    script: string,
    more?: Partial<RunRequest>,
  ) => Promise<{ text: string; exitCode: number; stopped: string | null }>;
  /** A readable file of the host that is not bound. */
  readonly hostFile: string;
  /** A variable in the environment of every probe. */
  readonly mark: string;
}

interface LayerProbe {
  readonly layer: string;
  readonly remedy: string;
  readonly look: (context: ProbeContext) => Promise<ProbeOutcome>;
}

const namespaces = 'Allow user namespaces (see the kernel level).';

const probes: readonly LayerProbe[] = [
  {
    layer: 'namespaces: users, processes, network, files, messages, host name',
    remedy: namespaces,
    look: async ({ run }) => {
      const names = ['user', 'pid', 'net', 'mnt', 'ipc', 'uts'];
      const { text } = await run(`cd /proc/self/ns && readlink ${names.join(' ')}`);
      const shared = names.filter((name, index) => text.split('\n')[index] === readlinkSync(`/proc/self/ns/${name}`));
      return {
        holds: text !== '' && shared.length === 0,
        detail: shared.length ? `shared: ${shared}` : 'all separate',
      };
    },
  },
  {
    layer: 'network off',
    remedy: namespaces,
    look: async ({ run }) => {
      const { text } = await run('tail -n +3 /proc/net/dev | cut -d: -f1');
      return { holds: text.trim() === 'lo', detail: `interfaces: ${text.trim().split(/\s+/).join(', ')}` };
    },
  },
  {
    layer: 'host files absent',
    remedy: namespaces,
    look: async ({ run, hostFile }) => {
      const { text } = await run(`cat ${hostFile} /etc/shadow 2>/dev/null; ls -d /root /home /var 2>/dev/null`);
      return { holds: text === '', detail: text === '' ? 'not visible' : 'visible' };
    },
  },
  {
    layer: 'system read-only',
    remedy: namespaces,
    look: async ({ run }) => {
      const { exitCode } = await run('touch /usr/mooring-probe /etc/mooring-probe /mooring-probe 2>/dev/null');
      return { holds: exitCode !== 0, detail: exitCode !== 0 ? 'writing fails' : 'writing works' };
    },
  },
  {
    layer: 'no privileges',
    remedy: 'Use an unchanged bubblewrap of the distribution.',
    look: async ({ run }) => {
      const { text } = await run('exec cat /proc/self/status');
      const wrong = isolationErrors(text);
      return { holds: wrong.length === 0, detail: wrong.join('; ') || 'no capabilities, none to gain' };
    },
  },
  {
    layer: 'system call filter',
    remedy: 'The kernel needs CONFIG_SECCOMP_FILTER.',
    look: async ({ run }) => {
      const { text } = await run('unshare --user true 2>&1; unshare --uts true 2>&1; grep ^Seccomp: /proc/self/status');
      const denied = (text.match(/not permitted/g) ?? []).length;
      return { holds: denied === 2 && /Seccomp:\s+2/.test(text), detail: `${denied} of 2 forbidden calls denied` };
    },
  },
  {
    layer: 'process limit',
    remedy: 'Run on Linux 5.14 or later, or as root so that a private user can be used.',
    look: async ({ run }) => {
      const script = 'i=0; while [ $i -lt 64 ]; do sleep 9 & i=$((i+1)); echo $i; done 2>/dev/null';
      const { text, stopped } = await run(script);
      const made = text.trim().split('\n').length;
      return {
        holds: made < 40 || stopped === 'processes',
        detail: `${made} of 64 forks, limit ${probeLimits.maxProcesses}`,
      };
    },
  },
  {
    layer: 'memory limit',
    remedy: 'prlimit (util-linux) must work; see also the control group.',
    look: async ({ run }) => {
      const { exitCode, stopped } = await run(
        'head -c 200000000 /dev/zero | tail -c 150000000 | wc -c | grep -q 150000000',
      );
      const holds = exitCode !== 0 || stopped === 'memory';
      return { holds, detail: holds ? 'a larger allocation fails' : 'a larger allocation works' };
    },
  },
  {
    layer: 'file and temporary space limits',
    remedy: 'prlimit (util-linux) must work.',
    look: async ({ run }) => {
      const script = 'for n in 1 2 3; do head -c 9000000 /dev/zero > /tmp/$n; done 2>/dev/null; cat /tmp/* | wc -c';
      const bytes = Number((await run(script)).text);
      return { holds: bytes <= probeLimits.maxTmpBytes, detail: `${bytes} of 27000000 bytes written` };
    },
  },
  {
    layer: 'output limit',
    remedy: 'Report this as a bug of Mooring: it does not depend on the machine.',
    look: async ({ run }) => {
      const { stopped } = await run('exec yes');
      return {
        holds: stopped === 'output',
        detail: stopped === 'output' ? 'endless output was stopped' : 'endless output was not stopped',
      };
    },
  },
  {
    layer: 'whole tree ended',
    remedy: namespaces,
    look: async ({ run, mark }) => {
      const { stopped } = await run('setsid sleep 60 & (sleep 60 &) ; sleep 60', { timeoutMs: 300 });
      const left = countMarked(mark);
      return { holds: stopped === 'timeout' && left === 0, detail: `${left} processes left after a timeout` };
    },
  },
];

/** Tests each layer of the kernel level, and reports which weaker level would work if one fails. */
export async function probeSandbox(): Promise<ProbeReport[]> {
  const directory = mkdtempSync(join(tmpdir(), 'mooring-probe-'));
  const hostFile = join(directory, 'host-file');
  const mark = `probe-${directory.slice(-6)}`;
  writeFileSync(hostFile, 'a file of the host');
  const programs = ['sh'];
  const environment = { set: { MOORING_PROBE: mark } };
  try {
    const sandbox = await createSandbox({ programs, environment, limits: probeLimits });
    const reports: ProbeReport[] = [row('kernel level', true, sandbox.describe)];
    for (const probe of probes) reports.push(await report(probe, contextOf(sandbox, hostFile, mark)));
    await sandbox.close();
    reports.push(await controlGroupReport());
    return reports;
  } catch (cause) {
    return [failure('kernel level', cause), await limitsReport()];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function contextOf(sandbox: Sandbox, hostFile: string, mark: string): ProbeContext {
  return {
    hostFile,
    mark,
    run: async (script, more = {}) => {
      const { stdout, exitCode, stopped } = await sandbox.run({ program: 'sh', args: ['-c', script], ...more });
      return { text: stdout.toString(), exitCode, stopped };
    },
  };
}

async function report({ layer, remedy, look }: LayerProbe, context: ProbeContext): Promise<ProbeReport> {
  try {
    const { holds, detail } = await look(context);
    return row(layer, holds, detail, remedy);
  } catch (cause) {
    return failure(layer, cause);
  }
}

/** Exact accounting is useful but not required, so its absence costs a line and not the level. */
async function controlGroupReport(): Promise<ProbeReport> {
  try {
    const sandbox = await createSandbox({ programs: ['true'], controlGroup: 'require', limits: probeLimits });
    const { exitCode } = await sandbox.run({ program: 'true' });
    return row('control group (optional)', exitCode === 0, sandbox.describe);
  } catch (cause) {
    const detail = 'none can be created here; the watchdog measures instead';
    return { ...failure('control group (optional)', cause), detail };
  }
}

async function limitsReport(): Promise<ProbeReport> {
  try {
    const sandbox = await createSandbox({ level: 'limits', programs: ['true'], limits: probeLimits });
    const { exitCode } = await sandbox.run({ program: 'true' });
    return row('limits level', exitCode === 0, 'resource limits work; files and network stay reachable');
  } catch (cause) {
    return failure('limits level', cause);
  }
}

function row(layer: string, holds: boolean, detail: string, remedy = ''): ProbeReport {
  return { layer, holds, detail, remedy: holds ? '' : remedy };
}

function failure(layer: string, cause: unknown): ProbeReport {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return row(layer, false, detail, cause instanceof SandboxError ? cause.remedy : '');
}

function countMarked(mark: string): number {
  return readdirSync('/proc').filter((entry) => {
    try {
      return /^\d+$/.test(entry) && readFileSync(`/proc/${entry}/environ`, 'utf8').includes(mark);
    } catch {
      return false; // It has ended, or belongs to another user.
    }
  }).length;
}
