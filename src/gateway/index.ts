// The entry point of "mooring/gateway".

export { createCatalogCache } from './catalog-cache.ts';
export { type ConfigIssue, GatewayConfigError, type GatewayInput, gatewayConfig } from './config/decode-gateway.ts';
export type { DecodeOptions } from './config/decode-upstream.ts';
export type * from './config/gateway-config.ts';
export type {
  CachedLists,
  CatalogCache,
  PinChange,
  PinChecker,
  PinReport,
  PreparedLists,
  UpstreamFacts,
  UpstreamLists,
} from './contract.ts';
export { createGateway, type Gateway } from './gateway.ts';
export type { GatewayOptions, ServedAs } from './options.ts';
export { type PinOptions, Pins } from './pins/index.ts';
export type { HeldCallLimits } from './relays/held-calls.ts';
export type { ListSettings } from './upstreams/checked-lists.ts';
export type { ConnectSettings } from './upstreams/connect-options.ts';
export type { UpstreamStateName, UpstreamStatus } from './upstreams/contract.ts';
export { CallersSignIn } from './upstreams/start-error.ts';
