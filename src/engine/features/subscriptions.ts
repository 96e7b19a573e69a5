// Notifications of changes: resources/subscribe for sessions, subscriptions/listen for stateless requests.

import type { Ability } from '../../protocol/abilities.ts';
import { callerKey } from '../../protocol/callers/caller-budget.ts';
import { wireErrors } from '../../protocol/errors.ts';
import type { Principal } from '../../protocol/exchange.ts';
import { metaKeys } from '../../protocol/meta.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { isThenable } from '../calls/run-call.ts';
import { type AnnouncedChange, type ChangeListener, type ListKind, listKinds } from '../changes/changes.ts';
import { supports } from '../channels/client-support.ts';
import { type Call, type Feature, stillOpen } from '../contract.ts';
import type { ResourceFollower } from '../ports.ts';

export const subscribe: Feature<undefined> = {
  run(call) {
    const { session, server, channel } = call;
    const uri = call.params['uri'] as string;
    if (session === undefined || session.subscriptions.has(uri)) return undefined;
    const { maxWatched, maxWatchedLength } = server.limits;
    if (session.subscriptions.size >= maxWatched) throw wireErrors.tooManyWatched(maxWatched);
    if (session.watchedLength + uri.length > maxWatchedLength) throw wireErrors.watchedTooLong(maxWatchedLength);
    if (server.subscriptionBudget.isFull(callerKey(call.peer))) throw wireErrors.tooMuchKept();
    const prepared = server.follower?.prepare(uri, call.ctx) ?? true;
    const subscribeIf = (isPossible: boolean): undefined => {
      if (!isPossible) throw wireErrors.invalidParams(`changes of ${uri} cannot be subscribed to`);
      channel.subscribe(session, uri);
      return undefined;
    };
    return isThenable(prepared) ? prepared.then(subscribeIf) : subscribeIf(prepared);
  },
  encode: (_result, { codec }) => codec.empty(),
};

export const unsubscribe: Feature<undefined> = {
  run(call) {
    if (call.session !== undefined) call.channel.unsubscribe(call.session, call.params['uri'] as string);
    return undefined;
  },
  encode: (_result, { codec }) => codec.empty(),
};

/** What a client wants to be notified of, as far as this server supports it. */
interface SubscriptionFilter {
  readonly toolsListChanged?: true;
  readonly promptsListChanged?: true;
  readonly resourcesListChanged?: true;
  readonly resourceSubscriptions?: readonly string[];
  readonly taskIds?: readonly string[];
}

const flags = { tools: 'toolsListChanged', prompts: 'promptsListChanged', resources: 'resourcesListChanged' } as const;

export const listen: Feature<typeof stillOpen> = {
  duration: 'long-lived',
  run(call) {
    const filter = acceptedFilter(call);
    const { follower } = call.server;
    if (follower === undefined || filter.resourceSubscriptions === undefined) return listenTo(call, filter);
    return preparedUris(call, follower, filter.resourceSubscriptions).then((uris) =>
      listenTo(call, { ...filter, resourceSubscriptions: uris }),
    );
  },
  encode: (_result, { codec, id }) => codec.subscriptionEnd(id),
};

/** The resources whose changes will be known. */
async function preparedUris(call: Call, follower: ResourceFollower, uris: readonly string[]): Promise<string[]> {
  const possible = await Promise.all(uris.map((uri) => follower.prepare(uri, call.ctx)));
  return uris.filter((_, i) => possible[i] === true);
}

function listenTo(call: Call, filter: SubscriptionFilter): typeof stillOpen | Promise<typeof stillOpen> {
  const { taskIds } = call.params['notifications'] as SubscriptionFilter;
  const { tasks } = call.server;
  if (taskIds === undefined || tasks === undefined) return open(call, filter);
  return tasks
    .load()
    .then((loaded) => loaded.acceptedIds(call, taskIds))
    .then((accepted) => open(call, { ...filter, taskIds: accepted }));
}

