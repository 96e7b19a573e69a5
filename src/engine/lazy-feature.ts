// Features that are loaded when they are first used, so that start-up loads only what clients use first.

import type { Call, Feature } from './contract.ts';

/**
 * What must be known of a feature before it is loaded: its duration, and how a result of middleware is encoded. Middleware
 * may answer instead of the feature, and the time limit may pass while it is being loaded.
 */
export type FeatureInfo = Required<Pick<Feature, 'duration'>> & Omit<Feature, 'run'>;

/** Throws for a call that was cancelled or timed out while something was awaited, so that no handler starts. */
export function throwIfSettled(call: Call): void {
  if (call.settled && call.task?.id === undefined) throw new DOMException('the call has ended', 'AbortError');
}

/**
 * A feature that loads another one when it first runs, and then replaces itself with it in `table`. `load` is shared by all
 * servers; a feature is loaded once.
 */
export function lazyFeature(table: Map<string, Feature>, info: FeatureInfo, load: () => Promise<Feature>): Feature {
  let loaded: Feature | undefined;
  return {
    ...info,
    async run(call) {
      loaded ??= await load();
      if (table.get(call.method) !== loaded) table.set(call.method, loaded);
      throwIfSettled(call);
      return loaded.run(call);
    },
    encode: (result, call) => (loaded ?? info).encode(result, call),
  };
}
