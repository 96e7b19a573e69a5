// Names of the OpenTelemetry conventions for MCP (status: development), in one place since they may still change, and how
// our transports are named there.

import type { TransportKind } from '../protocol/exchange.ts';

export const names = {
  method: 'mcp.method.name',
  revision: 'mcp.protocol.version',
  session: 'mcp.session.id',
  resource: 'mcp.resource.uri',
  tool: 'gen_ai.tool.name',
  prompt: 'gen_ai.prompt.name',
  operation: 'gen_ai.operation.name',
  arguments: 'gen_ai.tool.call.arguments',
  result: 'gen_ai.tool.call.result',
  requestId: 'jsonrpc.request.id',
  statusCode: 'rpc.response.status_code',
  errorType: 'error.type',
  transport: 'network.transport',
  protocol: 'network.protocol.name',
  protocolVersion: 'network.protocol.version',
  clientAddress: 'client.address',
  clientPort: 'client.port',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  /** Ours: the task that a span is about. */
  task: 'mooring.task.id',
  /** Ours: how often the handler of a task was started. */
  attempt: 'mooring.task.attempt',
  /** Ours: `cancelled`, `input-required`, where a request ended in a way that the conventions have no name for. */
  outcome: 'mooring.outcome',
} as const;

export const metrics = {
  serverOperation: 'mcp.server.operation.duration',
  clientOperation: 'mcp.client.operation.duration',
  serverSession: 'mcp.server.session.duration',
  clientSession: 'mcp.client.session.duration',
} as const;

/** The boundaries of the histograms, in seconds. */
export const boundaries = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] as const;

/** The value of `error.type` for a tool result that reports an error. */
export const toolError = 'tool_error';

/** The attributes of a transport. */
export const transports: Readonly<Record<TransportKind, { readonly [name: string]: string }>> = {
  stdio: { [names.transport]: 'pipe' },
  http: { [names.transport]: 'tcp', [names.protocol]: 'http' },
  sse: { [names.transport]: 'tcp', [names.protocol]: 'http' },
  websocket: { [names.transport]: 'tcp', [names.protocol]: 'websocket' },
  memory: {},
};
