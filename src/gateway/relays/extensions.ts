// Extensions of servers. At the address of a single server all are declared as that server declares them, and their methods and
// notifications are passed on unchanged. A view declares only those that work there: MCP Apps, skills, and tasks, which are the
// gateway's. Tasks and skills have capabilities of their own in the gateway.

import { uiExtension } from '../../protocol/apps.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Capabilities, JsonObject } from '../../protocol/model.ts';
import { skillsExtension, tasksExtension } from '../../protocol/revisions/index.ts';
import type { UpstreamFacts } from '../contract.ts';

/** The capabilities that declare them; empty if there are none. */
export function extensionCapabilities(facts: UpstreamFacts | undefined): Capabilities {
  const { extensions, experimental } = facts?.capabilities ?? {};
  const { [skillsExtension]: _skills, ...others } = isObject(extensions) ? withoutTasks(extensions) : {};
  return {
    ...(Object.keys(others).length === 0 ? {} : { extensions: others }),
    ...(isObject(experimental) && Object.keys(experimental).length > 0 ? { experimental } : {}),
  };
}

/** The capabilities of a view of several servers: apps, if one of them declares apps. */
export function viewExtensions(all: readonly (Capabilities | undefined)[]): Capabilities {
  const declared = all.flatMap((each) => {
    const apps = isObject(each?.['extensions']) ? each['extensions'][uiExtension] : undefined;
    return isObject(apps) ? [apps] : [];
  });
  // What the servers say about themselves is joined; the first of the file wins.
  return declared.length === 0 ? {} : { extensions: { [uiExtension]: Object.assign({}, ...declared.toReversed()) } };
}

export function hasExtensions(facts: UpstreamFacts | undefined): boolean {
  return Object.keys(extensionCapabilities(facts)).length > 0;
}

/** Tasks are the gateway's own, on both sides. */
export function withoutTasks(extensions: JsonObject): JsonObject {
  const { [tasksExtension]: _tasks, ...others } = extensions;
  return others;
}
