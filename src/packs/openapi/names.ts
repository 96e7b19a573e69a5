// The names of tools and of their arguments: valid for every client, unique, and the same for the same document.

import type { ApiOperation } from './operations.ts';
import type { Parameter } from './parameters.ts';
import type { ArgumentPlan } from './request.ts';

/** What the APIs of models accept as names of tools and arguments. */
const maxNameChars = 64;

/** The names of tools, in the order of their operations. Throws for a prefix that is not valid. */
export function toolNames(operations: readonly ApiOperation[], prefix: string | undefined): readonly string[] {
  const start = prefix === undefined ? '' : `${prefix}_`;
  if (!/^[\w.-]{0,33}$/.test(start)) {
    throw new TypeError(`openApi(): the prefix ${JSON.stringify(prefix)} must have at most 32 of A-Z a-z 0-9 _ - .`);
  }
  const names = new UniqueNames();
  return operations.map(({ id, method, path }) => {
    const own = validName(id ?? '');
    return names.take(start + (own === '' ? validName(`${method}${path}`) : own));
  });
}

/** `isFixed`: whether the operator has set a parameter, which is then no argument. */
export function planArguments(
  { parameters, body }: Pick<ApiOperation, 'parameters' | 'body'>,
  isFixed: (parameter: Parameter) => boolean = () => false,
): ArgumentPlan {
  const names = new UniqueNames(body === undefined ? [] : ['body']);
  const offered = parameters.filter((each) => !isFixed(each));
  // The path identifies what the operation is about, so its parameters have their own names.
  const inOrder = (['path', 'query', 'header', 'cookie'] as const).flatMap((place) =>
    offered.filter((each) => each.in === place),
  );
  const named = inOrder.map((parameter) => {
    const name = validName(parameter.name) || parameter.in;
    return { parameter, argument: names.take(names.has(name) ? `${name}_${parameter.in}` : name) };
  });
  return { parameters: named, body: 'body' };
}

/** Empty if nothing of the text can be part of a name. */
function validName(text: string): string {
  if (/^[\w.-]*$/.test(text)) return text;
  return text.replace(/[^\w.-]+/g, '_').replace(/^_+|_+$/g, '');
}

/** Names of which none is given twice. */
export class UniqueNames {
  readonly #taken = new Set<string>();
  /** The next number for each name: a document may have the same one thousands of times. */
  readonly #next = new Map<string, number>();

  constructor(taken: readonly string[] = []) {
    for (const name of taken) this.#taken.add(name);
  }

  has(name: string): boolean {
    return this.#taken.has(name);
  }

  /** The name itself, or with a number. */
  take(wanted: string): string {
    let name = wanted.slice(0, maxNameChars);
    let n = this.#next.get(name) ?? 2;
    const first = name;
    for (; this.#taken.has(name); n++) {
      const ending = `_${n}`;
      name = wanted.slice(0, maxNameChars - ending.length) + ending;
    }
    this.#next.set(first, n);
    this.#taken.add(name);
    return name;
  }
}
