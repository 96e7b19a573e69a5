// What may go wrong with what is registered, for the log of its author.

import type { Logger } from '../../common/logger.ts';
import type {
  AppDefinition,
  PromptArgumentDefinition,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  SkillDefinition,
  ToolDefinition,
} from '../definitions.ts';
import type { ToolEntry } from './catalog-entry.ts';
import { hasContentList } from './output-content.ts';

export function warnOfToolName(name: string, logger: Logger | undefined): void {
  if (/^[A-Za-z0-9_.-]{1,128}$/.test(name)) return;
  logger?.warn(`tool name ${JSON.stringify(name)} may not work with every client; use 1 to 128 of A-Z a-z 0-9 _ - .`);
}

export function warnOfContentList(name: string, entry: ToolEntry | undefined, logger: Logger | undefined): void {
  if (!hasContentList(entry?.output?.json)) return;
  logger?.warn(
    `tool ${JSON.stringify(name)}: its output has a list "content", so a returned value may be taken as a whole ` +
      'tool result; rename the property, or return { content, structuredContent }',
  );
}

function warnOfVariable(uri: string, logger: Logger | undefined): void {
  if (!/\{[^{}]+\}/.test(uri)) return;
  logger?.warn(`resource ${JSON.stringify(uri)} has a variable; register it with server.resourceTemplate`);
}

const described = { name: 0, title: 0, description: 0, icons: 0, _meta: 0, visible: 0 } as const;
const ofResource = { ...described, mimeType: 0, annotations: 0, cache: 0, read: 0 } as const;
const ofPromptArgument = { name: 0, title: 0, description: 0, required: 0, complete: 0 } satisfies Record<
  keyof PromptArgumentDefinition | 'name',
  0
>;
/** The options of each kind, and its name or URI, which programs that register a list of definitions have beside them. */
const known = {
  tool: {
    ...described,
    ...{
      input: 0,
      output: 0,
      textCopy: 0,
      annotations: 0,
      needs: 0,
      timeoutMs: 0,
      singleUse: 0,
      task: 0,
      ui: 0,
      explain: 0,
      run: 0,
    },
  } satisfies Record<keyof ToolDefinition | 'name', 0>,
  prompt: { ...described, args: 0, get: 0 } satisfies Record<keyof PromptDefinition | 'name', 0>,
  resource: { ...ofResource, uri: 0, size: 0, listed: 0 } satisfies Record<keyof ResourceDefinition | 'uri', 0>,
  'resource template': { ...ofResource, uriTemplate: 0, list: 0, complete: 0 } satisfies Record<
    keyof ResourceTemplateDefinition | 'uriTemplate',
    0
  >,
  skill: { uri: 0, frontmatter: 0, resources: 0, _meta: 0, visible: 0, listed: 0 } satisfies Record<
    keyof SkillDefinition,
    0
  >,
  app: {
    ...described,
    ...{ uri: 0, html: 0, csp: 0, permissions: 0, domain: 0, prefersBorder: 0, listed: 0 },
  } satisfies Record<keyof AppDefinition | 'uri', 0>,
} as const;
export type RegisteredKind = keyof typeof known;
/** What other libraries call them. */
const usualNames: { readonly [kind: string]: { readonly [name: string]: string } } = {
  tool: {
    inputSchema: 'input',
    parameters: 'input',
    args: 'input',
    outputSchema: 'output',
    handler: 'run',
    execute: 'run',
  },
  prompt: { argsSchema: 'args', arguments: 'args', handler: 'get' },
  resource: { handler: 'read', load: 'read' },
  'resource template': { handler: 'read', load: 'read' },
};

/** The option of a definition that has the name by which other libraries know `field`. */
export function otherNameOf(kind: RegisteredKind, field: string, definition: object | undefined): string | undefined {
  return Object.keys(definition ?? {}).find((key) => usualNames[kind]?.[key] === field);
}

/** What was registered, and could be meant in another way. */
export function warnOfRegistration(
  kind: RegisteredKind,
  name: string,
  definition: object,
  logger: Logger | undefined,
): void {
  if (kind === 'resource') warnOfVariable(name, logger);
  warnOfUnknownOptions(kind, name, definition, logger);
}

/** TypeScript reports them; in JavaScript they would be ignored without a word. */
function warnOfUnknownOptions(
  kind: RegisteredKind,
  name: string,
  definition: object,
  logger: Logger | undefined,
): void {
  const where = `${kind} ${JSON.stringify(name)}`;
  warnOfUnknown(where, definition, known[kind], usualNames[kind] ?? {}, logger);
  if (kind !== 'prompt') return;
  for (const [argument, options] of Object.entries((definition as PromptDefinition).args ?? {})) {
    warnOfUnknown(`${where}, args.${argument}`, options, ofPromptArgument, {}, logger);
  }
}

function warnOfUnknown(
  where: string,
  options: object,
  allowed: object,
  others: { readonly [name: string]: string },
  logger: Logger | undefined,
): void {
  for (const key in options) {
    if (Object.hasOwn(allowed, key)) continue;
    const meant = others[key];
    const instead =
      meant === undefined ? `use one of ${Object.keys(allowed).join(', ')}` : `use ${JSON.stringify(meant)}`;
    logger?.warn(`${where}: the option ${JSON.stringify(key)} is not known; ${instead}`);
  }
}
