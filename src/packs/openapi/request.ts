// The HTTP request of a call: arguments become parts of the URL, headers and the body, as the document describes.

import { UserError } from '../../common/user-error.ts';
import type { JsonObject } from '../../protocol/model.ts';
import type { FetchInit } from '../../security/network/fetcher.ts';
import { encodeBody } from './body.ts';
import type { ApiOperation } from './operations.ts';
import type { Parameter, ParameterPlace } from './parameters.ts';
import { encodedPairs, headerText, joinPairs, pathText, percentEncode } from './value-styles.ts';

/** What every request of an operation carries, whatever its arguments: credentials and headers of the operator. */
export interface FixedParts {
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly cookies: Readonly<Record<string, string>>;
}

/** The argument of a parameter. */
export interface ParameterArgument {
  readonly argument: string;
  readonly parameter: Parameter;
}

/** Which argument of a tool is sent where. */
export interface ArgumentPlan {
  readonly parameters: readonly ParameterArgument[];
  /** The argument that is the body. */
  readonly body: string;
}

export interface OperationRequest {
  readonly url: URL;
  readonly init: FetchInit & { readonly headers: Readonly<Record<string, string>> };
}

export function buildRequest(
  operation: ApiOperation,
  plan: ArgumentPlan,
  args: JsonObject,
  fixed: FixedParts,
): OperationRequest {
  // Names such as "constructor" are on every object.
  const given = (argument: string): unknown => (Object.hasOwn(args, argument) ? args[argument] : undefined);
  const values = plan.parameters.flatMap(({ argument, parameter }) => {
    const value = given(argument);
    return value === undefined || value === null ? [] : [{ argument, parameter, value }];
  });
  const of = (place: ParameterPlace) => values.filter(({ parameter }) => parameter.in === place);

  const url = new URL(operation.base + filledPath(operation.path, of('path')));
  const query = [
    ...of('query').flatMap(({ parameter, value }) => encodedPairs(parameter, value)),
    ...pairsOf(fixed.query),
  ];
  url.search = joinPairs(query, '&');

  const headers: Record<string, string> = { accept: 'application/json, */*;q=0.8' };
  for (const { argument, parameter, value } of of('header')) {
    headers[parameter.name.toLowerCase()] = checkedHeader(argument, headerText(parameter, value));
  }
  const cookies = [
    ...of('cookie').flatMap(({ parameter, value }) => encodedPairs(parameter, value)),
    ...pairsOf(fixed.cookies),
  ];
  if (cookies.length > 0) headers['cookie'] = joinPairs(cookies, '; ');
  // Last, so that no argument replaces them.
  Object.assign(headers, fixed.headers);

  const method = operation.method.toUpperCase() as 'GET';
  const body = given(plan.body);
  if (operation.body === undefined || body === undefined) return { url, init: { method, headers } };
  const content = encodeBody(operation.body, body);
  return { url, init: { method, headers: { ...headers, 'content-type': content.type }, body: content.body } };
}

const pairsOf = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([name, value]) => [percentEncode(name), percentEncode(value)] as const);

interface Given {
  readonly argument: string;
  readonly parameter: Parameter;
  readonly value: unknown;
}

/** The path with its parameters, which stays below the address of the API. */
function filledPath(path: string, given: readonly Given[]): string {
  const texts = new Map(given.map((each) => [each.parameter.name, checkedPathText(each)]));
  const filled = path.replace(/\{([^}]*)\}/g, (_whole, name: string) => {
    const text = texts.get(name);
    if (text === undefined) throw new UserError(`The path parameter ${name} is missing`);
    return text;
  });
  // Several parameters of one segment may be ".." together.
  if (filled.split('/').some((segment) => segment === '.' || segment === '..')) {
    throw new UserError('The arguments would make the path of another operation');
  }
  return filled;
}

/**
 * Slashes are percent-encoded, but some servers decode them before they look for "..": then it would be the path of another
 * operation.
 */
function checkedPathText({ argument, parameter, value }: Given): string {
  const text = pathText(parameter, value);
  if (text === '') throw new UserError(`${argument}: must not be empty`);
  if (text.split(/%2F|%5C/i).some((segment) => segment === '.' || segment === '..')) {
    throw new UserError(`${argument}: must not be "." or "..", or have them between slashes`);
  }
  return text;
}

function checkedHeader(argument: string, text: string): string {
  // Bytes are sent as Latin-1; other characters have no encoding.
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text;
  throw new UserError(
    `${argument}: is sent as a header, so it must not have line breaks or characters outside of Latin-1`,
  );
}
