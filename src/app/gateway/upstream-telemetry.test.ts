import { expect, test } from 'vitest';
import { connect, inMemory } from '../../client/index.ts';
import { createServer } from '../../engine/server.ts';
import type { Settings } from '../settings/settings.ts';
import { upstreamTelemetry } from './upstream-telemetry.ts';

const settingsOf = (metricsPath: string | undefined, enabled = true): Settings =>
  ({ http: { enabled, metricsPath } }) as unknown as Settings;

test('requests and connections to a server are on the metrics page, with the name of the server', async () => {
  const server = createServer({ name: 'notes', version: '1.0.0', logger: false });
  server.tool('add', { run: () => 'sum' });
  const recorded = await upstreamTelemetry(settingsOf('/metrics'));
  const client = await connect(inMemory(server), { revision: '2025-11-25', telemetry: recorded.of('notes') });
  await client.callTool('add');
  await client.callTool('none').catch(() => {});
  await client.close();
  const lines = [...recorded.durations().values()].flat();
  const called = 'mooring_upstream="notes",mcp_method_name="tools/call",gen_ai_tool_name';
  expect(lines).toContain(`mcp_client_operation_duration_seconds_count{${called}="add"} 1`);
  expect(lines).toContain(`mcp_client_operation_duration_seconds_count{${called}="none",error_type="-32602"} 1`);
  const session = 'mooring_upstream="notes",mcp_protocol_version="2025-11-25"';
  expect(lines).toContain(`mcp_client_session_duration_seconds_count{${session}} 1`);
});

test.each([
  ['without a path', settingsOf(undefined)],
  ['on stdio', settingsOf('/metrics', false)],
])('%s there is no metrics page, and nothing is recorded', async (_where, settings) => {
  const recorded = await upstreamTelemetry(settings);
  expect(recorded.of('notes')).toBeUndefined();
  expect(recorded.durations().size).toBe(0);
});
