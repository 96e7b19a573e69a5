// The entry point "mooring".

export type {
  PluginFactory,
  PluginHost,
  PluginManifest,
  PluginPack,
  PluginServer,
} from './app/plugins/contract.ts';
export { createLogger } from './logging/logger.ts';
export {
  type EmbeddedRequest,
  type HttpOptions,
  type HttpServer,
  type NodeHandler,
  serveHttp,
  type TlsOptions,
  toNodeHandler,
} from './transports/http.ts';
export { type StdioOptions, type StdioServer, serveStdio } from './transports/stdio.ts';
export * from './web.ts';
