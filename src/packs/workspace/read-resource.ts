// Reads a file of a tree as the contents of a resource.

import type { Context } from '../../engine/context.ts';
import type { ReadReturn } from '../../engine/definitions.ts';
import { WireError } from '../../protocol/errors.ts';
import { FileError, type FileTree } from '../../security/files/tree.ts';
import { inFileTurn } from './file-turns.ts';
import { textOf } from './mime.ts';

/** A file, and the resource that it is. */
export interface ReadTarget {
  /** Its path, or its `file:` URI. */
  readonly file: string;
  readonly uri: string;
  readonly mimeType: string;
}

/** Undefined for what is not there, or not for this caller: the two look the same. */
export async function readResource(tree: FileTree, target: ReadTarget, ctx: Context): Promise<ReadReturn> {
  const { file, uri, mimeType } = target;
  try {
    const bytes = await inFileTurn(ctx, () => tree.readFile(file, { signal: ctx.signal }));
    const text = textOf(bytes);
    if (text !== undefined) return { uri, mimeType, text };
    const blob = bytes.toString('base64');
    return { uri, mimeType: mimeType === 'text/plain' ? 'application/octet-stream' : mimeType, blob };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    if (error.code === 'FILE_TOO_LARGE' || error.code === 'FILE_IO') throw new WireError('internal', error.message);
    return undefined;
  }
}