/** Acknowledges a subscription and notifies it of changes from now on. */
function open(call: Call, filter: SubscriptionFilter): typeof stillOpen {
  const { server, channel } = call;
  const { maxSubscriptions } = server.limits;
  if (channel.openSubscriptions >= maxSubscriptions) throw wireErrors.tooManySubscriptions(maxSubscriptions);
  const caller = callerKey(call.peer);
  const isCharged = filter.resourceSubscriptions !== undefined || filter.taskIds !== undefined;
  if (isCharged && server.subscriptionBudget.isFull(caller)) throw wireErrors.tooMuchKept();
  if (!call.push(call.codec.acknowledged(call.id, filter as JsonObject))) {
    throw call.outlet.full === true ? wireErrors.overloaded(1_000) : wireErrors.needsStream(call.method);
  }
  // Thousands of streams may be open, so each holds as little as possible: no signal, no promise, no params.
  call.forgetParams();
  const subscription = new ListenSubscription(call, filter, caller);
  call.onEnd(() => subscription.close());
  call.onDrain = () => {
    subscription.close();
    // Pipes get both messages: the specification requires one in Cancellation and the other in Subscriptions.
    if (call.header === undefined) {
      call.push(call.codec.cancelled(call.id, 'the server is closing', { [metaKeys.subscriptionId]: call.id }));
    }
    call.succeed(call.codec.subscriptionEnd(call.id));
  };
  if (channel.draining) call.onDrain();
  return stillOpen;
}

/** Roughly what following a task takes in memory. */
const taskBytes = 512;

class ListenSubscription implements ChangeListener {
  readonly #call: Call;
  readonly #filter: SubscriptionFilter;
  readonly caller: string;
  #unfollowTasks: (() => void) | undefined;

  constructor(call: Call, filter: SubscriptionFilter, caller: string) {
    this.#call = call;
    this.#filter = filter;
    this.caller = caller;
    call.server.changes.add(this, this.#lists, filter.resourceSubscriptions ?? []);
    if (filter.taskIds === undefined) return;
    call.server.subscriptionBudget.charge(caller, filter.taskIds.length * taskBytes);
    this.#unfollowTasks = call.server.tasks?.loaded?.follow(call, filter.taskIds);
  }

  get principal(): Principal | undefined {
    return this.#call.peer.principal;
  }

  get session(): undefined {
    return undefined;
  }

  can(ability: Ability | 'ui'): boolean {
    return supports(this.#call, ability);
  }

  get #lists(): readonly ListKind[] {
    return listKinds.filter((kind) => this.#filter[flags[kind]] === true);
  }

  notify(announcement: AnnouncedChange): void {
    const { server, codec, id } = this.#call;
    const isResource = announcement.change.kind === 'resource';
    if (!(isResource ? server.maySee(announcement, this) : announcement.isFor(this))) return;
    this.#call.push(announcement.text(codec, id));
  }

  close(): void {
    if (this.#unfollowTasks !== undefined) {
      this.#unfollowTasks();
      this.#unfollowTasks = undefined;
      const { server } = this.#call;
      server.subscriptionBudget.release(this.caller, (this.#filter.taskIds?.length ?? 0) * taskBytes);
    }
    this.#call.server.changes.remove(this, this.#lists, this.#filter.resourceSubscriptions ?? []);
  }
}

/** The part of the requested filter that the declared capabilities cover. */
function acceptedFilter({ server, params }: Call): SubscriptionFilter {
  const requested = params['notifications'] as SubscriptionFilter;
  const filter: Record<string, unknown> = {};
  for (const kind of listKinds) {
    if (requested[flags[kind]] === true && server.offers(`${kind}.listChanged`)) filter[flags[kind]] = true;
  }
  if (requested.resourceSubscriptions !== undefined && server.offers('resources.subscribe')) {
    filter['resourceSubscriptions'] = requested.resourceSubscriptions;
  }
  return filter;
}
