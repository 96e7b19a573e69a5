// How tools get the folders of a call. Types only.

import type { Context } from '../../engine/context.ts';
import type { ToolResult } from '../../protocol/model.ts';
import type { FileTree } from '../../security/files/tree.ts';
import type { FileTurn } from '../workspace/file-turns.ts';

/** Does the work of a tool with the folders of the call. */
export type FileHandler<A> = (tree: FileTree, args: A, ctx: Context) => Promise<ToolResult>;

/** A function for `run` that loads the handler with the first call. `inTurn`: default `inFileTurn`. */
export type WithFiles = <A>(
  load: () => Promise<FileHandler<A>>,
  inTurn?: FileTurn,
) => (args: A, ctx: Context) => Promise<ToolResult>;
