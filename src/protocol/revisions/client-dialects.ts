// What a client may send in each revision: one row of data per date, beside the row both sides share (dialects.ts).

import { isObject } from '../json-rpc.ts';
import type { Capabilities } from '../model.ts';
import { type Dialect, handshakeDialects, statelessDialects } from './dialects.ts';

export interface ClientDialect {
  readonly shared: Dialect;
  /** Over HTTP every request names the revision once it is negotiated. */
  readonly versionHeader: boolean;
  /** Notifications a client may send. */
  readonly notifications: readonly string[];
  /** Capabilities a client may declare, with the flags of each; capabilities outside the protocol are passed on. */
  readonly capabilities: Readonly<Record<string, readonly string[]>>;
}

/** Capabilities of the protocol; a revision that does not list one leaves it out. */
const known = ['roots', 'sampling', 'elicitation', 'tasks'];

type ClientOnlyFields = Omit<ClientDialect, 'shared'>;

const first: ClientOnlyFields = {
  versionHeader: false,
  notifications: ['notifications/initialized', 'notifications/cancelled', 'notifications/roots/list_changed'],
  capabilities: { roots: ['listChanged'], sampling: [] },
};
const third: ClientOnlyFields = {
  ...first,
  versionHeader: true,
  capabilities: { ...first.capabilities, elicitation: [] },
};
const fourth: ClientOnlyFields = {
  ...third,
  capabilities: { roots: ['listChanged'], sampling: ['tools', 'context'], elicitation: ['form', 'url'] },
};
const fifth: ClientOnlyFields = {
  ...fourth,
  notifications: ['notifications/cancelled'],
  capabilities: { ...fourth.capabilities, roots: [] },
};

const rows: Readonly<Record<string, ClientOnlyFields>> = {
  '2024-11-05': first,
  '2025-03-26': first,
  '2025-06-18': third,
  '2025-11-25': fourth,
  '2026-07-28': fifth,
};

const withRow = (shared: Dialect): ClientDialect => ({ shared, ...(rows[shared.date] as ClientOnlyFields) });

/** Oldest first, as in dialects.ts. */
export const clientHandshakeDialects: readonly ClientDialect[] = handshakeDialects.map(withRow);
export const clientStatelessDialects: readonly ClientDialect[] = statelessDialects.map(withRow);

/** What a client declares, as far as the revision supports it. */
export function encodeCapabilities(declared: Capabilities, dialect: ClientDialect): Capabilities {
  const encoded: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(declared)) {
    if (!known.includes(key)) encoded[key] = value;
    const flags = dialect.capabilities[key];
    if (flags === undefined || !isObject(value)) continue;
    encoded[key] = Object.fromEntries(Object.entries(value).filter(([flag]) => flags.includes(flag)));
    // Before form and URL elicitation had separate flags, elicitation meant forms.
    if (key === 'elicitation' && flags.length === 0 && isObject(value['url']) && !isObject(value['form'])) {
      delete encoded[key];
    }
  }
  return encoded;
}
