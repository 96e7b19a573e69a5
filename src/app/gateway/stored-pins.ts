// The pins of this user's gateways, for the commands about them.

import { slugOf } from '../../gateway/names/index.ts';
import { type DefinitionDifference, diffDefinitions, type PinDifference, Pins } from '../../gateway/pins/index.ts';
import { resolveSettings } from '../config/resolve.ts';
import { GatewayGone } from './control-socket.ts';
import { pinFile } from './data-files.ts';
import { runningGateways } from './running.ts';

/**
 * Pins as the running gateways use them: what has a later one is not of an earlier command or URL as long as a gateway has it.
 */
export interface StoredPins extends Pick<Pins, 'list' | 'accept' | 'remove' | 'saved'> {
  /** Whether all running gateways said which commands and URLs their servers have. Otherwise none is taken for an earlier one. */
  readonly isCertain: boolean;
  /** The values that differ. */
  fieldsOf(difference: Pick<PinDifference, 'accepted' | 'seen'>): readonly DefinitionDifference[];
  /** The servers that have pins. Pins do not have the name of an entry, which becomes a slug. */
  servers(): readonly string[];
  slugOf(name: string): string;
}

/** Opens the pins in a data folder; default: that of the settings. */
export async function openPins(dataDir: string | undefined): Promise<StoredPins> {
  const { settings } = await resolveSettings({ flags: dataDir === undefined ? {} : { data: [dataDir] } });
  const pins = new Pins({ file: pinFile(settings.dataDir) });
  const { accepted, differences } = pins.list();
  const mayBeEarlier = [...accepted, ...differences].some(({ isEarlier }) => isEarlier);
  const inUse = mayBeEarlier ? await identitiesInUse() : new Set<string>();
  const checked = <Of extends { readonly identity: string; readonly isEarlier: boolean }>(each: Of): Of => ({
    ...each,
    isEarlier: each.isEarlier && inUse?.has(each.identity) === false,
  });
  const list: Pins['list'] = () => {
    const stored = pins.list();
    return { accepted: stored.accepted.map(checked), differences: stored.differences.map(checked) };
  };
  return {
    list,
    isCertain: inUse !== undefined,
    accept: (identity, slug, tool) => pins.accept(identity, slug, tool),
    remove: (identities) => pins.remove(identities),
    saved: () => pins.saved(),
    servers: () => {
      const stored = list();
      return [...new Set([...stored.accepted, ...stored.differences].map(({ slug }) => slug))];
    },
    slugOf,
    fieldsOf: ({ accepted, seen }) => diffDefinitions(accepted, seen),
  };
}

/** Of the servers of all running gateways. Two of them may have different commands for one name. Undefined if one does not say. */
async function identitiesInUse(): Promise<ReadonlySet<string> | undefined> {
  let isKnown = true;
  const unknown = (): void => {
    isKnown = false;
  };
  const running = await runningGateways(unknown);
  const identities = running.map((each) =>
    each.identities().catch((error: unknown): readonly string[] => {
      // One that ends meanwhile has no servers. One of an earlier version does not know the request.
      if (!(error instanceof GatewayGone)) unknown();
      return [];
    }),
  );
  const found = new Set((await Promise.all(identities)).flat());
  return isKnown ? found : undefined;
}
