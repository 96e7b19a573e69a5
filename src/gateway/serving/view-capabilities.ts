// The capabilities that the server of a view declares: what its upstreams offer.

import type { OwnedEntries } from '../../engine/catalog/catalog-entry.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Capabilities, JsonObject } from '../../protocol/model.ts';
import { extensionCapabilities, viewExtensions } from '../relays/extensions.ts';
import { decidesOnTasks } from '../relays/task-rules.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import type { ViewSource } from './view-source.ts';

/**
 * As long as one of the upstreams is not known, it may offer everything. `hasTasks`: whether a tool that all callers see may run as a
 * task.
 */
export function declareView(source: ViewSource, entries: OwnedEntries, hasTasks: boolean): Capabilities {
  const upstreams = [...source.upstreams.values()];
  const known = upstreams.map(({ facts }) => facts?.capabilities);
  const all = known.includes(undefined);
  const offers = (kind: string): boolean => all || known.some((each) => each?.[kind] !== undefined);
  const has = (kind: keyof OwnedEntries): boolean => offers(kind) || (entries[kind] ?? []).length > 0;
  // What can be read only through a template is a resource, too.
  const hasResources = has('resources') || has('resourceTemplates');
  const subscribes = all || upstreams.some(hasSubscribe);
  const mayHaveTasks = all || hasTasks || hasPrivateTasks(source);
  return {
    ...(source.isSingle ? extensionCapabilities(upstreams[0]?.facts) : viewExtensions(known)),
    logging: {},
    ...(has('tools') ? { tools: { listChanged: true } } : {}),
    ...(has('prompts') ? { prompts: { listChanged: true } } : {}),
    ...(hasResources ? { resources: { ...(subscribes ? { subscribe: true } : {}), listChanged: true } } : {}),
    ...(offers('completions') ? { completions: {} } : {}),
    ...(offers('skills') ? { skills: skillCapability(source) } : {}),
    ...(mayHaveTasks ? { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } } : {}),
  };
}

/** At the address of a single server as that declares it. Otherwise folders are read from the entries of skills too. */
function skillCapability({ isSingle, upstreams }: ViewSource): JsonObject {
  const [only] = upstreams.values();
  const declared = isSingle ? only?.facts?.capabilities?.['skills'] : undefined;
  return isObject(declared) ? declared : { directoryRead: true };
}

/** Whether tools that only some callers see may run as tasks. */
export function hasPrivateTasks({ upstreams, view }: ViewSource): boolean {
  return [...upstreams.values()].some(({ isPrivate, facts, config }) => {
    const chosen = Object.values(config.override).map(({ taskSupport = 'forbidden' }) => taskSupport);
    const isChosen = view?.tasks === 'when-slow' || chosen.some((support) => support !== 'forbidden');
    return isPrivate && (isChosen || decidesOnTasks(facts));
  });
}

export function hasSubscribe({ facts }: Upstream): boolean {
  const resources = facts?.capabilities?.['resources'];
  return isObject(resources) && resources['subscribe'] === true;
}
