// The life cycle of one plugin: find, check, load, install, reload, unload. Errors are logged and reported by its
// health; they never reach the server.

import { sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Logger } from '../../common/logger.ts';
import type { Registration, ToolDefinition } from '../../engine/definitions.ts';
import type { Server } from '../../engine/server.ts';
import { compileSchema, formatIssues } from '../../schema/index.ts';
import type { Health } from '../serving/health.ts';
import type { PluginSettings, Settings } from '../settings/settings.ts';
import { capabilityForms, missingGrants, openHost, unknownGrants } from './capabilities.ts';
import type { PluginFactory, PluginManifest, PluginPack, PluginServer } from './contract.ts';
import { findPlugin, modulePath, PluginError, readManifest } from './manifest.ts';
import type { Snapshots } from './snapshots.ts';
import { runAs } from './uncaught-errors.ts';

/** Limits for modules that hang while they load, install or close. */
const maxStepMs = 10_000;
const maxCloseMs = 2_000;

interface LoadedPlugin {
  readonly manifest: PluginManifest;
  readonly pack: PluginPack;
  readonly close: () => Promise<void>;
}

export interface PluginContext {
  readonly settings: Settings;
  readonly logger: Logger;
  /** Where the search for packages starts. */
  readonly from: readonly string[];
  readonly snapshots: Snapshots;
}

export class Plugin {
  readonly #entry: PluginSettings;
  readonly #context: PluginContext;
  readonly #registrations: Registration[] = [];
  #name: string | undefined;
  #loaded: LoadedPlugin | undefined;
  #problem: string | undefined;
  #folder: string | undefined;
  #uncaughtErrors = 0;
  /** The folders its code was loaded from so far. */
  readonly #modules: string[] = [];

  constructor(entry: PluginSettings, context: PluginContext) {
    this.#entry = entry;
    this.#context = context;
  }

  /** The name in the manifest, or the source until the manifest was read. */
  get name(): string {
    return this.#name ?? this.#entry.source;
  }
  get version(): string | undefined {
    return this.#loaded?.manifest.version;
  }
  get folder(): string | undefined {
    return this.#folder;
  }

