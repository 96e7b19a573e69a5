// The tools of a search view: find a tool, read its definition, call it. They keep no state, so that they work the same for
// sessions and for stateless requests. A call through call_tool is a call of the real tool in every respect.

import { capText } from '../../common/hygiene.ts';
import { UserError } from '../../common/user-error.ts';
import type { ToolEntry } from '../../engine/catalog/catalog-entry.ts';
import { toolEntry } from '../../engine/catalog/new-entries.ts';
import { rankTools } from '../../engine/catalog/rank-tools.ts';
import type { Context } from '../../engine/context.ts';
import type { ToolDefinition } from '../../engine/definitions.ts';
import type { Caller, CallRedirect } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import { callerKey } from '../../protocol/callers/caller-budget.ts';
import { CallerTurns } from '../../protocol/callers/caller-turns.ts';
import type { Tool } from '../../protocol/model.ts';

const callName = 'call_tool';
export const searchToolNames: readonly string[] = ['search_tools', 'describe_tool', callName];

const defaultFound = 10;
const maxFound = 50;
/** One line of a description is enough to choose; describe_tool has the rest. */
const maxSummaryChars = 160;
/**
 * Searches at a time, by all callers and by each. One looks at all tools, which may be thousands; stops hundreds of requests
 * that arrive together from blocking other callers.
 */
const searching = new CallerTurns(8, 1);
const readOnly = { readOnlyHint: true, openWorldHint: false } as const;

const foundOutput = {
  type: 'object',
  properties: {
    tools: {
      type: 'array',
      description: 'Best first',
      items: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          server: { type: 'string' },
          summary: { type: 'string' },
        },
        required: ['name'],
      },
    },
    total: { type: 'integer', minimum: 0, description: 'Number of matching tools, including those not returned' },
  },
  required: ['tools', 'total'],
} as const;

/** The search tools of one server. */
export interface SearchTools {
  /** For callers that can find tools with them. */
  readonly entries: readonly ToolEntry[];
  /** A call of call_tool becomes one of the tool it names, under that tool's policy, limits and audit. */
  readonly redirect: CallRedirect;
}

/** Whether a caller may find a tool. */
type IsOffered = (name: string, caller: Caller) => boolean;

/** Prepares search tools for a server; its owner registers their entries. */
export function prepareSearchTools(server: Server, isOffered: IsOffered = () => true): SearchTools {
  // Created when they are first needed: most views have none.
  let entries: readonly ToolEntry[] | undefined;
  const isSearch = (entry: ToolEntry | undefined): boolean => entry !== undefined && entries?.includes(entry) === true;
  return {
    get entries() {
      return (entries ??= createEntries(server, isOffered));
    },
    redirect: (params, caller) =>
      params['name'] === callName && isSearch(server.catalogOf(caller).tools.get(callName))
        ? redirectSearchCall(params)
        : undefined,
  };
}

function redirectSearchCall(params: Parameters<CallRedirect>[0]): ReturnType<CallRedirect> {
  const { name, arguments: args } = (params['arguments'] ?? {}) as { name?: unknown; arguments?: unknown };
  // Invalid arguments are left to the validation of call_tool, which reports what is wrong.
  if (typeof name !== 'string' || name === callName) return undefined;
  if (args !== undefined && (typeof args !== 'object' || args === null || Array.isArray(args))) return undefined;
  return { name, arguments: args ?? {} };
}

function createEntries(server: Server, isOffered: IsOffered): readonly ToolEntry[] {
  const entry = (name: string, definition: ToolDefinition): ToolEntry => toolEntry(name, definition, () => false);
  return [
    entry('search_tools', {
      description:
        'Find tools by what they do. Returns names and one line each. Then read the arguments of a tool with describe_tool, and call it with call_tool.',
      annotations: readOnly,
      input: {
        type: 'object',
        properties: {
          query: { type: 'string', description: 'Words to search for; empty: all tools', maxLength: 1_000 },
          server: { type: 'string', description: 'Only tools of this server', maxLength: 64 },
          limit: { type: 'integer', description: `Default ${defaultFound}`, minimum: 1, maximum: maxFound },
          offset: { type: 'integer', description: 'Skip this many', minimum: 0 },
        },
        required: ['query'],
      },
      output: foundOutput,
      run: (args, ctx) =>
        searching.run(callerKey(ctx), ctx.signal, () =>
          search(toolsFor(server, isOffered, ctx), args as SearchArguments),
        ),
    }),
    entry('describe_tool', {
      description: 'Show the full definition of a tool: description, arguments, result.',
      annotations: readOnly,
      input: {
        type: 'object',
        properties: { name: { type: 'string', description: 'A name that search_tools returned', maxLength: 256 } },
        required: ['name'],
      },
      run: (args, ctx) => {
        const { name } = args as { name: string };
        const found = toolsFor(server, isOffered, ctx).find(({ tool }) => tool.name === name);
        if (found === undefined)
          throw new UserError(`There is no tool ${JSON.stringify(name)}. Find one with search_tools.`);
        return JSON.stringify(found.tool, undefined, 1);
      },
    }),
    entry(callName, {
      description: 'Call a tool that search_tools returned.',
      input: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'A name that search_tools returned', minLength: 1, maxLength: 256 },
          arguments: { type: 'object', description: 'The arguments that describe_tool shows' },
        },
        required: ['name'],
      },
      // Calls of other tools never come here: `redirectSearchCall` made them calls of these tools.
      run: () => {
        throw new UserError('call_tool cannot call itself. Pass the name of another tool.');
      },
    }),
  ];
}

interface SearchArguments {
  readonly query: string;
  readonly server?: string;
  readonly limit?: number;
  readonly offset?: number;
}

async function search(
  known: readonly SearchableTool[],
  { query, server, limit = defaultFound, offset = 0 }: SearchArguments,
) {
  const candidates = known
    .map(({ tool, slug = '' }) => ({ ...tool, category: slug }))
    .filter(({ category }) => server === undefined || category === server);
  const ranked = await rankTools(candidates, query);
  const tools = ranked.slice(offset, offset + limit).map(({ name, category, title, description }) => ({
    name,
    ...(category === '' ? {} : { server: category }),
    ...summaryOf(title, description),
  }));
  return { tools, total: ranked.length };
}

function summaryOf(title: string | undefined, description: string | undefined): { readonly summary?: string } {
  const line = (description ?? title ?? '').trim().split('\n')[0] ?? '';
  return line === '' ? {} : { summary: capText(line, maxSummaryChars) };
}

interface SearchableTool {
  readonly tool: Tool;
  /** The server that it belongs to, which its name need not say; undefined for a tool of the gateway's own server. */
  readonly slug: string | undefined;
}

/** The tools that the caller may see, without those of the search itself. */
function toolsFor(server: Server, isOffered: IsOffered, ctx: Context): SearchableTool[] {
  return [...server.catalogOf(ctx).tools.values()]
    .filter(({ key }) => !searchToolNames.includes(key) && isOffered(key, ctx))
    .filter(({ visible }) => visible === undefined || visible(ctx.principal))
    .map((entry) => ({ tool: entry.describe(), slug: entry.upstream }));
}
