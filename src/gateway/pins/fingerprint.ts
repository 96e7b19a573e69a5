// The fingerprint of a tool: what a model and a user rely on when they decide to call it.

import type { Tool } from '../../protocol/model.ts';
import { canonicalJson } from '../../schema/index.ts';
import { sha256 } from '../sha256.ts';

/** The parts of a tool that a fingerprint covers. */
export interface PinnedDefinition {
  readonly name: string;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: unknown;
  /** `_meta.ui`: the page of an app. */
  readonly ui?: unknown;
}

/** The definition that is compared; fields that are absent stay absent. */
export function definitionOf(tool: Tool): PinnedDefinition {
  const { name, title, description, inputSchema, outputSchema, annotations, _meta } = tool;
  const all = { name, title, description, inputSchema, outputSchema, annotations, ui: _meta?.['ui'] };
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as unknown as PinnedDefinition;
}

/** SHA-256 of the definition. */
export function fingerprintOf(definition: PinnedDefinition): string {
  return sha256(canonicalJson(definition));
}

/** SHA-256 of the definition without the name: the same for a tool that was only renamed. */
export function contentFingerprintOf({ name: _name, ...rest }: PinnedDefinition): string {
  return sha256(canonicalJson(rest));
}
