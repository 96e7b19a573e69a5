// How tools get the folders of a call. Types only.

import type { Context } from '../../engine/context.ts';
import type { ToolResult } from '../../protocol/model.ts';
import type { FileTree } from '../../security/files/tree.ts';

/** Does the work of a tool with the folders of the call. */
export type FileHandler<A> = (tree: FileTree, args: A, ctx: Context) => Promise<ToolResult>;

/** A function for `run` that loads the handler with the first call. */
export type WithFiles = <A>(load: () => Promise<FileHandler<A>>) => (args: A, ctx: Context) => Promise<ToolResult>;
