// Decodes one view of "gateway.views", which has been validated against its schema.

import type { Issue } from '../../schema/index.ts';
import { compileFilter, slugOf } from '../names/index.ts';
import { defaults } from './defaults.ts';
import type { ItemFilter, ViewAccess, ViewConfig } from './gateway-config.ts';

interface WrittenView {
  readonly servers?: readonly string[] | '*';
  readonly tools?: WrittenFilter;
  readonly prompts?: WrittenFilter;
  readonly resources?: WrittenFilter;
  readonly mode?: ViewConfig['mode'];
  readonly shortList?: readonly string[];
  readonly maxListBytes?: number;
  readonly allow?: { readonly principals?: readonly string[]; readonly scopes?: readonly string[] };
  readonly tasks?: ViewConfig['tasks'];
  readonly instructions?: string;
}

export interface WrittenFilter {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

/** Decodes a view. `slugs` has the slug of every server by the slug of its name and by its slug. */
export function decodeView(
  name: string,
  given: unknown,
  slugs: ReadonlyMap<string, string>,
): { readonly view: ViewConfig; readonly issues: readonly Issue[] } {
  const written = given as WrittenView;
  const issues: Issue[] = [];
  const servers = written.servers ?? '*';
  const chosen =
    servers === '*'
      ? servers
      : servers.map((each, index) => {
          const slug = slugs.get(slugOf(each));
          if (slug === undefined) issues.push({ path: ['servers', index], message: unknownServer(each, slugs) });
          return slug ?? each;
        });
  const view: ViewConfig = {
    name,
    servers: chosen,
    tools: decodeFilter(written.tools, ['tools'], issues),
    prompts: decodeFilter(written.prompts, ['prompts'], issues),
    resources: decodeFilter(written.resources, ['resources'], issues),
    mode: written.mode ?? defaults.mode,
    shortList: written.shortList ?? [],
    maxListBytes: written.maxListBytes ?? defaults.maxListBytes,
    allow: accessOf(written.allow),
    tasks: written.tasks ?? defaults.tasks,
    instructions: written.instructions,
  };
  return { view, issues };
}

function unknownServer(name: string, slugs: ReadonlyMap<string, string>): string {
  const known = [...new Set(slugs.values())];
  return `there is no server ${JSON.stringify(name)}; the configuration has ${known.join(', ') || 'none'}`;
}

function accessOf(allow: WrittenView['allow']): ViewAccess | undefined {
  return allow === undefined ? undefined : { principals: allow.principals ?? [], scopes: allow.scopes ?? [] };
}

/** A filter with its defaults; an invalid pattern is an issue. */
export function decodeFilter(
  written: WrittenFilter | undefined,
  path: readonly (string | number)[],
  issues: Issue[],
): ItemFilter {
  const filter = { include: written?.include, exclude: written?.exclude ?? [] };
  try {
    compileFilter(filter);
  } catch (error) {
    issues.push({ path, message: (error as Error).message });
  }
  return filter;
}
