// Names for types of the client library, for the files in this folder.

import type { Client } from '../../client/index.ts';

type ItemOf<T extends (...args: never[]) => Promise<readonly unknown[]>> = Awaited<ReturnType<T>>[number];

export type Tool = ItemOf<Client['listTools']>;
export type Prompt = ItemOf<Client['listPrompts']>;
export type ToolResult = Awaited<ReturnType<Client['callTool']>>;
export type ReadResult = Awaited<ReturnType<Client['readResource']>>;
export type Content = ToolResult['content'][number];
export type ResourceContents = ReadResult['contents'][number];

/** The parts of a JSON Schema that the command line uses. */
export interface FormSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, FormSchema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly enumNames?: readonly string[];
  readonly const?: unknown;
  readonly oneOf?: readonly FormSchema[];
  readonly anyOf?: readonly FormSchema[];
  readonly items?: FormSchema;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly format?: string;
}
