// ${VAR} in the texts of a configuration: from the environment, with a default as ${VAR:-word}; $${ stands for itself.

/** A text that names a variable which is not set. */
export interface Unset {
  readonly path: readonly (string | number)[];
  readonly name: string;
}

export interface Expanded {
  readonly value: unknown;
  readonly unset: readonly Unset[];
  /** Paths of texts that took something from the environment, as `formatPointer` writes them. */
  readonly expanded: ReadonlySet<string>;
}

const pattern = /\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** Replaces variables in every text of a value, keys excepted. */
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

/** A path as one key for sets. */
export function formatPointer(path: readonly (string | number)[]): string {
  return path.map(String).join('\0');
}
