// The capabilities that the gateway declares to upstreams. Equal sets are one object, so that their text is encoded once.

import type { Capabilities } from '../../protocol/model.ts';
import type { InputKind } from '../config/gateway-config.ts';
import type { Asks } from './contract.ts';

/** For connections that several callers share: each input request is checked against its caller. */
export const everyAsk: Asks = { form: true, url: true, sampling: true, samplingTools: true, roots: true };

const known = new Map<number, Capabilities>();

/** The capabilities of one request, on revisions that declare them per request. */
export function requestCapabilities(asks: Asks, allowed: readonly InputKind[]): Capabilities {
  const elicits = allowed.includes('elicitation');
  const samples = allowed.includes('sampling');
  const flags = [
    elicits && asks.form,
    elicits && asks.url,
    samples && asks.sampling,
    samples && asks.samplingTools,
    // Answered from the configuration if the caller has none.
    allowed.includes('roots'),
  ];
  const key = flags.reduce((bits, flag, i) => bits | (flag ? 1 << i : 0), 0);
  let capabilities = known.get(key);
  if (capabilities === undefined) known.set(key, (capabilities = declare(flags)));
  return capabilities;
}

function declare([form, url, sampling, tools, roots]: readonly boolean[]): Capabilities {
  return {
    ...(form || url ? { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } } : {}),
    ...(sampling ? { sampling: tools ? { tools: {} } : {} } : {}),
    ...(roots ? { roots: {} } : {}),
  };
}
