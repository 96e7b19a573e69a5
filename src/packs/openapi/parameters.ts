// The parameters and the body of an operation, as an OpenAPI document describes them.

import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { type OpenApiDocument, OpenApiError } from './document.ts';

export type ParameterPlace = 'path' | 'query' | 'header' | 'cookie';

/** How a value is written: in a parameter, or in a field of a form. */
export interface ValueStyle {
  readonly name: string;
  readonly style: string;
  readonly explode: boolean;
  /** It is written as JSON. */
  readonly isJson: boolean;
}

export interface Parameter extends ValueStyle {
  readonly in: ParameterPlace;
  readonly required: boolean;
  readonly description: string | undefined;
  readonly schema: unknown;
}

export type BodyKind = 'json' | 'form' | 'multipart' | 'text' | 'binary';

/** The body of the requests of an operation. */
export interface RequestBody {
  readonly kind: BodyKind;
  readonly mediaType: string;
  readonly required: boolean;
  readonly description: string | undefined;
  readonly schema: unknown;
  /** How the fields of a form are written, by name. */
  readonly encoding: ReadonlyMap<string, FieldEncoding>;
  /** The fields of a multipart body that are files. */
  readonly files: ReadonlySet<string>;
}

export interface FieldEncoding {
  readonly style: string | undefined;
  readonly explode: boolean | undefined;
  /** Of a part of a multipart body. */
  readonly contentType: string | undefined;
}

/** Stops a document from filling the memory with paths that refer to one with many parameters. */
const maxParameters = 256;

/** Those of an operation replace those of its path. */
export function readParameters(document: OpenApiDocument, levels: readonly unknown[]): readonly Parameter[] {
  const found = new Map<string, Parameter>();
  if (levels.flat().length > maxParameters) throw new OpenApiError(`has more than ${maxParameters} parameters`);
  for (const level of levels) {
    for (const given of Array.isArray(level) ? (level as unknown[]) : []) {
      const parameter = readParameter(document, document.resolve(given));
      if (parameter !== undefined) found.set(`${parameter.in} ${parameter.name}`, parameter);
    }
  }
  return [...found.values()];
}

/** The styles that are supported in each place; the first is the default. */
const styles: Readonly<Record<ParameterPlace, readonly string[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
};

/** Not parameters: the specification says that the first three are described elsewhere, and the rest belongs to HTTP. */
const ignoredHeaders =
  /^(?:accept|authorization|content-type|accept-encoding|connection|content-length|cookie|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** Names of headers and cookies; anything else could end the line. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function readParameter(document: OpenApiDocument, given: JsonObject): Parameter | undefined {
  const { name, in: place, description, content, schema } = given;
  if (typeof name !== 'string' || name === '' || typeof place !== 'string' || !Object.hasOwn(styles, place)) {
    throw new OpenApiError('has a parameter without a name, or one that is not in path, query, header or cookie');
  }
  const where = place as ParameterPlace;
  if (where === 'header' && ignoredHeaders.test(name)) return undefined;
  if ((where === 'header' || where === 'cookie') && !token.test(name)) {
    throw new OpenApiError(`has a ${where} whose name is not valid: ${JSON.stringify(name.slice(0, 100))}`);
  }
  const style = String(given['style'] ?? styles[where][0]);
  if (!styles[where].includes(style)) {
    throw new OpenApiError(`has a parameter (${name}) with the style ${style}, which is not supported in the ${where}`);
  }
  const [media] = isObject(content) ? Object.values(content) : [];
  const mediaType = media === undefined ? undefined : document.resolve(media);
  return {
    name,
    in: where,
    required: where === 'path' || given['required'] === true,
    description: typeof description === 'string' ? description : undefined,
    schema: mediaType === undefined ? schema : mediaType['schema'],
    isJson: mediaType !== undefined,
    style,
    explode: typeof given['explode'] === 'boolean' ? given['explode'] : style === 'form' || style === 'deepObject',
  };
}

/** In the order of preference, if there are several. */
const bodyKinds: readonly (readonly [BodyKind, RegExp])[] = [
  ['json', /[/+]json$/],
  ['form', /^application\/x-www-form-urlencoded$/],
  ['multipart', /^multipart\/form-data$/],
  ['text', /^text\/(?!\*)|[/+](?:xml|yaml)$|^application\/(?:graphql|x-ndjson|jsonl)$/],
  ['binary', /^[^*]+$/],
  // "*/*" and the like: JSON is what most servers take.
  ['json', /\*/],
];

export function readBody(document: OpenApiDocument, given: unknown): RequestBody | undefined {
  const { content, required, description } = document.resolve(given);
  const media = isObject(content) ? Object.entries(content) : [];
  for (const [kind, pattern] of bodyKinds) {
    for (const [name, value] of media) {
      const mediaType = (name.split(';')[0] as string).trim().toLowerCase();
      if (!pattern.test(mediaType)) continue;
      const { schema, encoding } = document.resolve(value);
      const isRange = mediaType.includes('*');
      if (!isRange && !/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(mediaType)) {
        throw new OpenApiError(`has a body of a type that is not valid: ${JSON.stringify(mediaType.slice(0, 100))}`);
      }
      return {
        kind,
        mediaType: isRange ? 'application/json' : mediaType,
        required: required === true,
        description: typeof description === 'string' ? description : undefined,
        schema,
        encoding: readEncoding(encoding),
        files: kind === 'multipart' ? fileFields(document, schema) : new Set(),
      };
    }
  }
  return undefined;
}

function readEncoding(given: unknown): RequestBody['encoding'] {
  const fields = isObject(given) ? Object.entries(given) : [];
  return new Map(
    fields.map(([name, value]) => {
      const { style, explode, contentType } = isObject(value) ? value : {};
      const encoding: FieldEncoding = {
        style: styles.query.includes(style as string) ? (style as string) : undefined,
        explode: typeof explode === 'boolean' ? explode : undefined,
        // One of several, or a range, does not say which.
        contentType:
          typeof contentType === 'string' && /^[\w.+-]+\/[\w.+-]+$/.test(contentType) ? contentType : undefined,
      };
      return [name, encoding];
    }),
  );
}

function fileFields(document: OpenApiDocument, schema: unknown): ReadonlySet<string> {
  const { properties } = isObject(schema) ? document.resolve(schema) : {};
  const fields = isObject(properties) ? Object.entries(properties) : [];
  const isFile = (given: unknown): boolean => {
    const found = isObject(given) ? document.resolve(given) : {};
    return isBinary(found) || (isObject(found['items']) && isBinary(document.resolve(found['items'])));
  };
  return new Set(fields.filter(([, each]) => isFile(each)).map(([name]) => name));
}

/** Whether values are bytes, which are base64 in arguments. With `contentEncoding`, the API itself takes base64. */
export function isBinary({ format, contentMediaType, contentEncoding }: JsonObject): boolean {
  if (format === 'binary') return true;
  return (
    typeof contentMediaType === 'string' && contentEncoding === undefined && !/json$|^text\//.test(contentMediaType)
  );
}
