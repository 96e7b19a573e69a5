// The running gateways of this user, and the requests that commands send to them.

import { rmSync } from 'node:fs';
import type { UpstreamStatus } from '../../gateway/index.ts';
import { UsageError } from '../usage-error.ts';
import { askGateway, findControlSockets, GatewayGone, GatewaySilent } from './control-socket.ts';
import type { GatewayServing } from './host-contract.ts';
import type { OuterGateways } from './outer-gateways.ts';

/** What a gateway reports about those above it. */
export interface Above extends Pick<OuterGateways, 'ids' | 'above'> {
  /** Absent from an earlier version: all of them. */
  readonly accepted?: readonly string[];
}

/** What a gateway reports about itself. */
export interface GatewayInfo {
  readonly pid: number;
  readonly startedAt: string;
  readonly version: string;
  readonly transport: GatewayServing['transport'];
  readonly url?: string | undefined;
  /** How many clients are connected, if they share it. */
  readonly clients?: number | undefined;
  readonly files: readonly string[];
  /** Why the files were not applied when they changed. */
  readonly problem?: string | undefined;
}

/** A tool in the list of a view. */
export interface ListedTool {
  readonly name: string;
  readonly server: string;
  readonly original: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
}

export interface RunningGateway {
  readonly info: GatewayInfo;
  status(): Promise<readonly UpstreamStatus[]>;
  tools(view: string): Promise<readonly ListedTool[]>;
  restart(server: string): Promise<void>;
  /** Its own ids, and those of the gateways above it. */
  above(): Promise<Above>;
  /** Of its servers, as pins have them. */
  identities(): Promise<readonly string[]>;
  /** Compares the tools of a server with its pins again. */
  recheck(server: string): Promise<void>;
  reload(): Promise<void>;
  /** Ends it. Resolves when it has begun to. */
  stop(): Promise<void>;
}

/** How long a gateway may take to say that it runs; one that is stopped or busy must not delay the others for long. */
const infoMs = 5_000;

/** All gateways that respond. Sockets of those that ended are removed. `onSilent`: for each that does not respond. */
export async function runningGateways(onSilent?: (pid: number) => void): Promise<readonly RunningGateway[]> {
  const found = [...findControlSockets()].map(async ([pid, path]): Promise<RunningGateway | undefined> => {
    try {
      return gatewayAt(path, (await askGateway(path, 'info', {}, infoMs)) as GatewayInfo);
    } catch (error) {
      if (error instanceof GatewaySilent) onSilent?.(pid);
      if (error instanceof GatewayGone && process.platform !== 'win32') rmSync(path, { force: true });
      return undefined;
    }
  });
  return (await Promise.all(found)).filter((each) => each !== undefined);
}

/** The gateway to use: the only one, or the one with this process id. Undefined if none runs. */
export async function findGateway(pid?: string): Promise<RunningGateway | undefined> {
  const silent: number[] = [];
  const running = await runningGateways((each) => silent.push(each));
  const isMeant = (each: number): boolean => (pid === undefined ? running.length === 0 : String(each) === pid);
  const hung = silent.find(isMeant);
  if (hung !== undefined) throw new Error(`The gateway ${hung} does not respond`);
  if (pid !== undefined) {
    const named = running.find(({ info }) => String(info.pid) === pid);
    if (named === undefined)
      throw new UsageError(`No gateway runs as process ${pid}. "mooring gateway status" lists them`);
    return named;
  }
  if (running.length <= 1) return running[0];
  const pids = running.map(({ info }) => `  --pid ${info.pid}  ${info.files.join(', ') || info.url || info.transport}`);
  throw new UsageError(`Several gateways are running; choose one:\n${pids.join('\n')}`);
}

function gatewayAt(path: string, info: GatewayInfo): RunningGateway {
  return {
    info,
    status: async () => (await askGateway(path, 'status')) as readonly UpstreamStatus[],
    tools: async (view) => (await askGateway(path, 'tools', { view })) as readonly ListedTool[],
    restart: async (server) => void (await askGateway(path, 'restart', { server })),
    above: async () => (await askGateway(path, 'above', {}, infoMs)) as Above,
    identities: async () => (await askGateway(path, 'identities', {}, infoMs)) as readonly string[],
    recheck: async (server) => void (await askGateway(path, 'recheck', { server })),
    reload: async () => void (await askGateway(path, 'reload')),
    stop: async () => void (await askGateway(path, 'stop')),
  };
}
