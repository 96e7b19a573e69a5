// Loads the policy file and limits the settings to what it allows. It is read before the server is assembled and
// enforced before clients can connect.

import { basename } from 'node:path';
import { isInside } from '../../security/files/is-inside.ts';
import { type CompiledPolicy, loadPolicy, PolicyError } from '../../security/policy/index.ts';
import { UsageError } from '../usage-error.ts';
import type { Settings } from './settings.ts';

export {
  type CompiledPolicy,
  type Explanation,
  enforcePolicy,
  explainCall,
  type PolicyGuard,
  type PolicyQuery,
  policySchema,
} from '../../security/policy/index.ts';

/** Reads a policy file. `guarded` are files that tools must not be able to write. */
export async function openPolicy(
  file: string,
  profile: string,
  guarded: readonly string[] = [],
): Promise<CompiledPolicy> {
  try {
    return await loadPolicy(file, { profile, guarded });
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    throw new UsageError(error.message.includes(file) ? error.message : `${file}: ${error.message}`);
  }
}

/** The settings limited to what the policy allows. Throws a `UsageError` for explicit settings that exceed it. */
export function boundSettings(settings: Settings, policy: CompiledPolicy): Settings {
  const { files, sandbox, network } = policy;
  const roots = files === undefined ? settings.roots : boundRoots(settings.roots, files.read);
  return {
    ...settings,
    roots,
    ...(files === undefined ? {} : { write: boundWrite(settings.write, roots, files.write) }),
    ...(sandbox === undefined
      ? {}
      : {
          allowedCommands: boundCommands(settings.allowedCommands, programsOf(policy)),
        }),
    packs: {
      ...settings.packs,
      ...(files?.maxFileBytes === undefined
        ? {}
        : { files: withFileSize(settings.packs['files'], files.maxFileBytes) }),
      ...(sandbox === undefined ? {} : { system: withSandbox(settings.packs['system'], sandbox) }),
      ...(sandbox === undefined && files === undefined
        ? {}
        : { workers: boundWorkers(settings.packs['workers'], roots, policy) }),
    },
    ...(network === undefined ? {} : { network }),
  };
}

function boundRoots(roots: readonly string[], allowed: readonly string[]): readonly string[] {
  if (roots.length === 0) return allowed;
  const outside = roots.find((root) => !allowed.some((each) => isInside(root, each)));
  if (outside === undefined) return roots;
  throw new UsageError(
    `--root ${outside} is not allowed by the policy, which allows: ${allowed.join(', ') || 'no folder'}`,
  );
}

/** The folders inside the roots that tools may change. */
function boundWrite(
  write: Settings['write'],
  roots: readonly string[],
  allowed: readonly string[],
): readonly string[] | false {
  if (write === undefined || write === false) return false;
  const folders = roots.flatMap((root) =>
    allowed.some((each) => isInside(root, each)) ? [root] : allowed.filter((each) => isInside(each, root)),
  );
  if (folders.length > 0) return folders;
  throw new UsageError(
    `--write is not allowed by the policy, which allows tools to write to: ${allowed.join(', ') || 'no folder'}`,
  );
}

/** The limit of the policy overrides a larger one of the configuration. */
function withFileSize(given: unknown, maxFileBytes: number): unknown {
  const options = (given ?? {}) as { readonly maxFileBytes?: number; readonly maxWriteBytes?: number };
  return {
    ...options,
    maxFileBytes: Math.min(options.maxFileBytes ?? maxFileBytes, maxFileBytes),
    maxWriteBytes: Math.min(options.maxWriteBytes ?? maxFileBytes, maxFileBytes),
  };
}

function boundCommands(names: readonly string[] | undefined, allowed: readonly string[]): readonly string[] {
  if (names === undefined) return allowed;
  const other = names.find((name) => !allowed.includes(name) && !allowed.includes(basename(name)));
  if (other === undefined) return names;
  throw new UsageError(`--allow-command ${other} is not allowed by the policy, which allows: ${allowed.join(', ')}`);
}

function programsOf({ sandbox }: CompiledPolicy): string[] {
  return (sandbox?.programs ?? []).map((program) => (typeof program === 'string' ? program : program.name));
}

/** Sandbox settings of the policy override those of the configuration. */
function withSandbox(given: unknown, { level, limits }: NonNullable<CompiledPolicy['sandbox']>): unknown {
  const options = (given ?? {}) as { readonly commands?: { readonly limits?: object } | false };
  if (options.commands === false) return options;
  return {
    ...options,
    commands: {
      ...options.commands,
      ...(level === undefined ? {} : { level }),
      limits: { ...options.commands?.limits, ...limits },
    },
  };
}

interface WorkersBounds {
  readonly level?: unknown;
  readonly network?: unknown;
  readonly readOnly?: readonly string[];
  readonly writable?: readonly string[];
}

/** Workers can read and write only what the policy allows. Roots without write access are read-only. */
function boundWorkers(options: unknown, roots: readonly string[], { files, sandbox }: CompiledPolicy): WorkersBounds {
  const given = (options ?? {}) as WorkersBounds;
  if (given.network === 'host' && sandbox !== undefined && sandbox.network !== 'host') {
    throw new UsageError(
      'packs.workers.network is "host", which the policy does not allow. To allow it, set "network" under "commands" of the policy to "host"',
    );
  }
  const level = sandbox?.level === undefined ? {} : { level: sandbox.level };
  if (files === undefined && sandbox?.readOnly === undefined && sandbox?.writable === undefined)
    return { ...given, ...level };
  const mayWrite = [...(files?.write ?? []), ...(sandbox?.writable ?? [])];
  const mayRead = [...(files?.read ?? []), ...(sandbox?.readOnly ?? []), ...mayWrite];
  const within = (folder: string, bounds: readonly string[]): boolean => bounds.some((each) => isInside(folder, each));
  for (const [name, bounds] of [
    ['writable', mayWrite],
    ['readOnly', mayRead],
  ] as const) {
    const outside = given[name]?.find((folder) => !within(folder, bounds));
    if (outside === undefined) continue;
    throw new UsageError(
      `packs.workers.${name}: ${outside} is not allowed by the policy, which allows: ${bounds.join(', ') || 'no folder'}`,
    );
  }
  const readable = roots.filter((root) => within(root, mayRead) && !within(root, mayWrite));
  return {
    ...given,
    ...level,
    writable: given.writable ?? roots.filter((root) => within(root, mayWrite)),
    readOnly: given.readOnly ?? readable,
  };
}
