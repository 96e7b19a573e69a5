// The instructions of a view: its own, then those of each server under its name.

import { capText } from '../../common/hygiene.ts';
import type { ListsOf, ViewSource } from './view-source.ts';

/** Characters of the instructions of one server; stops one from crowding out the others. */
const maxServerChars = 2_048;
/** Characters of the instructions of all servers together. */
const maxChars = 16_384;

/** `listsOf`: what the caller sees. */
export function joinInstructions(
  { instructions, upstreams, isSingle }: ViewSource,
  listsOf: ListsOf,
): string | undefined {
  const [only] = upstreams.values();
  if (isSingle) return only && listsOf(only)?.shown.instructions;
  const parts = instructions === undefined ? [] : [instructions];
  for (const [slug, upstream] of upstreams) {
    const text = listsOf(upstream)?.shown.instructions?.trim();
    if (text !== undefined && text !== '') parts.push(`## ${slug}\n${capText(text, maxServerChars)}`);
  }
  return parts.length === 0 ? undefined : capText(parts.join('\n\n'), maxChars);
}
