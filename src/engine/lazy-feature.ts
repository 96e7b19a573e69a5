// Features that are loaded when they are first asked for: a server pays at its start only for what its clients use
// first.

import type { Call, Feature } from './contract.ts';

/**
 * What must be known of a feature before it is there: how it is timed, and how an answer is spelled that it did not
 * give itself. Middleware may answer in its place, and its time may be up, while it is still being loaded.
 */
export type FeatureInfo = Required<Pick<Feature, 'duration'>> & Omit<Feature, 'run'>;

/** Throws for a call that was cancelled, or whose time was up, while something it needs was awaited: no handler begins. */
export function throwIfSettled(call: Call): void {
  if (call.settled) throw new DOMException('the call has ended', 'AbortError');
}

/**
 * A stand-in until the feature is loaded, which then takes its place in the table of its server. `load` is shared by
 * all servers; what it has loaded once is there for good.
 */
export function lazyFeature(table: Map<string, Feature>, outline: FeatureInfo, load: () => Promise<Feature>): Feature {
  let loaded: Feature | undefined;
  return {
    ...outline,
    async run(call) {
      loaded ??= await load();
      if (table.get(call.method) !== loaded) table.set(call.method, loaded);
      throwIfSettled(call);
      return loaded.run(call);
    },
    encode: (result, call) => (loaded ?? outline).encode(result, call),
  };
}
