// What a client can do for a server, and how it declares that in its capabilities.

import { isObject } from './json-rpc.ts';
import type { Capabilities } from './model.ts';

export const abilities = ['elicitation.form', 'elicitation.url', 'sampling', 'sampling.tools', 'roots'] as const;

/** What a handler may need from the client. */
export type Ability = (typeof abilities)[number];

/** Whether the declared capabilities include an ability. An empty `elicitation` means forms. */
export function declares(capabilities: Capabilities, ability: Ability): boolean {
  switch (ability) {
    case 'elicitation.form': {
      const { elicitation } = capabilities;
      return isObject(elicitation) && (isObject(elicitation['form']) || !isObject(elicitation['url']));
    }
    case 'elicitation.url':
      return isObject(capabilities['elicitation']) && isObject(capabilities['elicitation']['url']);
    case 'sampling.tools':
      return isObject(capabilities['sampling']) && isObject(capabilities['sampling']['tools']);
    default:
      return isObject(capabilities[ability]);
  }
}

/** The capabilities object that a client would have to add to what it declares for these abilities. */
export function requiredCapabilities(
  missing: readonly Ability[],
  { elicitation }: Capabilities,
): Record<string, Record<string, unknown>> {
  const required: Record<string, Record<string, unknown>> = {};
  for (const ability of missing) {
    const [key, flag] = ability.split('.') as [string, string | undefined];
    const entry = (required[key] ??= {});
    // An empty `elicitation` means forms, but not beside URLs.
    const isImplied = ability === 'elicitation.form' && !isObject(elicitation) && !missing.includes('elicitation.url');
    if (flag !== undefined && !isImplied) entry[flag] = {};
  }
  return required;
}
