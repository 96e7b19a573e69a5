// Reads the settings and the policy together, at start-up and on a reload.

import { type ResolvedSettings, resolveSettings, type SettingsInput } from '../config/resolve.ts';
import type { CompiledPolicy } from './policy.ts';

export interface ReadSettings {
  /** Limited to what the policy allows. */
  readonly resolved: ResolvedSettings;
  readonly policy: CompiledPolicy | undefined;
}

/** Throws a `UsageError` for invalid settings or an invalid policy. */
export async function readSettings(asked: SettingsInput): Promise<ReadSettings> {
  const resolved = await resolveSettings(asked);
  const { settings, file } = resolved;
  if (settings.policy === undefined) return { resolved, policy: undefined };
  const { boundSettings, openPolicy } = await import('./policy.ts');
  const guarded = [file, settings.audit?.file, settings.auth?.tokenFile].filter((each) => each !== undefined);
  const policy = await openPolicy(settings.policy, settings.profile, guarded);
  return { resolved: { ...resolved, settings: boundSettings(settings, policy) }, policy };
}
