// The capabilities that the gateway declares to upstreams. Equal sets share one object, so each is encoded once.

import { appHostCapabilities } from '../../protocol/apps.ts';
import type { Capabilities } from '../../protocol/model.ts';
import type { InputKind } from '../config/gateway-config.ts';
import type { Asks } from './contract.ts';

/**
 * For connections that several callers share: each input request is checked against its caller. Tools with an app have a
 * result for clients without apps too (MCP Apps, 2026-01-26).
 */
export const everyAsk: Asks = { form: true, url: true, sampling: true, samplingTools: true, roots: true, apps: true };

const known: Capabilities[] = [];

const flags = { form: 1, url: 2, sampling: 4, samplingTools: 8, roots: 16, apps: 32 } as const satisfies Record<
  keyof Asks,
  number
>;

/** The capabilities of one request, on revisions that declare them per request. */
export function requestCapabilities(asks: Asks, allowed: readonly InputKind[]): Capabilities {
  const elicits = allowed.includes('elicitation');
  const samples = allowed.includes('sampling');
  const key =
    (elicits && asks.form ? flags.form : 0) |
    (elicits && asks.url ? flags.url : 0) |
    (samples && asks.sampling ? flags.sampling : 0) |
    (samples && asks.samplingTools ? flags.samplingTools : 0) |
    // Answered from the configuration if the caller has none.
    (allowed.includes('roots') ? flags.roots : 0) |
    (asks.apps ? flags.apps : 0);
  return (known[key] ??= declare(key));
}

function declare(key: number): Capabilities {
  const has = (flag: keyof typeof flags): boolean => (key & flags[flag]) !== 0;
  const [form, url] = [has('form'), has('url')];
  return {
    ...(form || url ? { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } } : {}),
    ...(has('sampling') ? { sampling: has('samplingTools') ? { tools: {} } : {} } : {}),
    ...(has('roots') ? { roots: {} } : {}),
    ...(has('apps') ? appHostCapabilities : {}),
  };
}
