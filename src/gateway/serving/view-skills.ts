// Skills and folders of the upstreams of a view, by their URI: as the upstream has them now, listed or not.

import type { Context } from '../../engine/context.ts';
import type { Caller, FoundSkill, OtherSkills } from '../../engine/ports.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject, Resource } from '../../protocol/model.ts';
import { folderType, type Skill, skillFileName, skillFolder, skillProblem } from '../../protocol/skills.ts';
import type { ExposedView, UriRoute } from '../names/index.ts';
import type { RelayTarget } from '../relays/relay.ts';
import { getSkill, readDirectory } from '../relays/skills.ts';

export interface ViewSkillsOptions {
  readonly exposedTo: (caller: Caller) => ExposedView;
  /** Undefined: there is no such upstream. */
  readonly targetOf: (slug: string) => RelayTarget | undefined;
}

interface FoundTarget extends UriRoute {
  readonly target: RelayTarget;
  readonly uris: ExposedView['uris'];
  /** Undefined: it has no skills. */
  readonly settings: JsonObject | undefined;
}

export class ViewSkills implements OtherSkills {
  readonly #options: ViewSkillsOptions;

  constructor(options: ViewSkillsOptions) {
    this.#options = options;
  }

  async get(exposed: string, ctx: Context): Promise<FoundSkill | undefined> {
    const found = this.#find(exposed, ctx);
    if (found === undefined) return undefined;
    const { target, settings, slug, uri, uris } = found;
    if (settings === undefined) return undefined;
    const expose = (skill: Skill): Skill | undefined => {
      const shown = uris.exposeSkill(slug, skill);
      return shown === skill || skillProblem(shown) === undefined ? shown : undefined;
    };
    return getSkill(target, { uri, exposed }, expose, ctx);
  }

  async readDirectory(exposed: string, ctx: Context): Promise<readonly Resource[] | undefined> {
    const found = this.#find(exposed, ctx) ?? this.#findFolder(exposed, ctx);
    if (found?.settings?.['directoryRead'] !== true) return undefined;
    const { target, slug, uri, uris } = found;
    const children = await readDirectory(target, { uri, exposed }, (each) => uris.expose(slug, each), ctx);
    const shown = children.filter((each) => isShown(each, uris));
    return children.length > 0 && shown.length === 0 ? undefined : shown;
  }

  /** A filter that shows what is in a folder need not show the folder. */
  #findFolder(exposed: string, ctx: Context): FoundTarget | undefined {
    const found = this.#find(inFolder(exposed), ctx);
    return found && { ...found, uri: skillFolder(found.uri) };
  }

  /** The upstream that a URI leads to, and what it says about skills. */
  #find(exposed: string, ctx: Context): FoundTarget | undefined {
    const { uris } = this.#options.exposedTo(ctx);
    const route = uris.route(exposed);
    const target = route && this.#options.targetOf(route.slug);
    if (route === undefined || target === undefined) return undefined;
    const settings = target.upstream.facts?.capabilities?.['skills'];
    return { ...route, target, uris, settings: isObject(settings) ? settings : undefined };
  }
}

function inFolder(uri: string): string {
  return `${uri}/${skillFileName}`;
}

function isShown({ uri, mimeType }: Resource, uris: ExposedView['uris']): boolean {
  if (uris.route(uri) !== undefined) return true;
  return mimeType === folderType && uris.route(inFolder(uri)) !== undefined;
}
