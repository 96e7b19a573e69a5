// Features that are loaded when they are first asked for: a server pays at its start only for what its clients use
// first.

import type { Feature } from './feature.ts';

/** What must be known of a feature before it is there. */
type Outline = Required<Pick<Feature, 'pace'>> & Pick<Feature, 'timeoutMs'>;

/**
 * A stand-in until the feature is loaded, which then takes its place in the table of its server. `load` is shared by
 * all servers; what it has loaded once is there for good.
 */
export function lazyFeature(outline: Outline, load: () => Promise<Feature>): Feature {
  let loaded: Feature | undefined;
  return {
    ...outline,
    async run(call) {
      loaded ??= await load();
      const { features } = call.core;
      if (features.get(call.method) !== loaded) features.set(call.method, loaded);
      return loaded.run(call);
    },
    // Nothing is spelled before it ran.
    encode: (result, call) => (loaded as Feature).encode(result, call),
    failed: (result) => loaded?.failed?.(result) ?? false,
    get recover() {
      return loaded?.recover;
    },
  };
}
