// A gateway inside this program, as the rest of the program sees it. Only types.

import type { ConsoleGateway } from '../../console/contract.ts';
import type { RequestInfo } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { Gateway } from '../../gateway/index.ts';
import type { Monitor } from '../../protocol/monitor.ts';
import type { CallerTokens } from './caller-tokens.ts';
import type { OuterGateways } from './outer-gateways.ts';
import type { SignInAccess } from './sign-in/sign-in-access.ts';

/** Installs telemetry, audit log and policy on a server; `below`: its address below the endpoint. */
export type Protect = (server: Server, upstreamOf: (request: RequestInfo) => string | undefined, below: string) => void;

/** How a gateway is served. */
export interface GatewayServing {
  readonly transport: 'stdio' | 'http' | 'socket';
  readonly url?: string;
  /** How many clients are connected, if it is shared. */
  clients?(): number;
}

export interface GatewayHost {
  readonly gateway: Gateway;
  /** The server at the endpoint. */
  readonly server: Server;
  /** For servers whose tokens are issued in exchange for those of callers. */
  readonly callerTokens: Pick<CallerTokens, 'remembering'>;
  /** For servers to which callers sign in themselves. */
  readonly signIns: Pick<SignInAccess, 'open' | 'handle'>;
  readonly outer: OuterGateways;
  /** The server at a path below the endpoint. */
  serverAt(path: string): Server | undefined;
  /** Protects all servers, existing and future ones. Until it is called, only the server at the endpoint exists. */
  protect(protect: Protect): void;
  /** For health probes: unavailable while a required server is down. */
  readonly monitor: Monitor;
  /** Reads the files again. */
  reload(): Promise<void>;
  /** For the console. */
  readonly upstreams: ConsoleGateway;
  /** Opens the control socket. */
  control(serving: GatewayServing): Promise<void>;
  close(): Promise<void>;
}
