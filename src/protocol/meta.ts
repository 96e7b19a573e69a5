// The reserved keys of `_meta`.

import type { Meta } from './model.ts';

export const metaKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  relatedTask: 'io.modelcontextprotocol/related-task',
} as const;

/** What reserved keys start with. They say something about one connection, so that they are not passed on to another. */
export const reservedPrefix = 'io.modelcontextprotocol/';

export function hasReservedKeys(meta: Meta | undefined): boolean {
  if (meta === undefined) return false;
  for (const key of Object.keys(meta)) if (key.startsWith(reservedPrefix)) return true;
  return false;
}
