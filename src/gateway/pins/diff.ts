// The differences between two definitions of a tool, one value a line.

import type { PinnedDefinition } from './fingerprint.ts';

/** One value that differs; undefined on the side where it is missing. */
export interface DefinitionDifference {
  /** Where: `description`, `inputSchema.properties.path.type`. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Stops a definition with very many values from filling the terminal. */
const maxDifferences = 200;

/** The values that differ, in the order of the newer definition. */
export function diffDefinitions(
  before: PinnedDefinition | undefined,
  after: PinnedDefinition,
): readonly DefinitionDifference[] {
  const [old, now] = [flatten(before), flatten(after)];
  const paths = [...new Set([...now.keys(), ...old.keys()])];
  return paths
    .filter((path) => old.get(path) !== now.get(path))
    .slice(0, maxDifferences)
    .map((path) => ({ path, before: old.get(path), after: now.get(path) }));
}

/** Every value that is not a container, as JSON, by its path. Nothing for a definition that there was not. */
function flatten(value: PinnedDefinition | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (value === undefined) return found;
  const walk = (each: unknown, path: string): void => {
    const isContainer = typeof each === 'object' && each !== null && Object.keys(each).length > 0;
    if (!isContainer) {
      found.set(path, JSON.stringify(each) ?? 'null');
      return;
    }
    for (const [key, item] of Object.entries(each)) walk(item, path === '' ? key : `${path}.${key}`);
  };
  walk(value, '');
  return found;
}
