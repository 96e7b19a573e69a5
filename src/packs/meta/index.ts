// Pack `meta`: a server that describes itself. The health of its parts, which tools it has and what they are for, and
// optionally a short list of tools with a search for the others.

import { assertKnownOptions } from '../../common/known-options.ts';
import { type Candidate, rankTools } from '../../engine/catalog/rank-tools.ts';
import type { Context } from '../../engine/context.ts';
import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { Categories } from './categories.ts';
import { categoriesOutput, healthOutput, searchOutput } from './outputs.ts';
import { installShortList, type ShortList } from './short-list.ts';

export { Categories, type Category } from './categories.ts';

/** The health of one part of the server. */
export interface PartHealth {
  readonly name: string;
  readonly status: 'ok' | 'degraded' | 'failed';
  readonly detail?: string;
}

export type MetaTool = 'health_check' | 'search_tools' | 'list_categories';

export interface MetaOptions {
  /** Checks the health of the parts of the server. Default: there are none. */
  readonly health?: () => Promise<readonly PartHealth[]>;
  /** Which tools belong together. Default: all in one category. */
  readonly categories?: Categories;
  /** Which of the three tools to offer. Default: all. */
  readonly tools?: readonly MetaTool[];
  /** Tools that tools/list shows; the others are found with search_tools. Default: all are shown. */
  readonly shortList?: readonly string[];
}

/** The options of this pack in a configuration file. */
export const metaSchema = {
  type: 'object',
  properties: {
    shortList: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Names of the tools that tools/list shows; the others are found with search_tools',
    },
  },
  additionalProperties: false,
} as const;

const everyTool: readonly MetaTool[] = ['health_check', 'search_tools', 'list_categories'];
const defaultFound = 5;
const maxFound = 50;
const readOnly = { readOnlyHint: true, openWorldHint: false } as const;

const known: Record<keyof MetaOptions, true> = { health: true, categories: true, tools: true, shortList: true };

export function meta(options: MetaOptions = {}): Pack<Server> {
  assertKnownOptions('meta', options, known);
  const { tools = everyTool, shortList } = options;
  return {
    name: 'meta',
    install(server) {
      const short =
        shortList === undefined ? undefined : installShortList(server, new Set<string>([...shortList, ...tools]));
      if (tools.includes('health_check')) installHealth(server, options);
      if (tools.includes('search_tools')) installSearch(server, options, short);
      if (tools.includes('list_categories')) installCategories(server, options);
    },
  };
}

function installHealth(server: Server, { health }: MetaOptions): void {
  const startedAt = process.uptime();
  server.tool('health_check', {
    description: 'Report the health of this server and its parts',
    annotations: readOnly,
    output: healthOutput,
    run: async () => {
      const parts = (await health?.()) ?? [];
      return {
        status: worst(parts),
        server: server.name,
        version: server.version,
        uptime: Math.floor(process.uptime() - startedAt),
        parts: [...parts],
      };
    },
  });
}

/** A failed part makes the server degraded, because the others still work. */
function worst(parts: readonly PartHealth[]): 'ok' | 'degraded' {
  return parts.every((each) => each.status === 'ok') ? 'ok' : 'degraded';
}

function installSearch(server: Server, options: MetaOptions, short: ShortList | undefined): void {
  server.tool('search_tools', {
    description: "Search the names and descriptions of this server's tools",
    annotations: readOnly,
    input: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          description: 'Words to search for; an empty query returns all tools',
          maxLength: 1_000,
        },
        category: { type: 'string', description: 'Only tools of this category; see list_categories', maxLength: 200 },
        limit: {
          type: 'integer',
          description: `Maximum number of tools to return (default: ${defaultFound})`,
          minimum: 1,
          maximum: maxFound,
        },
      },
      required: ['query'],
    } as const,
    output: searchOutput,
    run: async ({ query, category, limit = defaultFound }, ctx) => {
      const known = candidates(server, options, ctx).filter(
        (each) => category === undefined || each.category === category,
      );
      const ranked = await rankTools(known, query);
      const found = ranked.slice(0, limit);
      short?.addToList(
        found.map(({ name }) => name),
        ctx,
      );
      return { tools: found, total: ranked.length };
    },
  });
}

function installCategories(server: Server, options: MetaOptions): void {
  server.tool('list_categories', {
    description: 'List the tool categories of this server',
    annotations: readOnly,
    output: categoriesOutput,
    run: (_args, ctx) => {
      const known = candidates(server, options, ctx);
      const about = new Map((options.categories?.all ?? []).map((each) => [each.name, each.about]));
      const names = [...new Set([...about.keys(), ...known.map((each) => each.category)])];
      const categories = names
        .map((name) => ({
          name,
          ...(about.has(name) ? { about: about.get(name) } : {}),
          tools: known.filter((each) => each.category === name).map((each) => each.name),
        }))
        .filter(({ tools }) => tools.length > 0);
      return { categories };
    },
  });
}

/** The tools that the caller may see. */
function candidates(server: Server, { categories }: MetaOptions, ctx: Context): Candidate[] {
  return [...server.catalogOf(ctx).tools.values()]
    .filter((entry) => entry.removed !== true && (entry.visible === undefined || entry.visible(ctx.principal)))
    .map((entry) => {
      const { name, title, description, inputSchema } = entry.describe();
      return {
        name,
        ...(title === undefined ? {} : { title }),
        ...(description === undefined ? {} : { description }),
        category: categories?.of(name).name ?? server.name,
        inputSchema,
      };
    });
}
