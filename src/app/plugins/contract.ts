// What a plugin is given and what it gives: the contract between Mooring and the modules that others write. A plugin
// runs in our process: what it is granted is consent and convenience, not a wall.

import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { Logger } from '../../protocol/log.ts';
import type { JsonSchema } from '../../schema/index.ts';
import type { FileTree } from '../../security/files/tree.ts';
import type { Sandbox } from '../../security/sandbox/index.ts';
import type { Health } from '../health.ts';

/** What a plugin says about itself, in `mooring-plugin.json` or under `mooring` in its package.json. */
export interface PluginManifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  /** The module, relative to the folder. Default `index.js`. */
  readonly main: string;
  /** Capabilities without which it can not work. */
  readonly needs: readonly string[];
  /** JSON Schema of its configuration; without one any configuration is accepted. */
  readonly config?: JsonSchema;
}

/** What a plugin may register on; taken back when it is disposed of. */
export type PluginServer = Pick<
  Server,
  | 'tool'
  | 'resource'
  | 'resourceTemplate'
  | 'prompt'
  | 'resourceUpdated'
  | 'toolsChanged'
  | 'promptsChanged'
  | 'resourcesChanged'
  | 'name'
  | 'version'
>;

/** What a plugin gets. What stands behind a capability is there only when that was granted. */
export interface PluginHost<Config = unknown> {
  /** As configured, checked against the manifest's schema. */
  readonly config: Config;
  readonly logger: Logger;
  /** Aborted when the plugin is disposed of: pass it on to whatever runs in the background. */
  readonly signal: AbortSignal;
  /** With `network` or `network:HOST`: requests to public addresses, or to these hosts alone. */
  readonly fetch?: (input: string | URL, init?: RequestInit) => Promise<Response>;
  /** With `files`: the files below the configured roots. */
  readonly files?: FileTree;
  /** With `data`: a folder of its own that survives restarts. */
  readonly dataDir?: string;
  /** With `command:NAME`: these programs, inside the sandbox. */
  readonly commands?: Sandbox;
  /** With `env:NAME`: these variables, as far as they are set. */
  readonly env: Readonly<Record<string, string>>;
}

/** A pack that may also say how it is doing. */
export interface PluginPack extends Pack<PluginServer> {
  health?(): Health | Promise<Health>;
}

/** What the module exports as `pack`, or as its default. */
export type PluginFactory<Config = unknown> = (host: PluginHost<Config>) => PluginPack | Promise<PluginPack>;
