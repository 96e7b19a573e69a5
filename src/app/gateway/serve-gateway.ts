// Serves a gateway: finds the settings among its files, then serves it as any profile.

import { gatewayProfile } from '../profiles/index.ts';
import { serve } from '../serving/serve.ts';
import { type GatewaySources, settingsFileOf } from './gateway-settings.ts';

export interface ServeGatewayOptions extends GatewaySources {
  readonly view?: string;
  readonly showSetup?: boolean;
}

/** Serves until the client disconnects (stdio) or the process is stopped. */
export async function serveGateway({ view, showSetup = false, flags, ...input }: ServeGatewayOptions): Promise<void> {
  const configFile = await settingsFileOf(input.files);
  await serve({
    profile: gatewayProfile,
    ...(flags === undefined ? {} : { flags }),
    ...(configFile === undefined ? {} : { configFile }),
    showSetup,
    gateway: { ...input, ...(view === undefined ? {} : { view }) },
  });
}
