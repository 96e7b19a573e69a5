// URIs of resources at the gateway. A URI stays as it is, because texts and app pages mention it, as long as it leads to
// the server it came from; otherwise it is qualified: `<slug>+<uri>`, or `ui://<slug>--host/path`.

import { UriTemplate } from '../../engine/catalog/uri-template.ts';
import { type Skill, skillFolder } from '../../protocol/skills.ts';
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
  /** Everything in the folders of its skills is the server's. */
  readonly skills?: readonly Skill[] | undefined;
  /** Whether the server has resources at all, listed or not; undefined while that is not known. */
  readonly hasResources: boolean | undefined;
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

interface FolderSets {
  readonly free: readonly string[];
  readonly taken: ReadonlyMap<string, boolean>;
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
  /** Folders of skills. One in a folder of another server is left out. */
  readonly #folders = new Map<string, string>();
  readonly #templates = new Map<string, string>();
  /** The only server that is known to have resources. */
  readonly #sole: string | undefined;
  /** Another one may turn out to have some. */
  readonly #maySoleChange: boolean;
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
      const folders = this.#freeFolders(server);
      for (const uri of uris) {
        if (!isShown(uri) || this.#exact.has(uri) || folderOf(uri, folders.taken) !== undefined) continue;
        if (this.#isFree(uri)) this.#exact.set(uri, slug);
      }
      for (const folder of folders.free) this.#folders.set(folder, slug);
      const shown = templates.filter(isShown).slice(0, maxMatchedTemplates);
      for (const template of shown) {
        if (this.#templates.has(template) || own?.templates.includes(template) === true) continue;
        if (this.#split(template) === undefined) this.#templates.set(template, slug);
      }
      this.#servers.set(slug, { ...server, matchers: shown.flatMap(matcherOf) });
    }
    const withResources = servers.filter(({ hasResources }) => hasResources);
    this.#sole = withResources.length === 1 ? withResources[0]?.slug : undefined;
    this.#maySoleChange = servers.some(({ hasResources }) => hasResources === undefined);
  }

  /**
   * Resolves a URI from a client: a qualified form, a listed URI, the folder of a skill, the first template that matches, or the
   * only server.
   */
  route(uri: string): UriRoute | undefined {
    const qualified = this.#split(uri);
    if (qualified !== undefined) return this.#ifShown(qualified);
    if (this.isOwn(uri)) return undefined;
    const slug = this.#listedBy(uri) ?? this.#sole;
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
    const leadsBack = route !== undefined && route.slug === slug && route.uri === uri;
    return leadsBack && (!this.#maySoleChange || this.#listedBy(uri) !== undefined) ? uri : qualifyUri(slug, uri);
  }

  /** The server that lists a URI, or what it is in or matches. */
  #listedBy(uri: string): string | undefined {
    return this.#exact.get(uri) ?? this.#folderOf(uri) ?? this.#matching(uri);
  }

  /** A skill of this server as clients see it. Undefined if a filter hides one of its files. */
  exposeSkill(slug: string, skill: Skill): Skill | undefined {
    const { uri, resources } = skill;
    const isShown = (file: { readonly uri: string }): boolean => this.#ifShown({ slug, uri: file.uri }) !== undefined;
    const exposed = <T extends { readonly uri: string }>(file: T): T => {
      const own = this.expose(slug, file.uri);
      return own === file.uri ? file : { ...file, uri: own };
    };
    if (resources === 'dynamic') return isShown(skill) ? exposed(skill) : undefined;
    if (!resources.every(isShown)) return undefined;
    const files = resources.map(exposed);
    if (files.every((file, index) => file === resources[index])) return skill;
    return { ...skill, uri: this.expose(slug, uri), resources: files };
  }

  /** A URI template of this server as clients see it. */
  exposeTemplate(slug: string, template: string): string {
    return this.#templates.get(template) === slug ? template : qualifyUri(slug, template);
  }

  #split(uri: string): UriRoute | undefined {
    if (!this.#qualifies) return undefined;
    return splitQualifiedUri(uri, (slug) => this.#servers.has(slug));
  }

  /** Whether a URI is neither a qualified form nor in a skill, nor matched by a template, of an earlier server. */
  #isFree(uri: string): boolean {
    if (this.#split(uri) !== undefined || this.#folderOf(uri) !== undefined) return false;
    return this.#matching(uri) === undefined && !this.isOwn(uri);
  }

  /** The folders of the skills of a server: one in which an earlier server has something is taken, with all that is in it. */
  #freeFolders({ skills = [], isShown }: ServerUris): FolderSets {
    const shown = skills.filter(({ uri }) => isShown(uri));
    const isTaken = ({ uri, resources }: Skill): boolean => {
      const files = resources === 'dynamic' ? [uri] : resources.map((file) => file.uri);
      return files.some((each) => this.#exact.has(each) || !this.#isFree(each));
    };
    const taken = new Map(shown.filter(isTaken).map(({ uri }) => [skillFolder(uri), true]));
    const all = shown.map(({ uri }) => skillFolder(uri));
    return { taken, free: all.filter((folder) => folderOf(folder, taken) === undefined) };
  }

  /** The server with a skill in whose folder a URI is, or whose folder it is. */
  #folderOf(uri: string): string | undefined {
    return this.#folders.size === 0 ? undefined : folderOf(uri, this.#folders);
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

/** What the innermost of these folders has that a URI is, or is in. */
function folderOf<Value>(uri: string, folders: ReadonlyMap<string, Value>): Value | undefined {
  const root = uri.indexOf('://') + 3;
  for (let end = uri.length; end > root; end = uri.lastIndexOf('/', end - 1)) {
    const value = folders.get(uri.slice(0, end));
    if (value !== undefined) return value;
  }
  return undefined;
}

/** A template that cannot be parsed is listed, but leads nowhere. */
function matcherOf(template: string): UriTemplate[] {
  try {
    return [new UriTemplate(template)];
  } catch {
    return [];
  }
}
