// Cleans a server's lists before they are shown: members that are not valid are left out, hidden characters are removed from
// texts, and lengths are capped. Names and URIs identify items and are left as they are; names/ replaces characters that
// clients reject.

import { cleanText, cleanValue, textLimits } from '../common/hygiene.ts';
import { isObject } from '../protocol/json-rpc.ts';
import type { Icon, Prompt, Resource, ResourceTemplate, Tool } from '../protocol/model.ts';
import type { UpstreamLists } from './contract.ts';
import { visibleSkills } from './skills.ts';

/** The lists as they are shown. Texts without hidden characters stay the same strings. */
export function cleanLists(lists: UpstreamLists): UpstreamLists {
  return {
    ...lists,
    tools: lists.tools.map(cleanTool),
    prompts: lists.prompts.map(cleanPrompt),
    resources: lists.resources.map(cleanResource),
    resourceTemplates: lists.resourceTemplates.map((each): ResourceTemplate => cleanItem(each, isResourceMember)),
    ...cleanSkills(lists),
    ...(lists.instructions === undefined
      ? {}
      : { instructions: cleanText(lists.instructions, 'strip', textLimits.maxDescriptionChars) }),
  };
}

// Which values are valid, by member. Others are left out: many servers write null for what they do not have, and some clients
// reject a list with one such value, and with it the items of all servers.

type Checks = Readonly<Record<string, (value: unknown) => boolean>>;

const isString = (value: unknown): value is string => typeof value === 'string';
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isIcon = (value: unknown): boolean => isObject(value) && isString(value['src']);
const isArgument = (value: unknown): boolean => isObject(value) && isString(value['name']);

const isMember: Checks = { title: isString, description: isString, icons: Array.isArray, _meta: isObject };
const isToolMember: Checks = { ...isMember, outputSchema: isObject, annotations: isObject, execution: isObject };
const isResourceMember: Checks = {
  ...isMember,
  mimeType: isString,
  size: (value) => typeof value === 'number',
  annotations: isObject,
};
const isPromptMember: Checks = { ...isMember, arguments: Array.isArray };
const isArgumentMember: Checks = { ...isMember, required: isBoolean };
const isAnnotation: Checks = {
  title: isString,
  readOnlyHint: isBoolean,
  destructiveHint: isBoolean,
  idempotentHint: isBoolean,
  openWorldHint: isBoolean,
};
const isSchemaMember: Checks = { properties: isObject, required: Array.isArray };

/** The same object if all its members are valid. */
function withValidMembers<T extends object>(item: T, checks: Checks): T {
  const isValid = ([key, value]: readonly [string, unknown]): boolean =>
    !Object.hasOwn(checks, key) || checks[key]?.(value) === true;
  const entries = Object.entries(item);
  return entries.every(isValid) ? item : (Object.fromEntries(entries.filter(isValid)) as T);
}

interface DescribedItem {
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
}

function cleanItem<T extends DescribedItem>(given: T, checks: Checks): T {
  const item = withValidMembers(given, checks);
  const { title, description, icons } = item;
  return {
    ...item,
    ...(title === undefined ? {} : { title: cleanText(title, 'line', textLimits.maxTitleChars) }),
    ...(description === undefined
      ? {}
      : { description: cleanText(description, 'strip', textLimits.maxDescriptionChars) }),
    // Clients show icons of https: and data: only; others could make them read local or internal addresses.
    ...(icons === undefined
      ? {}
      : { icons: icons.filter(isIcon).filter(({ src }) => /^(https:|data:image\/)/i.test(src)) }),
  };
}

export function cleanResource(resource: Resource): Resource {
  return cleanItem(resource, isResourceMember);
}

/** Skills stay as they are, or are left out. */
function cleanSkills({ skills, warnings = [] }: UpstreamLists): Pick<UpstreamLists, 'skills' | 'warnings'> {
  if (skills === undefined) return {};
  const visible = visibleSkills(skills);
  return { skills: visible.skills, warnings: [...warnings, ...visible.warnings] };
}

function cleanTool(given: Tool): Tool {
  const tool = cleanItem(given, isToolMember);
  const { inputSchema, outputSchema } = tool;
  const annotations = tool.annotations && withValidMembers(tool.annotations, isAnnotation);
  const title = annotations?.title;
  return {
    ...tool,
    inputSchema: cleanInputSchema(inputSchema),
    ...(outputSchema === undefined ? {} : { outputSchema: cleanValue(outputSchema) as Tool['inputSchema'] }),
    ...(annotations === undefined
      ? {}
      : {
          annotations: {
            ...annotations,
            ...(title === undefined ? {} : { title: cleanText(title, 'line', textLimits.maxTitleChars) }),
          },
        }),
  };
}

/** Arguments are an object, whether or not the schema says so. */
function cleanInputSchema(given: Tool['inputSchema']): Tool['inputSchema'] {
  const schema = withValidMembers(cleanValue(given) as Tool['inputSchema'], isSchemaMember);
  return schema['type'] === 'object' ? schema : { ...schema, type: 'object' };
}

function cleanPrompt(given: Prompt): Prompt {
  const prompt = cleanItem(given, isPromptMember);
  if (prompt.arguments === undefined) return prompt;
  return { ...prompt, arguments: prompt.arguments.filter(isArgument).map((each) => cleanItem(each, isArgumentMember)) };
}
