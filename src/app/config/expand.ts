// Expands ${VAR}, ${env:VAR} (as Cursor and VS Code write it) and ${VAR:-default} in a configuration from the environment;
// $${ is an escaped ${.

/** A reference to a variable that is not set. */
export interface Unset {
  readonly path: readonly (string | number)[];
  readonly name: string;
}

export interface Expanded {
  readonly value: unknown;
  readonly unset: readonly Unset[];
  /** Paths of the values that contain variables, in the format of `formatPointer`. */
  readonly expanded: ReadonlySet<string>;
}

const pattern = /\$(\$\{)|\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** Expands variables in all strings of a value, except for keys. */
export function expandVariables(value: unknown, env: Readonly<Record<string, string | undefined>>): Expanded {
  const unset: Unset[] = [];
  const expanded = new Set<string>();
  const walk = (each: unknown, path: readonly (string | number)[]): unknown => {
    if (typeof each === 'string') return expandText(each, path);
    if (Array.isArray(each)) return each.map((item, index) => walk(item, [...path, index]));
    if (typeof each === 'object' && each !== null) {
      return Object.fromEntries(Object.entries(each).map(([key, item]) => [key, walk(item, [...path, key])]));
    }
    return each;
  };
  const expandText = (text: string, path: readonly (string | number)[]): string =>
    text.replace(pattern, (_all, escaped: string | undefined, name: string, fallback: string | undefined) => {
      if (escaped !== undefined) return escaped;
      expanded.add(formatPointer(path));
      const found = env[name];
      if (found !== undefined && (found !== '' || fallback === undefined)) return found;
      if (fallback !== undefined) return fallback;
      unset.push({ path, name });
      return '';
    });
  return { value: walk(value, []), unset, expanded };
}

/** A path as one text, for use as a key. */
export function formatPointer(path: readonly (string | number)[]): string {
  return path.map(String).join('\0');
}
