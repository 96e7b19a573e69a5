// The entry point of "mooring/console".

export type {
  About,
  AuditPage,
  ConsoleState,
  FeedEntry,
  PeerInfo,
  UpstreamRow,
} from './api.ts';
export {
  type Console,
  type ConsoleAccessOptions,
  type ConsoleOptions,
  createConsole,
} from './console.ts';
export type { ConsoleExchange, ConsoleGateway, ConsoleSink } from './contract.ts';
export type { ListeningConsole, ListenOptions } from './http/listen.ts';
export type { ConsoleEvent } from './http/routes.ts';
