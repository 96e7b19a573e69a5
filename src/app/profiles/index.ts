// The ready-made servers by name. A profile is loaded only when it is asked for.

import type { Profile } from './profile.ts';

export type { Profile, ProfileOptions, Ready } from './profile.ts';

/** One row per profile: what it is for, and where it is put together. */
export const profiles: Readonly<Record<string, { readonly about: string; load(): Promise<Profile> }>> = {
  clipboard: {
    about: 'the clipboard of this machine: get_clipboard, set_clipboard',
    load: async () => (await import('./clipboard.ts')).clipboardProfile,
  },
  everything: {
    about: 'every protocol feature under the names of the official conformance suite; a test peer for client authors',
    load: async () => (await import('./everything.ts')).everythingProfile,
  },
  'secure-local': {
    about: 'web search over stdio with a strict handshake, rate limits and validated input',
    load: async () => (await import('./secure-local.ts')).secureLocalProfile,
  },
  system: {
    about: 'sandboxed commands, files, D-Bus services and prompts about this machine, over stdio, HTTP and WebSocket',
    load: async () => (await import('./system.ts')).systemProfile,
  },
};

export const defaultProfile = 'everything';
