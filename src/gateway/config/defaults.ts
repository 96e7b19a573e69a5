// The defaults of the gateway's keys, each limit with the reason for it.

import type { GatewayConfig, InputKind, ViewConfig } from './gateway-config.ts';

/** The name of the default view in files, commands and addresses. */
export const defaultViewName = 'default';

/** The view with a name; the default view has an empty name as well. */
export function findView(
  { defaultView, views }: Pick<GatewayConfig, 'defaultView' | 'views'>,
  name: string,
): ViewConfig | undefined {
  return name === '' || name === defaultViewName ? defaultView : views.find((view) => view.name === name);
}

export const defaults = {
  start: 'lazy',
  /** Ten minutes: a server that is not used should not use memory. */
  idleMs: 600_000,
  /** Stops a server that exits immediately from being started in a loop. */
  restart: { minMs: 1_000, maxMs: 60_000, tries: 5, withinMs: 300_000 },
  /** Stops callers from filling the machine with copies of one server. */
  maxProcesses: 8,
  timeoutMs: 60_000,
  maxTimeoutMs: 600_000,
  revision: 'auto',
  asks: ['elicitation', 'sampling', 'roots'] as readonly InputKind[],
  pin: 'warn',
  newTools: 'allow',
  refreshMs: 300_000,
  /** Stops one result from filling the memory and the model's context. */
  maxResultBytes: 8 * 1024 * 1024,
  required: false,
  validate: false,
  identify: false,
  mode: 'all',
  /** About 16,000 tokens, which a model reads before every conversation. */
  maxListBytes: 64 * 1024,
  tasks: 'by-server',
  bareNames: 'apps',
  drainMs: 30_000,
  firstListMs: 5_000,
  catalog: true,
} as const;
