// Cleans the texts of a server's lists before they are shown: hidden characters are removed and lengths are capped. Names
// and URIs identify items and are left as they are; names/ replaces characters that clients reject.

import { cleanText, cleanValue, textLimits } from '../protocol/hygiene.ts';
import type { Icon, Prompt, Resource, ResourceTemplate, Tool } from '../protocol/model.ts';
import type { UpstreamLists } from './contract.ts';

/** Stops one server from filling the instructions that a model reads. */
const maxInstructionsChars = 2_048;

interface Described {
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
}

/** The lists as they are shown. Texts without hidden characters stay the same strings. */
export function cleanLists(lists: UpstreamLists): UpstreamLists {
  return {
    ...lists,
    tools: lists.tools.map(cleanTool),
    prompts: lists.prompts.map(cleanPrompt),
    resources: lists.resources.map((each): Resource => ({ ...each, ...cleanDescribed(each) })),
    resourceTemplates: lists.resourceTemplates.map((each): ResourceTemplate => ({ ...each, ...cleanDescribed(each) })),
    ...(lists.instructions === undefined
      ? {}
      : { instructions: cleanText(lists.instructions, 'strip', maxInstructionsChars) }),
  };
}

function cleanTool(tool: Tool): Tool {
  const { inputSchema, outputSchema, annotations } = tool;
  return {
    ...tool,
    ...cleanDescribed(tool),
    inputSchema: cleanValue(inputSchema) as Tool['inputSchema'],
    ...(outputSchema === undefined ? {} : { outputSchema: cleanValue(outputSchema) as Tool['inputSchema'] }),
    ...(annotations?.title === undefined
      ? {}
      : { annotations: { ...annotations, title: cleanText(annotations.title, 'line', textLimits.maxTitleChars) } }),
  };
}

function cleanPrompt(prompt: Prompt): Prompt {
  return {
    ...prompt,
    ...cleanDescribed(prompt),
    ...(prompt.arguments === undefined
      ? {}
      : { arguments: prompt.arguments.map((each) => ({ ...each, ...cleanDescribed(each) })) }),
  };
}

function cleanDescribed({ title, description, icons }: Described): Described {
  return {
    ...(title === undefined ? {} : { title: cleanText(title, 'line', textLimits.maxTitleChars) }),
    ...(description === undefined
      ? {}
      : { description: cleanText(description, 'strip', textLimits.maxDescriptionChars) }),
    // Clients show icons of https: and data: only; others could make them read local or internal addresses.
    ...(icons === undefined ? {} : { icons: icons.filter(({ src }) => /^(https:|data:image\/)/i.test(src)) }),
  };
}
