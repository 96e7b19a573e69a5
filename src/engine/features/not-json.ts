// What a tool returned that JSON cannot represent, or represents as an empty object: where it is, and what to return instead.

/** Bounds of the search, which is for a message only. */
const maxValues = 1_000;

interface NotJsonValue {
  /** Such as `rows[0].id`; empty: the value itself. */
  readonly path: string;
  /** Such as `a BigInt`. */
  readonly what: string;
  /** What to do about it. */
  readonly remedy: string;
}

/** The error for a value of which `JSON.stringify` makes no text. `cause`: what it threw, if it did. */
export function notJson(value: unknown, cause?: unknown): TypeError {
  const found = find(value, (each, path, parents) => failure(each, path, parents));
  if (found !== undefined)
    return new TypeError(`The tool returned ${text(found)}`, cause === undefined ? {} : { cause });
  // A getter or `toJSON` has thrown.
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new TypeError(`The tool returned a value that cannot be converted to JSON: ${reason}`, { cause });
}

/** The error for a whole value of which JSON keeps nothing that its author meant, such as a Map; undefined if there is none. */
export function lostValue(value: unknown): TypeError | undefined {
  if (isPlain(value)) return undefined;
  const found = bytes(value, '') ?? loss(value, '');
  return found && new TypeError(`The tool returned ${text(found)}`);
}

/** Names a value within a result of which JSON keeps nothing, such as a promise; undefined if there is none. */
export function lostPart(value: unknown): string | undefined {
  const found = find(value, (each, path) => (path === '' ? undefined : loss(each, path)));
  return found && text(found);
}

function text({ path, what, remedy }: NotJsonValue): string {
  return `${what}${path === '' ? '' : ` in ${JSON.stringify(path)}`}, which JSON cannot represent; ${remedy}`;
}

function failure(value: unknown, path: string, parents: readonly object[]): NotJsonValue | undefined {
  if (typeof value === 'bigint') return { path, what: 'a BigInt', remedy: 'return a string or a number' };
  if (typeof value === 'object' && value !== null && parents.includes(value)) {
    return { path, what: 'an object that contains itself', remedy: 'return only the fields that the client needs' };
  }
  if (path === '' && (typeof value === 'function' || typeof value === 'symbol')) {
    return { path, what: `a ${typeof value}`, remedy: 'return text, content blocks or an object' };
  }
  return undefined;
}

function bytes(value: unknown, path: string): NotJsonValue | undefined {
  if (!ArrayBuffer.isView(value)) return undefined;
  return {
    path,
    what: nameOf(value),
    remedy: 'return image(bytes, type), audio(bytes, type), or await ctx.attach(bytes, …)',
  };
}

function loss(value: unknown, path: string): NotJsonValue | undefined {
  if (typeof value !== 'object' || value === null || isPlain(value)) return undefined;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return undefined;
  if (value instanceof Error) return { path, what: nameOf(value), remedy: 'throw it, or return its message' };
  if (Object.keys(value).length > 0) return undefined;
  const what = nameOf(value);
  if (value instanceof Map) return { path, what, remedy: 'return Object.fromEntries(map)' };
  if (value instanceof Set) return { path, what, remedy: 'return [...set]' };
  if (value instanceof Promise) return { path, what, remedy: 'write "await" before it' };
  return { path, what, remedy: 'return an object with the fields that the client needs' };
}

/** A plain object or an array, of any realm: JSON keeps what it has. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null || Array.isArray(value);
}

function nameOf(value: object): string {
  const name = (value.constructor as { name?: unknown } | undefined)?.name;
  if (typeof name !== 'string' || name === '') return 'an object without fields';
  return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`;
}

type NotJsonTest = (value: unknown, path: string, parents: readonly object[]) => NotJsonValue | undefined;

/** The first value for which the test finds something, depth first. What throws when it is read is left out. */
function find(root: unknown, test: NotJsonTest): NotJsonValue | undefined {
  let left = maxValues;
  const visit = (value: unknown, path: string, parents: readonly object[]): NotJsonValue | undefined => {
    if (left-- <= 0) return undefined;
    const found = test(value, path, parents);
    if (found !== undefined || typeof value !== 'object' || value === null || parents.includes(value)) return found;
    if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return undefined;
    const around = [...parents, value];
    for (const key of Object.keys(value)) {
      const below = visit((value as Record<string, unknown>)[key], join(path, key, Array.isArray(value)), around);
      if (below !== undefined) return below;
    }
    return undefined;
  };
  try {
    return visit(root, '', []);
  } catch {
    // A getter that throws has made JSON.stringify fail before; its error is the better message.
    return undefined;
  }
}

function join(path: string, key: string, isIndex: boolean): string {
  if (isIndex) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}
