// The profile that is a gateway and nothing else. It is also what the program loads to serve a gateway beside a profile: one
// file of the bundle.

import { gatewayProfile, type Profile, type ProfileRow } from '../profiles/index.ts';
import type { Settings } from '../settings/settings.ts';
import { filesOf, type GatewaySources } from './gateway-settings.ts';
import { openGatewayHost } from './host.ts';
import { protection } from './protection.ts';

export { filesOf, openGatewayHost, protection };

/** A profile for these files. */
export function gatewayRow(input: GatewaySources & { readonly view?: string }, { configFile }: Settings): ProfileRow {
  const files = filesOf(input, configFile);
  const profile: Profile = {
    name: gatewayProfile,
    async assemble({ settings, audit, health, persistentState, logger }) {
      const { view } = input;
      const host = await openGatewayHost({
        ...{ input, files, view, settings, audit, health, persistentState, logger },
      });
      await host.server.use({ name: 'gateway', install() {}, close: () => host.close() });
      return { server: host.server, gateway: host };
    },
  };
  return {
    about: 'the servers of a configuration file behind one endpoint',
    load: async () => profile,
  };
}