  /** Loads and installs. Never rejects; `health` reports the result. */
  async start(server: Server): Promise<void> {
    try {
      const loaded = await this.#load(false);
      await this.#install(loaded, server);
      this.#context.logger.info('plugin loaded', { plugin: this.name, version: this.version });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Loads the changed code and replaces the running version, which keeps running if that fails. */
  async reload(server: Server): Promise<void> {
    let fresh: LoadedPlugin;
    try {
      fresh = await this.#load(true);
    } catch (error) {
      this.#fail(error);
      return;
    }
    await this.#unload();
    try {
      this.#problem = undefined;
      this.#uncaughtErrors = 0;
      await this.#install(fresh, server);
      this.#context.logger.info('plugin reloaded', { plugin: this.name, version: this.version });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Removes its registrations and closes it. Never rejects. */
  async stop(): Promise<void> {
    await this.#unload();
  }

  owns(stack: string): boolean {
    return this.#modules.some((path) => stack.includes(path));
  }

  /** An uncaught error of the plugin, outside of its handlers. */
  onUncaughtError(error: unknown): void {
    this.#uncaughtErrors++;
    this.#context.logger.error('uncaught error in a plugin', { plugin: this.name, error });
  }

  async health(): Promise<Health> {
    const running = this.#loaded === undefined ? undefined : `version ${this.#loaded.manifest.version} is running`;
    if (this.#problem !== undefined) {
      return running === undefined
        ? { status: 'failed', detail: this.#problem }
        : { status: 'degraded', detail: `${running}; the changed version cannot be loaded: ${this.#problem}` };
    }
    if (this.#loaded === undefined) return { status: 'failed', detail: 'not loaded' };
    if (this.#uncaughtErrors > 0) {
      return { status: 'degraded', detail: `${running}; uncaught errors so far: ${this.#uncaughtErrors}` };
    }
    const { pack } = this.#loaded;
    const own = await runAs(this, async () => pack.health?.());
    return own ?? { status: 'ok', detail: `${running}` };
  }

  async #load(isReload: boolean): Promise<LoadedPlugin> {
    const { source, grant = [], config } = this.#entry;
    const { settings, logger, from, snapshots } = this.#context;
    const folder = (this.#folder = findPlugin(source, from));
    const manifest = await readManifest(folder);
    this.#name = manifest.name;
    for (const [key, capabilities] of Object.entries({ needs: manifest.needs, grant })) {
      const odd = unknownGrants(capabilities);
      if (odd.length === 0) continue;
      throw new PluginError(`unknown capability in "${key}": ${odd.join(', ')}; use ${capabilityForms}`);
    }
    const missing = missingGrants(manifest.needs, grant);
    if (missing.length > 0) {
      const grants = missing.map((each) => JSON.stringify(each)).join(', ');
      throw new PluginError(`it needs ${missing.join(', ')}; to allow that, add "grant": [${grants}] to its entry`);
    }
    const checked = await checkConfig(manifest, config);
    // Node loads a module once per path, so a changed version is loaded from a copy.
    const home = isReload ? snapshots.take(folder) : folder;
    const path = modulePath(home, manifest);
    this.#modules.push(pathToFileURL(home + sep).href, home + sep);
    const factory = await this.#step('loading', async () => factoryOf(await this.#import(path, manifest)));
    const { host, close } = await openHost(
      manifest.name,
      grant,
      checked,
      settings,
      logger.child({ plugin: manifest.name }),
    );
    try {
      const pack = await this.#step('starting', async () => factory(host));
      if (typeof pack?.install !== 'function') throw new PluginError('its pack has no "install" function');
      return { manifest, pack, close };
    } catch (error) {
      await close();
      throw error;
    }
  }

  /** The stack of code that cannot be parsed names no file. */
  async #import(path: string, { main }: PluginManifest): Promise<Readonly<Record<string, unknown>>> {
    try {
      return await import(pathToFileURL(path).href);
    } catch (error) {
      const missing = missingPackage(error);
      if (missing !== undefined) {
        throw new PluginError(
          `it imports the package ${missing}, which is not installed. In ${this.#folder}, run: npm install ${missing}`,
        );
      }
      if (!(error instanceof SyntaxError) || this.owns(error.stack ?? '')) throw error;
      throw new PluginError(
        `syntax error in ${main} or a file that it imports: ${error.message}. In the folder of the plugin, "node ${main}" shows the line`,
      );
    }
  }

  async #install(loaded: LoadedPlugin, server: Server): Promise<void> {
    this.#loaded = loaded;
    try {
      await this.#step('installing', async () => loaded.pack.install(this.#serverFor(server, loaded)));
    } catch (error) {
      await this.#unload();
      throw error;
    }
  }

  async #unload(): Promise<void> {
    const loaded = this.#loaded;
    this.#loaded = undefined;
    for (const registration of this.#registrations.splice(0).reverse()) registration.remove();
    if (loaded === undefined) return;
    const { logger } = this.#context;
    const warn = (error: unknown): void =>
      logger.warn('a plugin failed to close', { plugin: loaded.manifest.name, error });
    await within(maxCloseMs, 'closing', () => runAs(this, async () => loaded.pack.close?.())).catch(warn);
    await loaded.close().catch(warn);
  }

  #step<T>(what: string, work: () => Promise<T>): Promise<T> {
    return within(maxStepMs, what, () => runAs(this, work));
  }

  #fail(error: unknown): void {
    this.#problem = error instanceof Error ? error.message : String(error);
    const { logger } = this.#context;
    if (error instanceof PluginError) logger.error(`plugin not loaded: ${this.#problem}`, { plugin: this.name });
    else logger.error('plugin not loaded', { plugin: this.name, error });
  }

  /** The server as the plugin sees it: registrations are recorded, and only methods for plugins are present. */
  #serverFor(server: Server, loaded: LoadedPlugin): PluginServer {
    const keep = (register: () => Registration): Registration => {
      // Nothing would remove what is registered later, for example by a timer or by an "install" that took too long.
      if (this.#loaded !== loaded) throw new PluginError(`the plugin ${loaded.manifest.name} was unloaded`);
      const registration = register();
      this.#registrations.push(registration);
      return registration;
    };
    return {
      name: server.name,
      version: server.version,
      // The definition is passed on unchanged, with or without an output schema.
      tool: (name: string, definition: object) => {
        const { run } = definition as ToolDefinition;
        return keep(() => server.tool(name, { ...(definition as PlainTool), run: this.#own(run) }));
      },
      resource: (uri, definition) =>
        keep(() => server.resource(uri, { ...definition, read: this.#own(definition.read) })),
      resourceTemplate: (template, definition) =>
        keep(() => server.resourceTemplate(template, { ...definition, read: this.#own(definition.read) })),
      prompt: (name, definition) => keep(() => server.prompt(name, { ...definition, get: this.#own(definition.get) })),
      resourceUpdated: (uri, audience, source) => server.resourceUpdated(uri, audience, source),
      toolsChanged: (source) => server.toolsChanged(source),
      promptsChanged: (source) => server.promptsChanged(source),
      resourcesChanged: (source) => server.resourcesChanged(source),
    };
  }

  /** A handler whose uncaught errors are attributed to the plugin. */
  #own<Args extends unknown[], Result>(handler: (...args: Args) => Result): (...args: Args) => Result {
    return typeof handler === 'function' ? (...args) => runAs(this, () => handler(...args)) : handler;
  }
}

type PlainTool = ToolDefinition & { readonly output?: undefined };

async function checkConfig({ name, config: schema }: PluginManifest, config: unknown): Promise<unknown> {
  if (schema === undefined) return config;
  const { validator } = compileSchema(schema, { direction: 'input', root: 'any', where: `plugin ${name}, config` });
  const result = await validator.validate(config ?? {});
  if (!result.ok) throw new PluginError(`its "config" is invalid: ${formatIssues(result.issues)}`);
  return result.value;
}

function factoryOf(module: Readonly<Record<string, unknown>>): PluginFactory {
  const found = module['pack'] ?? module['default'];
  if (typeof found !== 'function') {
    throw new PluginError(
      'its module does not export a function "pack"; write: export const pack = (host) => ({ name, install })',
    );
  }
  return found as PluginFactory;
}

/** The package that an import did not find; undefined for other errors, and for a missing file. */
function missingPackage(error: unknown): string | undefined {
  if (!(error instanceof Error) || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  return /^Cannot find package '([^']+)'/.exec(error.message)?.[1];
}

async function within<T>(ms: number, what: string, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new PluginError(`${what} took longer than ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
