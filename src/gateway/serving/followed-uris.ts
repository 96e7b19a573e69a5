// The resources that clients of a view follow: each is followed at the upstream that it belongs to, for the client.

import type { AudienceTest, NotifiedClient } from '../../engine/changes/audience.ts';
import type { Context } from '../../engine/context.ts';
import type { Caller, ResourceFollower } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { ExposedView, UriRoute } from '../names/index.ts';
import { RequestCaller } from './request-caller.ts';
import { hasSubscribe } from './view-capabilities.ts';
import type { ViewSource } from './view-source.ts';

export interface FollowedUrisOptions {
  readonly server: Server;
  /** The server has items of its own. */
  readonly isAttached: boolean;
  readonly exposedTo: (caller: Caller) => ExposedView;
  /** Waits for lists that are not known yet; without a request, for those that all callers see. */
  readonly whenKnown: (ctx: Context | undefined) => Promise<void>;
}

export class UpstreamSubscriptions implements ResourceFollower {
  readonly #options: FollowedUrisOptions;
  #source: ViewSource;
  /** By URI, the clients that follow it, and which upstream is asked for its changes; undefined until that is known. */
  readonly #followed = new Map<string, Map<NotifiedClient, UriRoute | undefined>>();

  constructor(source: ViewSource, options: FollowedUrisOptions) {
    this.#source = source;
    this.#options = options;
  }

  update(source: ViewSource): void {
    const before = this.#source.upstreams;
    this.#source = source;
    for (const clients of this.#followed.values()) {
      for (const [client, route] of clients) {
        if (route === undefined) continue;
        const [was, is] = [before.get(route.slug), source.upstreams.get(route.slug)];
        if (was === is) continue;
        is?.followers.follow(route.uri, client);
        was?.followers.unfollow(route.uri, client);
      }
    }
  }

  /** Follows a resource at its upstream, before a client subscribes. False if the upstream does not announce changes. */
  async prepare(uri: string, ctx: Context): Promise<boolean> {
    if (this.#isOwn(uri, ctx)) return true;
    const route = await this.#route(uri, ctx, ctx);
    const upstream = route && this.#source.upstreams.get(route.slug);
    // What no upstream has may be below something that the server has itself.
    if (route === undefined || upstream === undefined) return this.#options.isAttached;
    const caller = new RequestCaller(ctx, upstream.config, this.#source.isSingle);
    await upstream.known(caller);
    if (!hasSubscribe(upstream)) return false;
    return upstream.followers.prepare(route.uri, caller).catch(() => false);
  }

  /** A restored session has its subscriptions without a new request. */
  followed(uri: string, client: NotifiedClient): void {
    this.#follow(uri, client).catch((error: unknown) => {
      this.#options.server.logger?.debug('a resource of an upstream cannot be followed', { uri, error });
    });
  }

  async #follow(uri: string, client: NotifiedClient): Promise<void> {
    if (this.#isOwn(uri, client)) return;
    let clients = this.#followed.get(uri);
    if (clients === undefined) this.#followed.set(uri, (clients = new Map()));
    clients.set(client, undefined);
    const route = this.#knownRoute(uri, client) ?? (await this.#route(uri, client, undefined));
    if (route === undefined || !clients.has(client)) return;
    clients.set(client, route);
    this.#source.upstreams.get(route.slug)?.followers.follow(route.uri, client);
  }

  unfollowed(uri: string, client: NotifiedClient): void {
    const clients = this.#followed.get(uri);
    const route = clients?.get(client);
    if (clients?.delete(client) !== true) return;
    if (clients.size === 0) this.#followed.delete(uri);
    if (route !== undefined) this.#source.upstreams.get(route.slug)?.followers.unfollow(route.uri, client);
  }

  /** A resource of an upstream has changed. `audience`: whom the connection belongs to that reported it. */
  updated(slug: string, uri: string, audience: AudienceTest | undefined): void {
    const views = new Set<ExposedView>();
    for (const clients of this.#followed.values()) {
      for (const [client, route] of clients) if (route?.slug === slug) views.add(this.#options.exposedTo(client));
    }
    // One caller may see it under another URI than the next.
    const exposed = new Set([...views].map(({ uris }) => uris.expose(slug, uri)));
    for (const each of exposed) this.#options.server.resourceUpdated(each, audience);
  }

  /** Whether it is a resource of the server itself, to which the items of the view were added. */
  #isOwn(uri: string, caller: Caller): boolean {
    const { isAttached, server, exposedTo } = this.#options;
    if (!isAttached) return false;
    const entry = server.catalogOf(caller).resources.get(uri);
    return entry === undefined ? exposedTo(caller).uris.isOwn(uri) : entry.relayed !== true;
  }

  /** The upstream that has a resource, and its URI there. */
  async #route(uri: string, caller: Caller, ctx: Context | undefined): Promise<UriRoute | undefined> {
    // The server that has it may be one whose lists are not known yet.
    if (this.#knownRoute(uri, caller) === undefined) await this.#options.whenKnown(ctx);
    return this.#knownRoute(uri, caller);
  }

  /** A resource that is in no list any more stays that of the upstream at which it is followed. */
  #knownRoute(uri: string, caller: Caller): UriRoute | undefined {
    const route = this.#options.exposedTo(caller).uris.route(uri);
    return route ?? [...(this.#followed.get(uri)?.values() ?? [])].find((each) => each !== undefined);
  }
}
