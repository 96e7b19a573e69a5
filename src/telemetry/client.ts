// Spans and metrics of a client: one span for each request that it sends, whose context travels with the request, and one
// for each request of the server that it serves.

import type { ClientTelemetry, TracedEnd, TracedRequest } from '../client/index.ts';
import { metrics, names, toolError } from './names.ts';
import {
  activeToolSpan,
  contextOf,
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
  spanName,
  type TelemetryOptions,
  targetAttributes,
} from './request-attributes.ts';

/** OpenTelemetry for a client: `connect(target, { telemetry: clientTelemetry() })`. */
export function clientTelemetry(options: TelemetryOptions = {}): ClientTelemetry {
  const durations = createHistogram(metrics.clientOperation, 'Time from sending a request to its response.');
  const sessions = createHistogram(metrics.clientSession, 'Time a connection of a client is open.');
  return {
    sending(request) {
      const startedAt = performance.now();
      const shared = sharedAttributes(request);
      const target = targetAttributes(request.method, request.name, options);
      const attributes = {
        ...shared,
        ...target,
        [names.requestId]: String(request.id),
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
        ...(span === undefined ? {} : { meta: contextOf(span) }),
        end(how) {
          const ending = endAttributes(how, options);
          const error = ending[names.errorType];
          durations.record((performance.now() - startedAt) / 1000, {
            ...shared,
            ...target,
            ...(error === undefined ? {} : { [names.errorType]: error }),
          });
          if (span === undefined) return;
          const finish = span === existing ? describeEnd : endSpan;
          finish(span, ending, how.error?.message ?? (error as string | undefined));
        },
      };
    },
    async serving(request, serve) {
      const attributes = { ...sharedAttributes(request), [names.requestId]: String(request.id) };
      const span = startSpan(request.method, 'server', attributes, request.meta);
      try {
        const result = await within(span, serve);
        endSpan(span, {});
        return result;
      } catch (error) {
        endSpan(span, { [names.errorType]: '_OTHER' }, error instanceof Error ? error.message : undefined);
        throw error;
      }
    },
    connected(address, revision) {
      const startedAt = performance.now();
      const attributes = { [names.revision]: revision, ...addressAttributes(address) };
      return () => sessions.record((performance.now() - startedAt) / 1000, attributes);
    },
  };
}

function sharedAttributes({ method, revision, address }: TracedRequest): Attributes {
  return {
    [names.method]: method,
    ...(revision === undefined ? {} : { [names.revision]: revision }),
    ...addressAttributes(address),
  };
}

/** Where the server is; a command that was started has no address. */
function addressAttributes(address: string): Attributes {
  if (!URL.canParse(address)) return { [names.transport]: 'pipe' };
  const { protocol, hostname, port } = new URL(address);
  if (hostname === '') return {};
  const isSecure = protocol === 'https:' || protocol === 'wss:';
  return {
    [names.transport]: 'tcp',
    [names.protocol]: protocol.startsWith('ws') ? 'websocket' : 'http',
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
