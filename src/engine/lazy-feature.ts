// A feature that is loaded when it is first asked for: a server pays at its start only for what its clients use first.

import type { Feature } from './feature.ts';

/** `pace` is said here, since it must be known before the feature is. */
export function lazyFeature(pace: NonNullable<Feature['pace']>, load: () => Promise<Feature>): Feature {
  let loaded: Feature | undefined;
  let loading: Promise<Feature> | undefined;
  const loadOnce = (): Promise<Feature> => {
    loading ??= load().then((feature) => {
      loaded = feature;
      return feature;
    });
    return loading;
  };
  return {
    pace,
    run: (call) => (loaded === undefined ? loadOnce().then((feature) => feature.run(call)) : loaded.run(call)),
    // Nothing is spelled before it ran.
    encode: (result, call) => (loaded as Feature).encode(result, call),
    failed: (result) => loaded?.failed?.(result) ?? false,
  };
}
