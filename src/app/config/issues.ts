// Errors in a configuration file: their position, and suggestions for mistyped names.

import { nearest } from '../../common/nearest.ts';
import { wrongViewName } from '../../gateway/config/view-name.ts';
import type { Issue } from '../../schema/index.ts';
import { type JsonNode, nodeAt } from '../text/jsonc.ts';

/** The position of the value, or of the nearest parent if it is missing. */
export function offsetOf(tree: JsonNode, path: readonly (string | number)[]): number {
  for (let length = path.length; length > 0; length--) {
    const around = nodeAt(tree, path.slice(0, length - 1));
    if (around?.kind === 'object') {
      const member = around.members.findLast(({ key }) => key === path[length - 1]);
      if (member !== undefined) return member.keyStart;
    }
    const node = nodeAt(tree, path.slice(0, length));
    if (node !== undefined) return node.start;
  }
  return tree.start;
}

/** Suggests a known name for a mistyped one, and says which names a view can have. */
export function withSuggestion(issue: Issue): Issue {
  const [section, key] = issue.path;
  if (section === 'gateway' && key === 'views' && issue.message.startsWith('is not a valid name for a property')) {
    return { ...issue, message: wrongViewName };
  }
  const known = /is not a known property; use one of (.*)$/.exec(issue.message)?.[1];
  const name = issue.path.at(-1);
  if (known === undefined || typeof name !== 'string') return issue;
  const meant = nearest(
    name,
    [...known.matchAll(/"([^"]+)"/g)].map((match) => match[1] as string),
  );
  return meant === undefined ? issue : { ...issue, message: `is not known; did you mean ${JSON.stringify(meant)}?` };
}
