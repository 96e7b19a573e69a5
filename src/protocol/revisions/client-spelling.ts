// What a client may send in each revision: one row of data per date, beside the row both sides share (dialects.ts).

import { isObject } from '../json-rpc.ts';
import type { Capabilities } from '../model.ts';
import { handshakeSpellings, type Spelling, statelessSpellings } from './spelling.ts';

export interface ClientSpelling {
  readonly shared: Spelling;
  /** Over HTTP every request names the revision once it is negotiated. */
  readonly versionHeader: boolean;
  /** Notifications a client may send. */
  readonly notifications: readonly string[];
  /** Capabilities a client may declare, with the flags of each; capabilities outside the protocol are passed on. */
  readonly capabilities: Readonly<Record<string, readonly string[]>>;
}

/** Capabilities of the protocol; a revision that does not list one leaves it out. */
const known = ['roots', 'sampling', 'elicitation', 'tasks'];

type Row = Omit<ClientSpelling, 'shared'>;

const first: Row = {
  versionHeader: false,
  notifications: ['notifications/initialized', 'notifications/cancelled', 'notifications/roots/list_changed'],
  capabilities: { roots: ['listChanged'], sampling: [] },
};
const third: Row = { ...first, versionHeader: true, capabilities: { ...first.capabilities, elicitation: [] } };
const fourth: Row = {
  ...third,
  capabilities: { roots: ['listChanged'], sampling: ['tools', 'context'], elicitation: ['form', 'url'] },
};
const fifth: Row = {
  ...fourth,
  notifications: ['notifications/cancelled'],
  capabilities: { ...fourth.capabilities, roots: [] },
};

const rows: Readonly<Record<string, Row>> = {
  '2024-11-05': first,
  '2025-03-26': first,
  '2025-06-18': third,
  '2025-11-25': fourth,
  '2026-07-28': fifth,
};

const withRow = (shared: Spelling): ClientSpelling => ({ shared, ...(rows[shared.date] as Row) });

/** Oldest first, as in dialects.ts. */
export const clientHandshakeSpellings: readonly ClientSpelling[] = handshakeSpellings.map(withRow);
export const clientStatelessSpellings: readonly ClientSpelling[] = statelessSpellings.map(withRow);

/** What a client declares, as far as the revision supports it. */
export function spellCapabilities(declared: Capabilities, spelling: ClientSpelling): Capabilities {
  const spelled: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(declared)) {
    if (!known.includes(key)) spelled[key] = value;
    const flags = spelling.capabilities[key];
    if (flags === undefined || !isObject(value)) continue;
    spelled[key] = Object.fromEntries(Object.entries(value).filter(([flag]) => flags.includes(flag)));
    // Before form and URL elicitation had separate flags, elicitation meant forms.
    if (key === 'elicitation' && flags.length === 0 && isObject(value['url']) && !isObject(value['form'])) {
      delete spelled[key];
    }
  }
  return spelled;
}
