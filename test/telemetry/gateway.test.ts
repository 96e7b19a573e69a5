// One trace from a client through a gateway to the server behind it, all of them as users run them: the client is in this
// process, gateway and servers are the program with --otel, which send their spans to a receiver of OTLP/HTTP.

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { SpanKind } from '@opentelemetry/api';
import { expect, test, vi } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { clientTelemetry } from '../../src/telemetry/index.ts';
import { startHttp, toolNames, writeConfig } from '../gateway/cli/support.ts';
import { useClosers } from '../support/closers.ts';
import { cli, useHome } from '../support/program.ts';
import { useExporters } from './exporters.ts';

const home = useHome();
const closers = useClosers();
const { named, spans: ownSpans } = useExporters();
const sdk = pathToFileURL(join(import.meta.dirname, 'fixtures/export-spans.mjs')).href;
const eras = ['2025-11-25', '2026-07-28'] as const;
const tool = 'test_simple_text';
/** Only what never happens takes this long. */
const patience = { timeout: 60_000, interval: 100 };

interface ExportedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue: string } }[];
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: Pick<ExportedSpan, 'attributes'>;
    readonly scopeSpans: readonly { readonly spans: readonly Omit<ExportedSpan, 'service'>[] }[];
  }[];
}

/** The kinds as OTLP numbers them. */
const kinds = { server: 2, client: 3 } as const;

const attribute = ({ attributes }: Pick<ExportedSpan, 'attributes'>, name: string): string | undefined =>
  attributes.find(({ key }) => key === name)?.value.stringValue;

/** Receives the spans of other processes. */
async function receiveSpans(): Promise<{ readonly endpoint: string; readonly spans: readonly ExportedSpan[] }> {
  const spans: ExportedSpan[] = [];
  const take = async (request: IncomingMessage): Promise<void> => {
    const { resourceSpans } = JSON.parse(await text(request)) as ExportRequest;
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = attribute(resource, 'service.name') as string;
      for (const scope of scopeSpans) spans.push(...scope.spans.map((span) => ({ service, ...span })));
    }
  };
  const receiver = createServer((request, response) => {
    take(request).then(
      () => response.end('{}'),
      () => response.writeHead(400).end(),
    );
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => receiver.once('listening', listening));
  closers.push(() => {
    receiver.closeAllConnections();
    receiver.close();
  });
  return { endpoint: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`, spans };
}

test('one trace goes from a client through a gateway to servers on stdio and HTTP, in both eras', async () => {
  const received = await receiveSpans();
  const sending = (service: string): Record<string, string> => ({
    NODE_OPTIONS: `--import ${sdk}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: received.endpoint,
    OTEL_SERVICE_NAME: service,
  });
  const remote = await home.serve(['everything', '--otel'], { env: sending('remote') });
  const local = (revision: string): object => ({
    command: process.execPath,
    args: [cli, 'serve', 'everything', '--otel'],
    env: sending('local'),
    mooring: { revision },
  });
  const config = writeConfig(home, {
    mcpServers: Object.fromEntries(
      eras.flatMap((revision) => [
        [`stdio-${revision}`, local(revision)],
        [`http-${revision}`, { url: remote.url, mooring: { revision } }],
      ]),
    ),
  });
  const gateway = await startHttp(home, ['--config', config, '--otel'], sending('gateway'));
  for (const revision of eras) {
    const client = await connect(gateway.url, { revision, telemetry: clientTelemetry() });
    closers.push(() => client.close());
    // A server that starts slowly is not in the first list.
    const names = await vi.waitUntil(async () => {
      const found = (await toolNames(client)).filter((name) => name.endsWith(`__${tool}`));
      return found.length === 2 * eras.length && found;
    }, patience);
    for (const name of names) {
      ownSpans.reset();
      await client.callTool(name);
      const asked = named(`tools/call ${name}`, SpanKind.CLIENT).spanContext();
      const ofCall = (): readonly ExportedSpan[] =>
        received.spans.filter((span) => span.traceId === asked.traceId && span.name.startsWith('tools/call'));
      await vi.waitUntil(() => ofCall().length >= 3, patience);
      const spans = ofCall();
      const one = (service: string, kind: number): ExportedSpan | undefined =>
        spans.find((span) => span.service === service && span.kind === kind);
      const slug = name.slice(0, name.indexOf('__'));
      const at = slug.startsWith('stdio') ? 'local' : 'remote';
      const [served, forwarded, last] = [
        one('gateway', kinds.server),
        one('gateway', kinds.client),
        one(at, kinds.server),
      ];
      expect([served?.name, forwarded?.name, last?.name]).toEqual([
        `tools/call ${name}`,
        `tools/call ${tool}`,
        `tools/call ${tool}`,
      ]);
      expect(served?.parentSpanId).toBe(asked.spanId);
      expect(forwarded?.parentSpanId).toBe(served?.spanId);
      expect(last?.parentSpanId).toBe(forwarded?.spanId);
      expect(spans).toHaveLength(3);
      expect(forwarded && attribute(forwarded, 'mooring.upstream')).toBe(slug);
      expect([served, last].map((span) => span && attribute(span, 'mcp.protocol.version'))).toEqual([
        revision,
        slug.slice(slug.indexOf('-') + 1),
      ]);
    }
  }
}, 180_000);
