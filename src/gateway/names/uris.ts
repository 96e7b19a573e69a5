// URIs of resources at the gateway. A URI stays as it is, because texts and app pages mention it, as long as it leads to
// the server it came from; otherwise it is qualified: `<slug>+<uri>`, or `ui://<slug>--host/path`.

import { UriTemplate } from '../../engine/catalog/uri-template.ts';
import type { CompiledFilter } from './filters.ts';

/**
 * The templates of one server that URIs are compared with; the others are qualified. Stops a server with many of them from making
 * every read and result slow.
 */
const maxMatchedTemplates = 256;

/** The resources of one server of a view. */
export interface ServerUris {
  readonly slug: string;
  readonly uris: readonly string[];
  readonly templates: readonly string[];
  /** Whether the server has resources at all, listed or not. */
  readonly hasResources: boolean;
  /** The filters of the server and of the view. */
  readonly isShown: CompiledFilter;
  readonly isExcluded: CompiledFilter;
}

/** Where a URI leads: the server, and the URI that it knows. */
export interface UriRoute {
  readonly slug: string;
  readonly uri: string;
}

/** The resources of the server that shows a view besides its own. */
export interface OwnUris {
  readonly uris: ReadonlySet<string>;
  readonly templates: readonly string[];
}

export interface UriRoutesOptions {
  /** False, for a single server: URIs are never changed. */
  readonly qualifies?: boolean;
  readonly own?: OwnUris | undefined;
}

interface RoutedServer extends ServerUris {
  readonly matchers: readonly UriTemplate[];
}

/** The qualified form of a URI or URI template. */
export function qualifyUri(slug: string, uri: string): string {
  return uri.startsWith('ui://') ? `ui://${slug}--${uri.slice('ui://'.length)}` : `${slug}+${uri}`;
}

/** Takes a qualified form apart, if it has one of these slugs. */
export function splitQualifiedUri(uri: string, isKnown: (slug: string) => boolean): UriRoute | undefined {
  const app = uri.startsWith('ui://') ? /^ui:\/\/([a-z][a-z0-9-]*?)--/.exec(uri) : null;
  if (app !== null) {
    const slug = app[1] as string;
    return isKnown(slug) ? { slug, uri: `ui://${uri.slice(app[0].length)}` } : undefined;
  }
  const end = uri.indexOf('+');
  if (end <= 0) return undefined;
  const slug = uri.slice(0, end);
  return isKnown(slug) ? { slug, uri: uri.slice(end + 1) } : undefined;
}

/** The URIs of a view. Servers are given in the order of the file: an earlier one keeps what a later one has too. */
export class UriRoutes {
  readonly #qualifies: boolean;
  readonly #servers = new Map<string, RoutedServer>();
  readonly #exact = new Map<string, string>();
  readonly #templates = new Map<string, string>();
  readonly #sole: string | undefined;
  readonly #own: OwnUris | undefined;
  readonly #ownMatchers: readonly UriTemplate[];

  constructor(servers: readonly ServerUris[], { qualifies = true, own }: UriRoutesOptions = {}) {
    this.#qualifies = qualifies;
    this.#own = own;
    this.#ownMatchers = own?.templates.flatMap(matcherOf) ?? [];
    // All slugs first: a URI that looks qualified with any of them is never taken as it is.
    for (const server of servers) this.#servers.set(server.slug, { ...server, matchers: [] });
    for (const server of servers) {
      const { slug, uris, templates, isShown } = server;
      for (const uri of uris) {
        if (isShown(uri) && !this.#exact.has(uri) && this.#isFree(uri)) this.#exact.set(uri, slug);
      }
      const shown = templates.filter(isShown).slice(0, maxMatchedTemplates);
      for (const template of shown) {
        if (this.#templates.has(template) || own?.templates.includes(template) === true) continue;
        if (this.#split(template) === undefined) this.#templates.set(template, slug);
      }
      this.#servers.set(slug, { ...server, matchers: shown.flatMap(matcherOf) });
    }
    const withResources = servers.filter(({ hasResources }) => hasResources);
    this.#sole = withResources.length === 1 ? withResources[0]?.slug : undefined;
  }

  /** Resolves a URI from a client: a qualified form, a listed URI, the first template that matches, or the only server. */
  route(uri: string): UriRoute | undefined {
    const qualified = this.#split(uri);
    if (qualified !== undefined) return this.#ifShown(qualified);
    if (this.isOwn(uri)) return undefined;
    const slug = this.#exact.get(uri) ?? this.#matching(uri) ?? this.#sole;
    return slug === undefined ? undefined : this.#ifShown({ slug, uri });
  }

  /** Whether a URI leads to the server that shows the view, not to one of the view. */
  isOwn(uri: string): boolean {
    if (this.#own === undefined) return false;
    return this.#own.uris.has(uri) || this.#ownMatchers.some((each) => each.match(uri) !== undefined);
  }

  /** A URI of this server as clients see it: as it is if it leads back to the server, otherwise qualified. */
  expose(slug: string, uri: string): string {
    if (!this.#qualifies) return uri;
    const route = this.route(uri);
    return route !== undefined && route.slug === slug && route.uri === uri ? uri : qualifyUri(slug, uri);
  }

  /** A URI template of this server as clients see it. */
  exposeTemplate(slug: string, template: string): string {
    return this.#templates.get(template) === slug ? template : qualifyUri(slug, template);
  }

  #split(uri: string): UriRoute | undefined {
    if (!this.#qualifies) return undefined;
    return splitQualifiedUri(uri, (slug) => this.#servers.has(slug));
  }

  /** Whether a URI is neither a qualified form nor matched by a template of an earlier server. */
  #isFree(uri: string): boolean {
    return this.#split(uri) === undefined && this.#matching(uri) === undefined && !this.isOwn(uri);
  }

  #matching(uri: string): string | undefined {
    for (const { slug, matchers } of this.#servers.values()) {
      if (matchers.some((each) => each.match(uri) !== undefined)) return slug;
    }
    return undefined;
  }

  /** What a filter hides cannot be read either. A URI that matches a shown template need not be included separately. */
  #ifShown(route: UriRoute): UriRoute | undefined {
    const server = this.#servers.get(route.slug);
    if (server === undefined) return undefined;
    const { uri } = route;
    if (server.isShown(uri)) return route;
    const matches = !server.isExcluded(uri) && server.matchers.some((each) => each.match(uri) !== undefined);
    return matches ? route : undefined;
  }
}

/** A template that cannot be parsed is listed, but leads nowhere. */
function matcherOf(template: string): UriTemplate[] {
  try {
    return [new UriTemplate(template)];
  } catch {
    return [];
  }
}
