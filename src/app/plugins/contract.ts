// The interfaces between Mooring and plugins. A plugin runs in the server's process: grants document consent and
// provide services, but they do not isolate the plugin.

import type { Logger } from '../../common/logger.ts';
import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { JsonSchema } from '../../schema/index.ts';
import type { FileTree } from '../../security/files/tree.ts';
import type { Sandbox } from '../../security/sandbox/index.ts';
import type { Health } from '../serving/health.ts';

/** The manifest of a plugin: `mooring-plugin.json`, or `mooring` in its package.json. */
export interface PluginManifest {
  /** Identifies the plugin. */
  readonly name: string;
  /** Its version. */
  readonly version: string;
  /** What it does, for people. */
  readonly description?: string;
  /** The module, relative to the folder. Default `index.js`. */
  readonly main: string;
  /** Capabilities that it requires. */
  readonly needs: readonly string[];
  /** JSON Schema of its options; without one, any options are accepted. */
  readonly config?: JsonSchema;
}

/** The server as a plugin sees it. Registrations are removed when the plugin is unloaded. */
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

/** What a plugin receives. The service of a capability is present only if the capability was granted. */
export interface PluginHost<Config = unknown> {
  /** Its options, validated against the schema in the manifest. */
  readonly config: Config;
  /** Its messages name the plugin. */
  readonly logger: Logger;
  /** Aborted when the plugin is unloaded. Pass it to background work. */
  readonly signal: AbortSignal;
  /** With `network` or `network:HOST`: requests to public addresses, or only to these hosts. */
  readonly fetch?: (input: string | URL, init?: RequestInit) => Promise<Response>;
  /** With `files`: the files in the configured roots. */
  readonly files?: FileTree;
  /** With `data`: a folder of its own that survives restarts. */
  readonly dataDir?: string;
  /** With `command:NAME`: these programs, inside the sandbox. */
  readonly commands?: Sandbox;
  /** With `env:NAME`: these environment variables, if they are set. */
  readonly env: Readonly<Record<string, string>>;
}

/** A pack that can also report its health. */
export interface PluginPack extends Pack<PluginServer> {
  /** Called when the health of the server is requested, as by `health_check`. */
  health?(): Health | Promise<Health>;
}

/** The export `pack` of the module, or its default export. */
export type PluginFactory<Config = unknown> = (host: PluginHost<Config>) => PluginPack | Promise<PluginPack>;
