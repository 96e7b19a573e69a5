// Extensions that the gateway does not know. At the address of a single server they are declared as that server declares
// them, and their methods and notifications are passed on unchanged.

import { isObject } from '../../protocol/json-rpc.ts';
import type { Capabilities } from '../../protocol/model.ts';
import { tasksExtension } from '../../protocol/revisions/index.ts';
import type { UpstreamLists } from '../contract.ts';

/** The capabilities that declare them; empty if there are none. */
export function extensionCapabilities(lists: UpstreamLists | undefined): Capabilities {
  const { extensions, experimental } = lists?.capabilities ?? {};
  const others = isObject(extensions) ? withoutTasks(extensions) : {};
  return {
    ...(Object.keys(others).length === 0 ? {} : { extensions: others }),
    ...(isObject(experimental) && Object.keys(experimental).length > 0 ? { experimental } : {}),
  };
}

export function hasExtensions(lists: UpstreamLists | undefined): boolean {
  return Object.keys(extensionCapabilities(lists)).length > 0;
}

/** Tasks are the gateway's own, on both sides. */
export function withoutTasks(extensions: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { [tasksExtension]: _tasks, ...others } = extensions;
  return others;
}
