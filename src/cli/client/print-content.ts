// Prints what a server returned, to a terminal or a pipe. Binary content is saved to a file and its path is printed.

import { forTerminal, lineForTerminal } from '../../app/untrusted-text.ts';
import type { Output } from '../ui/output.ts';
import { formatBytes, type SavedFiles } from './saved-files.ts';
import type { Content, ResourceContents, ToolResult } from './types.ts';

/** Prints the blocks of a result, one below the other. */
export function showContent(blocks: readonly Content[], out: Output, files: SavedFiles): void {
  for (const block of blocks) out.write(ended(blockText(block, out, files)));
}

/** Prints a tool's result: its content blocks, and its structured content if they have no text of it, or only a summary. */
function showToolResult({ content, structuredContent }: ToolResult, out: Output, files: SavedFiles): void {
  const shown = structuredContent === undefined ? content : content.filter((each) => !isSummary(each));
  showContent(shown, out, files);
  if (structuredContent !== undefined && !shown.some(({ type }) => type === 'text')) out.json(structuredContent);
}

/** As tools with `textCopy: 'short'` send it. */
function isSummary({ _meta }: Content): boolean {
  return _meta?.['mooring/summary'] === true;
}

/** Prints a tool's result, or its JSON, and returns the exit code. */
export function printResult(
  result: ToolResult,
  { out, json, files }: { readonly out: Output; readonly json: boolean; readonly files: SavedFiles },
): number {
  if (json) out.json(result);
  else showToolResult(result, out, files);
  if (result.isError !== true) return 0;
  if (!json) out.info('mooring: the tool reported an error\n');
  return 1;
}

/** Prints the contents of a resource. */
export function showResource(contents: ResourceContents, out: Output, files: SavedFiles): void {
  out.write(ended(resourceText(contents, out, files)));
}

/** Text for a terminal is cleaned; text for a pipe is unchanged. */
export function printable(text: string, { width }: Output): string {
  return width === undefined ? text : forTerminal(text);
}

function blockText(block: Content, out: Output, files: SavedFiles): string {
  const { style } = out;
  switch (block.type) {
    case 'text':
      return printable(block.text, out);
    case 'image':
    case 'audio':
      return media(Buffer.from(block.data, 'base64'), block.mimeType, out, files);
    case 'resource_link': {
      const about = [block.title ?? block.name, block.mimeType]
        .filter(Boolean)
        .map((each) => lineForTerminal(String(each)));
      return `${style.name(`→ ${lineForTerminal(block.uri, 2000)}`)}  ${style.faint(about.join(', '))}`;
    }
    case 'resource':
      return `${style.faint(`── ${lineForTerminal(block.resource.uri, 2000)}`)}\n${resourceText(block.resource, out, files)}`;
    default:
      return JSON.stringify(block, null, 2);
  }
}

function resourceText({ text, blob, mimeType }: ResourceContents, out: Output, files: SavedFiles): string {
  if (text !== undefined) return printable(text, out);
  return media(Buffer.from(blob ?? '', 'base64'), mimeType, out, files);
}

function media(data: Buffer, mimeType: string | undefined, out: Output, files: SavedFiles): string {
  const kind = lineForTerminal(mimeType ?? 'data', 100);
  return `${kind}, ${formatBytes(data.length)}  ${out.style.name(`→ ${files.save(data, mimeType)}`)}`;
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
