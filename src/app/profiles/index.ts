// The profiles by name. A profile is loaded on demand, except for the two that clients start most.

import type { Settings } from '../settings/settings.ts';
import { clipboardProfile } from './clipboard.ts';
import { localProfile } from './local.ts';
import type { Profile } from './profile.ts';

export type { Data } from './data.ts';
export { packOptions } from './pack-options.ts';
export type { AssembledServer, PersistentState, Profile, ProfileOptions } from './profile.ts';

/** One row per profile. */
export interface ProfileRow {
  readonly about: string;
  /**
   * Whether the audit log is on by default: always, or if one of these features is enabled. Profiles that start programs
   * need it. Absent: off.
   */
  readonly audited?: 'always' | readonly (keyof Settings['enable'])[];
  /** Whether it stores data in the data folder, even if the operator did not choose one. */
  readonly keepsData?: true;
  /** Why it cannot be served by several processes. Absent: it can. */
  readonly oneProcess?: string;
  load(): Promise<Profile>;
}

export const profiles: Readonly<Record<string, ProfileRow>> = {
  clipboard: {
    about: 'the clipboard of this machine: get_clipboard, set_clipboard',
    load: async () => clipboardProfile,
  },
  custom: {
    about: 'nothing of its own: only the API, skills and plugins that you add',
    load: async () => (await import('./custom.ts')).customProfile,
  },
  empirical: {
    about: 'literature search in several sources at once, with errors as results',
    oneProcess: 'its event streams belong to the process that opened them',
    load: async () => (await import('./empirical.ts')).empiricalProfile,
  },
  everything: {
    about: 'every protocol feature, named as in the official conformance suite; for testing clients',
    load: async () => (await import('./everything.ts')).everythingProfile,
  },
  orchestrator: {
    about: 'supervised child processes, such as coding agents, as tools and worker:// resources',
    audited: 'always',
    keepsData: true,
    oneProcess: 'the programs that it supervises belong to one process',
    load: async () => (await import('./orchestrator.ts')).orchestratorProfile,
  },
  local: {
    about: 'clipboard, notes, time, arithmetic, web search and tools for the files in --root',
    audited: ['commands', 'workers'],
    keepsData: true,
    load: async () => localProfile,
  },
  reference: {
    about: 'counter, notes, arithmetic and a long task over HTTP, with resources, prompts and change notifications',
    keepsData: true,
    load: async () => (await import('./reference.ts')).referenceProfile,
  },
  'secure-local': {
    about: 'web search over stdio with a strict handshake and rate limits',
    load: async () => (await import('./secure-local.ts')).secureLocalProfile,
  },
  system: {
    about: 'sandboxed commands, files, D-Bus services and prompts for this machine, over stdio, HTTP and WebSocket',
    audited: 'always',
    load: async () => (await import('./system.ts')).systemProfile,
  },
};

export const defaultProfile = 'local';

/** The profile of "mooring gateway". It is not in the list: it needs servers to offer. */
export const gatewayProfile = 'gateway';
