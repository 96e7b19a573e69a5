// Serves a gateway: finds the settings among its files, then serves it as any profile.

import { gatewayProfile } from '../profiles/index.ts';
import { serve } from '../serving/serve.ts';
import { type GatewaySources, settingsFileOf } from './gateway-settings.ts';
import type { SocketOptions } from './shared/serve-socket.ts';

export interface ServeGatewayOptions extends GatewaySources {
  readonly view?: string;
  readonly showSetup?: boolean;
  readonly socket?: SocketOptions | undefined;
}

/** Serves until the client disconnects (stdio) or the process is stopped. */
export async function serveGateway(options: ServeGatewayOptions): Promise<void> {
  const { view, showSetup = false, flags, socket, ...input } = options;
  const configFile = await settingsFileOf(input.files);
  // A file or a variable may turn on HTTP for gateways that are started without a socket.
  const allFlags = socket === undefined ? flags : { ...flags, http: ['false'] };
  await serve({
    profile: gatewayProfile,
    ...(allFlags === undefined ? {} : { flags: allFlags }),
    ...(configFile === undefined ? {} : { configFile }),
    showSetup,
    ...(socket === undefined ? {} : { socket }),
    gateway: { ...input, isShared: socket !== undefined, ...(view === undefined ? {} : { view }) },
  });
}
