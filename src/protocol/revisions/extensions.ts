// Identifiers of the official extensions, and who declares them.

import { isObject } from '../json-rpc.ts';
import type { Capabilities, JsonObject } from '../model.ts';

export const tasksExtension = 'io.modelcontextprotocol/tasks';
export const skillsExtension = 'io.modelcontextprotocol/skills';

/** The capabilities with one that is an extension on the wire: never a capability of its own. */
export function asExtension(capabilities: Capabilities, name: 'tasks' | 'skills', settings?: object): Capabilities {
  const { [name]: capability, ...declared } = capabilities;
  if (capability === undefined) return declared;
  const id = name === 'tasks' ? tasksExtension : skillsExtension;
  return {
    ...declared,
    extensions: { ...(declared['extensions'] as object | undefined), [id]: settings ?? capability },
  };
}

/** The settings with which a server declares an extension; undefined if it does not. */
export function extensionSettings({ extensions }: Capabilities, id: string): JsonObject | undefined {
  const settings = isObject(extensions) ? extensions[id] : undefined;
  return isObject(settings) ? settings : undefined;
}

/** Whether a client that sent these capabilities with its request can be answered with a task. */
export function declaresTasks(capabilities: Capabilities): boolean {
  const { extensions } = capabilities;
  return isObject(extensions) && isObject(extensions[tasksExtension]);
}
