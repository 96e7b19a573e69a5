// The profiles that start without options; `custom` needs something to offer.

import { profiles } from '../../src/app/profiles/index.ts';

export const profileNames: readonly string[] = Object.keys(profiles).filter((name) => name !== 'custom');
