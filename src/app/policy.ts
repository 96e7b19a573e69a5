// The policy of a run: read before anything is put together, since it also bounds what the profile may be given, and
// put in force before anybody can connect.

import { basename, isAbsolute, relative } from 'node:path';
import { type CompiledPolicy, loadPolicy, PolicyError } from '../security/policy/index.ts';
import { Mistake } from './mistake.ts';
import type { Settings } from './settings.ts';

export {
  type CompiledPolicy,
  type Explanation,
  enforcePolicy,
  explainCall,
  formatExplanation,
  policySchema,
  type Question,
} from '../security/policy/index.ts';

/** Reads a policy file. `guarded` are files that no tool may be able to write to. */
export async function openPolicy(
  file: string,
  profile: string,
  guarded: readonly string[] = [],
): Promise<CompiledPolicy> {
  try {
    return await loadPolicy(file, { profile, guarded });
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    throw new Mistake(error.message.includes(file) ? error.message : `${file}: ${error.message}`);
  }
}

/** The settings within the bounds of the policy; what was asked for beyond them is a mistake. */
export function boundSettings(settings: Settings, policy: CompiledPolicy): Settings {
  const { files, sandbox, network } = policy;
  return {
    ...settings,
    ...(files === undefined ? {} : { roots: boundRoots(settings.roots, files.read) }),
    ...(sandbox === undefined
      ? {}
      : {
          allowedCommands: boundCommands(settings.allowedCommands, programsOf(policy)),
          packs: { ...settings.packs, system: withSandbox(settings.packs['system'], sandbox) },
        }),
    ...(network === undefined ? {} : { network }),
  };
}

function boundRoots(roots: readonly string[], allowed: readonly string[]): readonly string[] {
  if (roots.length === 0) return allowed;
  const outside = roots.find((root) => !allowed.some((each) => isInside(root, each)));
  if (outside === undefined) return roots;
  throw new Mistake(`--root ${outside} lies outside what the policy allows: ${allowed.join(', ') || 'nothing'}`);
}

function boundCommands(names: readonly string[] | undefined, allowed: readonly string[]): readonly string[] {
  if (names === undefined) return allowed;
  const other = names.find((name) => !allowed.includes(name) && !allowed.includes(basename(name)));
  if (other === undefined) return names;
  throw new Mistake(`--allow-command ${other} is not among the programs the policy allows: ${allowed.join(', ')}`);
}

function programsOf({ sandbox }: CompiledPolicy): string[] {
  return (sandbox?.programs ?? []).map((program) => (typeof program === 'string' ? program : program.name));
}

/** What the policy says of the sandbox wins over what the configuration says of it. */
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

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith('../') && !way.startsWith('..\\') && !isAbsolute(way));
}
