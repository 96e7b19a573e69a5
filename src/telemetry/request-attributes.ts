// The attributes of spans and metrics of a request, shared by servers and clients.

import { createHash } from 'node:crypto';
import { createRedactor } from '../security/redact.ts';
import { names } from './names.ts';

/** Options of telemetry for servers and clients. */
export interface TelemetryOptions {
  /** Whether spans contain arguments and results of tools, redacted and cut after 8 KiB. Default false. */
  readonly contents?: boolean;
  /** Whether spans contain the URIs of resources; otherwise only their scheme. Default false. */
  readonly uris?: boolean;
  /** Whether `tasks/get` has spans; clients poll, so there are many. Default false. */
  readonly polls?: boolean;
  /** Added to all spans and metrics, for example to tell the connections of a program apart. */
  readonly attributes?: Attributes;
}

/** The names of all options. */
export const knownOptions: Record<keyof TelemetryOptions, true> = {
  contents: true,
  uris: true,
  polls: true,
  attributes: true,
};

export type Attributes = Record<string, string | number | boolean>;

/** The attributes of a metric: those of the span without the ones that would make a time series of every value. */
export function metricAttributes(
  { [names.resource]: _uri, ...attributes }: Attributes,
  ending: Attributes,
): Attributes {
  const { [names.errorType]: error, [names.statusCode]: code } = ending;
  if (error !== undefined) attributes[names.errorType] = error;
  if (code !== undefined) attributes[names.statusCode] = code;
  return attributes;
}

/** Session ids are not credentials, but readers of traces do not need them. */
export function sessionAttributes(id: string | undefined): Attributes {
  return id === undefined ? {} : { [names.session]: createHash('sha256').update(id).digest('hex').slice(0, 16) };
}

const maxContentChars = 8_192;
const redactor = createRedactor({ maxTextChars: maxContentChars });

/** The target of a request, under the name that its method gives it. `known`: whether it may name a time series. */
export function targetAttributes(
  method: string,
  name: string | undefined,
  options: TelemetryOptions,
  known = true,
): Attributes {
  if (name === undefined) return {};
  if (method === 'tools/call') return { [names.tool]: known ? name : '_other', [names.operation]: 'execute_tool' };
  if (method === 'prompts/get') return { [names.prompt]: known ? name : '_other' };
  if (method === 'resources/read' || method === 'resources/subscribe' || method === 'resources/unsubscribe') {
    return { [names.resource]: options.uris === true ? name : `${/^[a-z][a-z0-9+.-]*:/i.exec(name)?.[0] ?? ''}` };
  }
  return {};
}

/** The name of a span: the method, and the tool or prompt where there is one. */
export function spanName(method: string, target: Attributes): string {
  const name = target[names.tool] ?? target[names.prompt];
  return name === undefined ? method : `${method} ${name}`;
}

/** A value as the text of an attribute, without secrets. */
export function contentText(value: unknown): string {
  const text = JSON.stringify(redactor.redact(value)) ?? '';
  return text.length > maxContentChars ? `${text.slice(0, maxContentChars)}…` : text;
}

/** Polling has no spans unless they are wanted. */
export function isTraced(method: string, options: TelemetryOptions): boolean {
  return method !== 'tasks/get' || options.polls === true;
}
