// The body of a request: JSON, forms, text or bytes.

import { UserError } from '../../common/user-error.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { RequestBody } from './parameters.ts';
import { encodedPairs, joinPairs, plainText } from './value-styles.ts';

export interface EncodedBody {
  readonly type: string;
  readonly body: string | Uint8Array;
}

export function encodeBody(body: RequestBody, value: unknown): EncodedBody {
  const type = body.mediaType;
  switch (body.kind) {
    case 'json':
      return { type, body: JSON.stringify(value) };
    case 'form':
      return { type, body: encodeForm(body, fieldsOf(value)) };
    case 'multipart':
      return encodeMultipart(body, fieldsOf(value));
    case 'text':
      return { type, body: plainText(value) };
    case 'binary':
      return { type, body: bytesOf('body', value) };
  }
}

/** A field whose value is null is left out. */
function fieldsOf(value: unknown): readonly (readonly [name: string, value: unknown])[] {
  if (!isObject(value)) throw new UserError('body: must be an object, whose properties are the fields of the form');
  return Object.entries(value).filter(([, each]) => each !== null);
}

function encodeForm({ encoding }: RequestBody, fields: ReturnType<typeof fieldsOf>): string {
  const pairs = fields.flatMap(([name, value]) => {
    const { style = 'form', explode = true, contentType } = encoding.get(name) ?? {};
    return encodedPairs({ name, style, explode, isJson: contentType === 'application/json' }, value);
  });
  return joinPairs(pairs, '&').replaceAll('%20', '+');
}

function encodeMultipart({ encoding, files }: RequestBody, fields: ReturnType<typeof fieldsOf>): EncodedBody {
  const boundary = `mooring-${crypto.randomUUID()}`;
  // A list becomes a part for each of its values.
  const parts = fields.flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each) => ({ name, each })),
  );
  const chunks = parts.flatMap(({ name, each }) => {
    const isFile = files.has(name);
    const quoted = name.replace(/["\r\n]/g, (character) => encodeURIComponent(character));
    const type = encoding.get(name)?.contentType ?? defaultType(each, isFile);
    const head = [
      `--${boundary}`,
      `content-disposition: form-data; name="${quoted}"${isFile ? `; filename="${quoted}"` : ''}`,
      ...(type === undefined ? [] : [`content-type: ${type}`]),
    ];
    const content = isFile ? bytesOf(name, each) : Buffer.from(plainText(each));
    return [Buffer.from(`${head.join('\r\n')}\r\n\r\n`), content, Buffer.from('\r\n')];
  });
  const body = Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]);
  return { type: `multipart/form-data; boundary=${boundary}`, body };
}

function defaultType(value: unknown, isFile: boolean): string | undefined {
  if (isFile) return 'application/octet-stream';
  return isObject(value) ? 'application/json' : undefined;
}

/** Bytes are base64 in arguments. What is not base64 would be decoded to something else without an error. */
function bytesOf(argument: string, value: unknown): Buffer {
  if (typeof value === 'string' && /^[A-Za-z0-9+/_-]*={0,2}\s*$/.test(value)) return Buffer.from(value, 'base64');
  throw new UserError(`${argument}: must be base64`);
}
