// Overrides: how a tool is shown where that differs from its server's definition, and the arguments that its server gets.

import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject, Tool } from '../../protocol/model.ts';
import type { ToolOverride } from '../config/gateway-config.ts';

/** The tool as it is shown. Arguments that are hidden or have a fixed value are not in its schema. */
export function overrideTool(tool: Tool, override: ToolOverride | undefined): Tool {
  if (override === undefined) return tool;
  const { name, title, description, annotations } = override;
  const hidden = hiddenArguments(override);
  return {
    ...tool,
    ...(name === undefined ? {} : { name }),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(annotations === undefined ? {} : { annotations: { ...tool.annotations, ...annotations } }),
    ...(hidden.size === 0 ? {} : { inputSchema: withoutArguments(tool.inputSchema, hidden) }),
  };
}

/** The arguments for the server. Values of hidden arguments are dropped. */
export function overrideArguments(
  args: JsonObject | undefined,
  override: ToolOverride | undefined,
): JsonObject | undefined {
  if (override === undefined) return args;
  const hidden = hiddenArguments(override);
  if (hidden.size === 0) return args;
  const kept = Object.entries(args ?? {}).filter(([name]) => !hidden.has(name));
  return Object.fromEntries([...kept, ...Object.entries(override.defaults)]);
}

function hiddenArguments({ hideArguments, defaults }: ToolOverride): ReadonlySet<string> {
  return new Set([...hideArguments, ...Object.keys(defaults)]);
}

function withoutArguments(schema: JsonObject, hidden: ReadonlySet<string>): JsonObject {
  const { properties, required } = schema;
  const kept = Object.entries(isObject(properties) ? properties : {}).filter(([name]) => !hidden.has(name));
  const needed = Array.isArray(required) ? required.filter((name) => !hidden.has(name)) : undefined;
  const { required: _required, ...rest } = schema;
  return {
    ...rest,
    ...(isObject(properties) ? { properties: Object.fromEntries(kept) } : {}),
    ...(needed === undefined || needed.length === 0 ? {} : { required: needed }),
  };
}
