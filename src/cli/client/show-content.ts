// What servers answer, on a terminal or in a pipe: text as it is, pictures shown or saved, links and files named.

import { forTerminal, lineForTerminal } from '../../app/foreign-text.ts';
import type { Output } from '../ui/output.ts';
import { type Files, pictureSequence, pictureWay, sizeWords } from './images.ts';
import type { Content, ResourceContents, ToolResult } from './types.ts';

/** Prints the blocks of a result, one below the other. */
export async function showContent(blocks: readonly Content[], out: Output, files: Files): Promise<void> {
  for (const block of blocks) out.write(ended(await blockText(block, out, files)));
}

/** Prints a tool's result: its blocks, or where it has none its structured content. */
export async function showToolResult(
  { content, structuredContent }: ToolResult,
  out: Output,
  files: Files,
): Promise<void> {
  await showContent(content, out, files);
  if (content.length === 0 && structuredContent !== undefined) out.json(structuredContent);
}

/** Prints what a resource holds. */
export async function showResource(contents: ResourceContents, out: Output, files: Files): Promise<void> {
  out.write(ended(await resourceText(contents, out, files)));
}

/** Text for people is made harmless; text for a pipe is what the server sent. */
export function printable(text: string, { width }: Output): string {
  return width === undefined ? text : forTerminal(text);
}

async function blockText(block: Content, out: Output, files: Files): Promise<string> {
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
      return `${style.faint(`── ${lineForTerminal(block.resource.uri, 2000)}`)}\n${await resourceText(block.resource, out, files)}`;
    default:
      return JSON.stringify(block, null, 2);
  }
}

async function resourceText({ text, blob, mimeType }: ResourceContents, out: Output, files: Files): Promise<string> {
  if (text !== undefined) return printable(text, out);
  return media(Buffer.from(blob ?? '', 'base64'), mimeType, out, files);
}

async function media(data: Buffer, mimeType: string | undefined, out: Output, files: Files): Promise<string> {
  const kind = lineForTerminal(mimeType ?? 'data', 100);
  const way = out.width !== undefined && kind.startsWith('image/') ? pictureWay() : undefined;
  const picture = way === undefined ? undefined : await pictureSequence(data, kind, way);
  if (picture !== undefined) return picture;
  return `${kind}, ${sizeWords(data.length)}  ${out.style.name(`→ ${files.save(data, mimeType)}`)}`;
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
