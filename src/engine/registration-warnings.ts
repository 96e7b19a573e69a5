// What may go wrong with a tool as it is registered, for the log of its author.

import type { Logger } from '../protocol/logger.ts';
import type { ToolEntry } from './catalog.ts';
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
