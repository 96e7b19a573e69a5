// Spans and metrics of a client: one span for each request that it sends, whose context travels with the request, and one
// for each request of the server that it serves.

import {
  type ClientTelemetry,
  InputFailure,
  type TracedEnd,
  type TracedRequest,
  type TracedTransport,
} from '../client/index.ts';
import { assertKnownOptions } from '../common/known-options.ts';
import { metrics, names, toolError } from './names.ts';
import {
  activeToolSpan,
  contextOf,
  continues,
  createHistogram,
  describeEnd,
  endSpan,
  startSpan,
  within,
} from './open-telemetry.ts';
import {
  type Attributes,
  contentText,
  isTraced,
  knownOptions,
  metricAttributes,
  sessionAttributes,
  spanName,
  type TelemetryOptions,
  targetAttributes,
} from './request-attributes.ts';

/** The code of the error that a server gets for an unexpected error of a handler. */
const internalError = -32603;

/** OpenTelemetry for a client: `connect(target, { telemetry: clientTelemetry() })`. */
export function clientTelemetry(options: TelemetryOptions = {}): ClientTelemetry {
  assertKnownOptions('clientTelemetry', options, knownOptions);
  const durations = createHistogram(metrics.clientOperation, 'Time from sending a request to its response.');
  const sessions = createHistogram(metrics.clientSession, 'Time a connection of a client is open.');
  /** Requests of the server: the client is the server of these. */
  const servedDurations = createHistogram(metrics.serverOperation, 'Time a server takes for a request.');
  /** Parsing the address for every request would be slow. */
  const networks = new WeakMap<TracedTransport, Attributes>();

  const networkOf = (transport: TracedTransport): Attributes => {
    let attributes = networks.get(transport);
    if (attributes === undefined) networks.set(transport, (attributes = networkAttributes(transport)));
    return attributes;
  };
  const sharedAttributes = ({ method, revision, transport }: TracedRequest): Attributes => ({
    ...options.attributes,
    [names.method]: method,
    ...(revision === undefined ? {} : { [names.revision]: revision }),
    ...networkOf(transport),
  });

  return {
    sending(request) {
      const startedAt = performance.now();
      const target = targetAttributes(request.method, request.name, options);
      const shared = { ...sharedAttributes(request), ...target };
      const attributes = {
        ...shared,
        [names.requestId]: String(request.id),
        ...sessionAttributes(request.transport.sessionId),
        ...(options.contents === true && request.args !== undefined
          ? { [names.arguments]: contentText(request.args) }
          : {}),
      };
      const existing = request.method === 'tools/call' ? activeToolSpan() : undefined;
      existing?.setAttributes(attributes);
      const span =
        existing ??
        (isTraced(request.method, options)
          ? startSpan(spanName(request.method, target), 'client', attributes)
          : undefined);
      return {
        ...(span === undefined ? {} : { meta: contextOf(span), replaces: continues(span, request.meta) }),
        end(how) {
          const ending = endAttributes(how, options);
          durations.record((performance.now() - startedAt) / 1000, metricAttributes(shared, ending));
          if (span === undefined) return;
          const finish = span === existing ? describeEnd : endSpan;
          finish(span, ending, how.error?.message ?? (ending[names.errorType] as string | undefined));
        },
      };
    },
    async serving(request, serve) {
      const startedAt = performance.now();
      const shared = sharedAttributes(request);
      const attributes = {
        ...shared,
        [names.requestId]: String(request.id),
        ...sessionAttributes(request.transport.sessionId),
      };
      const span = startSpan(request.method, 'server', attributes, request.meta);
      const end = (ending: Attributes, error?: string): void => {
        servedDurations.record((performance.now() - startedAt) / 1000, metricAttributes(shared, ending));
        endSpan(span, ending, error);
      };
      try {
        const result = await within(span, request.meta, serve);
        end({});
        return result;
      } catch (error) {
        const code = String(error instanceof InputFailure ? error.code : internalError);
        end({ [names.errorType]: code, [names.statusCode]: code }, error instanceof Error ? error.message : code);
        throw error;
      }
    },
    connected(transport, revision) {
      const startedAt = performance.now();
      const attributes = { ...options.attributes, [names.revision]: revision, ...networkOf(transport) };
      return (reason) => {
        const isError = reason !== undefined && reason.code !== 'closed';
        sessions.record((performance.now() - startedAt) / 1000, {
          ...attributes,
          ...(isError ? { [names.errorType]: reason.code } : {}),
        });
      };
    },
  };
}

/** How the server is reached, and where it is; a command that was started has no address. */
function networkAttributes({ kind, address, protocolVersion }: TracedTransport): Attributes {
  if (kind === 'stdio') return { [names.transport]: 'pipe' };
  if (kind === 'memory' || !URL.canParse(address)) return {};
  const { protocol, hostname, port } = new URL(address);
  if (hostname === '') return {};
  const isSecure = protocol === 'https:' || protocol === 'wss:';
  return {
    [names.transport]: 'tcp',
    [names.protocol]: protocol.startsWith('ws') ? 'websocket' : 'http',
    ...(protocolVersion === undefined ? {} : { [names.protocolVersion]: protocolVersion }),
    [names.serverAddress]: hostname,
    [names.serverPort]: port === '' ? (isSecure ? 443 : 80) : Number(port),
  };
}

function endAttributes({ result, error }: TracedEnd, options: TelemetryOptions): Attributes {
  if (error !== undefined) {
    const code = String(error.code);
    return {
      [names.errorType]: code,
      ...(typeof error.code === 'number' ? { [names.statusCode]: code } : {}),
    };
  }
  return {
    ...(result?.['isError'] === true ? { [names.errorType]: toolError } : {}),
    ...(result?.['resultType'] === 'input_required' ? { [names.outcome]: 'input-required' } : {}),
    ...(options.contents === true && Array.isArray(result?.['content']) ? { [names.result]: contentText(result) } : {}),
  };
}
