// Entries of a catalog from what a user registered: definitions are checked, schemas compiled.

import { type Ability, abilities } from '../../protocol/abilities.ts';
import type { Tool } from '../../protocol/model.ts';
import { type HeaderParam, headerParams } from '../../protocol/revisions/index.ts';
import { type Skill, skillProblem } from '../../protocol/skills.ts';
import { compileSchema, isStandardSchema, type SchemaInput } from '../../schema/index.ts';
import type {
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  SkillDefinition,
  ToolDefinition,
} from '../definitions.ts';
import { resolveTaskOptions } from '../tasks/task-options.ts';
import { metaWithUi } from './apps.ts';
import type { PromptEntry, ResourceEntry, SkillEntry, TemplateEntry, ToolEntry } from './catalog-entry.ts';
import { otherNameOf, type RegisteredKind } from './registration-warnings.ts';
import { UriTemplate } from './uri-template.ts';

const noArguments = { type: 'object', additionalProperties: false } as const;

/** `hasResource`: whether a resource is registered; the page of a tool must be. */
export function toolEntry(name: string, definition: ToolDefinition, hasResource: (uri: string) => boolean): ToolEntry {
  requireName('tool', name, 'server.tool("name", { … })');
  requireFunction('tool', name, 'run', definition);
  const where = `tool ${JSON.stringify(name)}`;
  requireOptionalFunctions(where, definition, ['visible', 'explain']);
  requireAbilities(where, definition.needs);
  requireTimeout(where, definition.timeoutMs);
  requireTextCopy(where, definition.textCopy);
  const given = definition.input === undefined ? noArguments : definition.input;
  const input = compileSchema(given as SchemaInput, {
    direction: 'input',
    root: 'object',
    where: `${where}, input`,
  });
  const output =
    definition.output &&
    compileSchema(definition.output, { direction: 'output', root: 'any', where: `${where}, output` });
  const task = resolveTaskOptions(where, definition.task);
  const { ui } = definition;
  const meta = ui === undefined ? definition._meta : metaWithUi(where, ui, definition._meta, hasResource);
  let mirrored: readonly HeaderParam[] | undefined;
  let described: Tool | undefined;
  const mirror = (): readonly HeaderParam[] => {
    const found = headerParams(input.json);
    if (typeof found === 'string') throw new TypeError(`${where}: ${found}`);
    return found;
  };
  // Plain schemas need no conversion, so an invalid header annotation can be reported at registration.
  if (definition.input !== undefined && !('~standard' in definition.input)) mirrored = mirror();
  return {
    key: name,
    visible: definition.visible,
    definition,
    input,
    output,
    task,
    headerParams: () => (mirrored ??= mirror()),
    describe: () =>
      (described ??= clean({
        name,
        title: definition.title,
        description: definition.description,
        icons: definition.icons,
        inputSchema: input.json,
        outputSchema: output?.json,
        annotations: definition.annotations,
        execution: task && { taskSupport: task.support },
        _meta: meta,
      })),
  };
}

export function resourceEntry(uri: string, definition: ResourceDefinition): ResourceEntry {
  requireUri(uri);
  requireFunction('resource', uri, 'read', definition);
  requireOwnName('resource', uri, definition.name);
  requireOptionalFunctions(`resource ${JSON.stringify(uri)}`, definition, ['visible']);
  const { name, title, description, icons, mimeType, size, annotations, _meta, visible, listed } = definition;
  const item = clean({ uri, name, title, description, icons, mimeType, size, annotations, _meta });
  return { key: uri, visible, listed, definition, describe: () => item };
}

export function templateEntry(uriTemplate: string, definition: ResourceTemplateDefinition): TemplateEntry {
  const template = new UriTemplate(uriTemplate);
  requireFunction('resource template', uriTemplate, 'read', definition);
  requireOwnName('resource template', uriTemplate, definition.name);
  const where = `resource template ${JSON.stringify(uriTemplate)}`;
  requireOptionalFunctions(where, definition, ['visible', 'list']);
  requireOptionalFunctions(`${where}, complete`, definition.complete ?? {});
  const { name, title, description, icons, mimeType, annotations, _meta, complete, visible } = definition;
  for (const variable of Object.keys(complete ?? {})) {
    if (!template.names.includes(variable)) {
      throw new TypeError(
        `Resource template ${uriTemplate} has a completer for ${variable}, which is not one of ${template.names.join(', ')}`,
      );
    }
  }
  const item = clean({ uriTemplate, name, title, description, icons, mimeType, annotations, _meta });
  return { key: uriTemplate, visible, definition, template, describe: () => item };
}

