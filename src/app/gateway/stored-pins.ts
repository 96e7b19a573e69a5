// The pins of this user's gateways, for the commands about them.

import { slugOf } from '../../gateway/names/index.ts';
import { type DefinitionDifference, diffDefinitions, type PinDifference, Pins } from '../../gateway/pins/index.ts';
import { resolveSettings } from '../config/resolve.ts';
import { pinFile } from './data-files.ts';

export interface StoredPins extends Pick<Pins, 'list' | 'accept' | 'saved'> {
  /** The values that differ. */
  fieldsOf(difference: PinDifference): readonly DefinitionDifference[];
  /** The servers that have pins. Pins do not have the name of an entry, which becomes a slug. */
  servers(): readonly string[];
  slugOf(name: string): string;
}

/** Opens the pins in a data folder; default: that of the settings. */
export async function openPins(dataDir: string | undefined): Promise<StoredPins> {
  const { settings } = await resolveSettings({ flags: dataDir === undefined ? {} : { data: [dataDir] } });
  const pins = new Pins({ file: pinFile(settings.dataDir) });
  return {
    list: () => pins.list(),
    accept: (identity, slug, tool) => pins.accept(identity, slug, tool),
    saved: () => pins.saved(),
    servers: () => {
      const { accepted, differences } = pins.list();
      return [...new Set([...accepted, ...differences].map(({ slug }) => slug))];
    },
    slugOf,
    fieldsOf: ({ accepted, seen }) => diffDefinitions(accepted, seen),
  };
}
