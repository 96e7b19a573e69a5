// The instructions of a view: its own, then those of each server under its name.

import { capText } from '../../protocol/hygiene.ts';
import type { ViewSource } from './view-source.ts';

/** Characters of the instructions of one server; stops one from crowding out the others. */
const maxServerChars = 2_048;
/** Characters of the instructions of all servers together. */
const maxChars = 16_384;

export function joinInstructions({ instructions, upstreams, isSingle }: ViewSource): string | undefined {
  if (isSingle) return [...upstreams.values()][0]?.lists?.instructions;
  const parts = instructions === undefined ? [] : [instructions];
  for (const [slug, { lists }] of upstreams) {
    const text = lists?.instructions?.trim();
    if (text !== undefined && text !== '') parts.push(`## ${slug}\n${capText(text, maxServerChars)}`);
  }
  return parts.length === 0 ? undefined : capText(parts.join('\n\n'), maxChars);
}
