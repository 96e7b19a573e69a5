// What a server declares about tasks to one caller. Loaded at start, so it imports nothing else of tasks/.

import { principalKey } from '../../../protocol/callers/principal.ts';
import type { Peer } from '../../../protocol/exchange.ts';
import type { Capabilities } from '../../../protocol/model.ts';
import { isVisible } from '../../catalog/catalog-entry.ts';
import type { CallServer } from '../../contract.ts';
import type { Caller } from '../../ports.ts';

/**
 * Who owns the tasks of a caller: its principal, never its session, so that they outlive a lost connection. Without a
 * principal, a pipe belongs to one user; elsewhere the id of a task is the only credential.
 */
export function ownerOf({ principal, transport }: Peer): string {
  if (principal !== undefined) return principalKey(principal);
  return transport === 'stdio' || transport === 'memory' ? 'local' : '';
}

/** The capabilities of a server with tasks: not declared to a caller that sees no tool with tasks, or cannot list them. */
export function withTasksOf(peer: Peer, caller: Caller, server: CallServer): Capabilities {
  const { capabilities, tasks: service, callerCatalogs } = server;
  const { tasks, ...others } = capabilities;
  if (tasks === undefined) return capabilities;
  // A gateway declares tasks before it knows the tools of its servers.
  const isOffered =
    service === undefined ||
    callerCatalogs?.isKnown(caller) === false ||
    [...server.catalogOf(caller).tools.values()].some((tool) => tool.task && isVisible(tool, peer.principal));
  if (!isOffered) return others;
  const { list: _list, ...withoutList } = tasks as { readonly list?: unknown };
  return ownerOf(peer) === '' ? { ...others, tasks: withoutList } : capabilities;
}
