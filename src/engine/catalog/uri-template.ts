// URI templates (RFC 6570) as matchers: parsed once, matched in one pass from left to right. No RegExp is ever built
// from a template, so no template can be made to backtrack.

/** The longest URI that is matched; longer ones do not match. Stops work that grows with a hostile URI. */
export const maxUriLength = 8192;

type Operator = '' | '+' | '#' | '/' | '.' | ';' | '?' | '&';

interface Expression {
  readonly operator: Operator;
  readonly names: readonly { readonly name: string; readonly explode: boolean }[];
}

type TemplatePart = string | Expression;

/** Characters that end a value of each operator. */
const stops: Readonly<Record<Operator, string>> = {
  '': '/?#,&;',
  '+': '',
  '#': '',
  '/': '/?#',
  '.': './?#',
  ';': ';/?#',
  '?': '&#',
  '&': '&#',
};

/** What precedes the first value, and what separates two values, of an unnamed list. */
const separators: Readonly<Partial<Record<Operator, readonly [string, string]>>> = {
  '': ['', ','],
  '+': ['', ','],
  '#': ['#', ','],
  '/': ['/', '/'],
  '.': ['.', '.'],
};

export class UriTemplate {
  readonly template: string;
  /** The variables, in order of appearance. */
  readonly names: readonly string[];
  readonly #parts: readonly TemplatePart[];

  /** Throws a TypeError that says how to fix a template that is malformed or cannot be matched. */
  constructor(template: string) {
    if (typeof template !== 'string') {
      throw new TypeError(
        'A resource template needs a URI template, a string: server.resourceTemplate("a://{id}", { … })',
      );
    }
    this.template = template;
    this.#parts = parseTemplate(template);
    this.names = this.#parts.flatMap((part) => (typeof part === 'string' ? [] : part.names.map((each) => each.name)));
    if (new Set(this.names).size !== this.names.length) throw templateError(template, 'a variable is used twice');
  }

  /** The variables of a matching URI, percent-decoded; undefined if it does not match. */
  match(uri: string): Record<string, string> | undefined {
    // The beginning is always a literal: most URIs that do not match are recognized by it.
    if (uri.length > maxUriLength || !uri.startsWith(this.#parts[0] as string)) return undefined;
    const values: Record<string, string> = Object.create(null);
    const parts = this.#parts;
    let at = 0;
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i] as TemplatePart;
      if (typeof part === 'string') {
        if (!uri.startsWith(part, at)) return undefined;
        at += part.length;
        continue;
      }
      const next = parts[i + 1];
      const end = limitOf(uri, at, typeof next === 'string' ? next : undefined, i + 2 === parts.length);
      if (end === -1) return undefined;
      const reached = isNamed(part.operator)
        ? takePairs(uri, at, end, part, values)
        : takeList(uri, at, end, part, values);
      if (reached === -1) return undefined;
      at = reached;
    }
    return at === uri.length ? values : undefined;
  }
}

function isNamed(operator: Operator): operator is ';' | '?' | '&' {
  return operator === ';' || operator === '?' || operator === '&';
}

/** Where an expression must end at the latest: at the literal after it. The last literal is searched from the end. */
function limitOf(uri: string, at: number, literal: string | undefined, last: boolean): number {
  if (literal === undefined) return uri.length;
  if (last) return uri.endsWith(literal) && uri.length - literal.length >= at ? uri.length - literal.length : -1;
  return uri.indexOf(literal, at);
}

function takeList(
  uri: string,
  from: number,
  end: number,
  { operator, names }: Expression,
  into: Record<string, string>,
): number {
  const [open, between] = separators[operator] as readonly [string, string];
  let at = from;
  for (let i = 0; i < names.length; i++) {
    const { name, explode } = names[i] as { name: string; explode: boolean };
    const separator = i === 0 ? open : between;
    if (separator !== '') {
      if (at >= end || !uri.startsWith(separator, at)) return -1;
      at += separator.length;
    }
    const stop = runTo(uri, at, end, explode ? stops[operator].replace(between, '') : stops[operator]);
    const value = decode(uri.slice(at, stop));
    if (value === undefined || (value === '' && operator !== '+' && operator !== '#')) return -1;
    into[name] = value;
    at = stop;
  }
  return at;
}

function takePairs(
  uri: string,
  from: number,
  end: number,
  { operator, names }: Expression,
  into: Record<string, string>,
): number {
  let at = from;
  const between = operator === ';' ? ';' : '&';
  let separator: string = operator;
  while (at < end && uri.startsWith(separator, at)) {
    const stop = runTo(uri, at + 1, end, stops[operator]);
    const pair = uri.slice(at + 1, stop);
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
    if (value === undefined || !names.some((each) => each.name === name)) return -1;
    into[name as string] = value;
    at = stop;
    separator = between;
  }
  return at;
}

function runTo(uri: string, from: number, end: number, stopAt: string): number {
  let at = from;
  if (stopAt === '') return end;
  while (at < end && !stopAt.includes(uri[at] as string)) at++;
  return at;
}

function decode(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    // With a broken escape the URI does not match.
    return undefined;
  }
}

function parseTemplate(template: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf('{', at);
    const literal = template.slice(at, open === -1 ? template.length : open);
    if (literal.includes('}')) throw templateError(template, 'there is a "}" without a "{"');
    if (literal !== '') parts.push(literal);
    if (open === -1) break;
    const close = template.indexOf('}', open);
    if (close === -1) throw templateError(template, 'a "{" is never closed');
    const expression = parseExpression(template, template.slice(open + 1, close));
    const before = parts.at(-1);
    if (
      before !== undefined &&
      typeof before !== 'string' &&
      (separators[expression.operator]?.[0] ?? expression.operator) === ''
    ) {
      throw templateError(template, 'two variables are adjacent; put a literal between them');
    }
    parts.push(expression);
    at = close + 1;
  }
  if (!parts.some((part) => typeof part !== 'string'))
    throw templateError(template, 'it has no variable; register a resource instead');
  if (typeof parts[0] !== 'string' || !/^[A-Za-z][A-Za-z0-9+.-]*:/.test(parts[0])) {
    throw templateError(template, 'it must begin with a scheme such as "note://"');
  }
  return parts;
}

function parseExpression(template: string, body: string): Expression {
  const operator = ('+#/.;?&'.includes(body[0] ?? ' ') ? body[0] : '') as Operator;
  const names = body
    .slice(operator.length)
    .split(',')
    .map((spec) => {
      const explode = spec.endsWith('*');
      const name = explode ? spec.slice(0, -1) : spec;
      if (!/^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*$/.test(name)) {
        throw templateError(template, `{${body}} is not a list of variable names (prefix modifiers cannot be matched)`);
      }
      return { name, explode };
    });
  return { operator, names };
}

function templateError(template: string, why: string): TypeError {
  return new TypeError(`URI template ${JSON.stringify(template)}: ${why}`);
}