export function promptEntry(name: string, definition: PromptDefinition): PromptEntry {
  requireName('prompt', name, 'server.prompt("name", { … })');
  requireFunction('prompt', name, 'get', definition);
  requireOptionalFunctions(`prompt ${JSON.stringify(name)}`, definition, ['visible']);
  requirePromptArguments(name, definition.args);
  const { title, description, icons, _meta, args = {}, visible } = definition;
  const described = Object.entries(args).map(([argument, each]) =>
    clean({ name: argument, title: each.title, description: each.description, required: each.required }),
  );
  const listed = described.length === 0 ? undefined : described;
  const item = clean({ name, title, description, icons, arguments: listed, _meta });
  return { key: name, visible, definition, describe: () => item };
}

export function skillEntry(definition: SkillDefinition): SkillEntry {
  if (typeof definition !== 'object' || definition === null) {
    throw new TypeError('A skill needs a definition, an object: server.skill({ uri: "skill://name/SKILL.md", … })');
  }
  const { visible, listed, ...rest } = definition;
  const skill = rest as Skill;
  const problem = skillProblem(skill);
  if (problem !== undefined) throw new TypeError(`Skill ${JSON.stringify(skill.uri)}: ${problem}`);
  return { key: skill.uri, visible, listed, describe: () => skill };
}

/** Removes undefined members, so that an item has exactly the given fields. */
function clean<T extends object>(item: T): T {
  for (const key of Object.keys(item) as (keyof T)[]) if (item[key] === undefined) delete item[key];
  return item;
}

/** `call`: how it is registered. */
function requireName(what: string, name: unknown, call: string): void {
  if (typeof name === 'string' && name !== '') return;
  throw new TypeError(`A ${what} needs a name, a non-empty string, before its definition: ${call}`);
}

function requireOwnName(kind: RegisteredKind, uri: string, name: unknown): void {
  if (typeof name === 'string' && name !== '') return;
  throw new TypeError(`${capitalized(kind)} ${JSON.stringify(uri)} needs a "name", a non-empty string`);
}

function requireTimeout(where: string, timeoutMs: unknown): void {
  if (timeoutMs === undefined || (typeof timeoutMs === 'number' && timeoutMs >= 0)) return;
  throw new TypeError(
    `${where}, timeoutMs: must be a number of milliseconds, or 0 for no limit, not ${JSON.stringify(timeoutMs)}`,
  );
}

function requireTextCopy(where: string, textCopy: unknown): void {
  if (textCopy === undefined || textCopy === 'always' || textCopy === 'short' || textCopy === 'never') return;
  throw new TypeError(`${where}, textCopy: must be "always", "short" or "never", not ${JSON.stringify(textCopy)}`);
}

function requireAbilities(where: string, needs: readonly Ability[] | undefined): void {
  if (needs === undefined) return;
  if (!Array.isArray(needs)) throw new TypeError(`${where}, needs: must be a list, such as ["sampling"]`);
  for (const each of needs) {
    if (abilities.includes(each)) continue;
    throw new TypeError(`${where}, needs: ${JSON.stringify(each)} is not known; use ${abilities.join(', ')}`);
  }
}

/** Other libraries take a schema here. */
function requirePromptArguments(name: string, args: PromptDefinition['args']): void {
  if (args === undefined) return;
  const isPlain = !isStandardSchema(args) && !Array.isArray(args) && !Object.values(args).some(isStandardSchema);
  if (isPlain) {
    for (const [argument, each] of Object.entries(args)) {
      const where = `prompt ${JSON.stringify(name)}, args.${argument}`;
      if (typeof each !== 'object' || each === null) {
        throw new TypeError(`${where}: must be an object such as { description: "…", required: true }`);
      }
      requireOptionalFunctions(where, each, ['complete']);
    }
    return;
  }
  throw new TypeError(
    `prompt ${JSON.stringify(name)}, args: arguments of prompts are strings and have no schema. ` +
      'Write args: { city: { description: "…", required: true } }',
  );
}

function requireFunction(kind: RegisteredKind, name: string, field: string, definition: object): void {
  if (typeof (definition as Record<string, unknown> | undefined | null)?.[field] === 'function') return;
  const other = otherNameOf(kind, field, definition);
  const method = kind === 'resource template' ? 'resourceTemplate' : kind;
  const example = `server.${method}(${JSON.stringify(name)}, { …, ${field}: () => … })`;
  throw new TypeError(
    `${capitalized(kind)} ${JSON.stringify(name)} needs a function "${field}"` +
      (other === undefined ? `: ${example}` : `; rename ${JSON.stringify(other)}`),
  );
}

/** `fields`: the options that are functions. Default: all. */
function requireOptionalFunctions(where: string, options: object, fields = Object.keys(options)): void {
  for (const field of fields) {
    const value = (options as Record<string, unknown>)[field];
    if (value === undefined || typeof value === 'function') continue;
    throw new TypeError(`${where}, ${field}: must be a function, not ${JSON.stringify(value)}`);
  }
}

function capitalized(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}`;
}

function requireUri(uri: string): void {
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:./.test(uri)) {
    throw new TypeError(`Resource ${JSON.stringify(uri)} needs an absolute URI such as "server://counter"`);
  }
}
