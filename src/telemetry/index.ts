// OpenTelemetry for servers and clients. Needs the package @opentelemetry/api and an SDK that the program registers.

export type { ClientTelemetry } from '../client/index.ts';
export { clientTelemetry } from './client.ts';
export type { TelemetryOptions } from './request-attributes.ts';
export { telemetry } from './server.ts';
