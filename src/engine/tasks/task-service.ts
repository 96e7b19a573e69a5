// The tasks of a server before they are loaded. It exists from the first tool that runs as a task on; the code of tasks is
// loaded when one is called, or when transports prepare the server.

import { methods } from '../../protocol/methods.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { ListVariant } from '../catalog/lists.ts';
import type { Call, Feature, ServerTasks } from '../contract.ts';
import { type FeatureInfo, lazyFeature } from '../lazy-feature.ts';
import { addFacadeTools, type FacadeLists, facadeLists } from './clients/facade-tools.ts';
import type { TasksOptions } from './task-options.ts';
import type { Tasks, TasksServer } from './tasks.ts';

const text: Feature['encode'] = (result) => result as string;
const immediate: FeatureInfo = { duration: 'immediate', encode: text };
const longLived: FeatureInfo = { duration: 'long-lived', encode: text };

/** The methods of tasks. */
const rows: readonly (readonly [string, FeatureInfo])[] = [
  [methods.getTask.name, immediate],
  [methods.updateTask.name, immediate],
  [methods.cancelTask.name, immediate],
  [methods.taskResult.name, longLived],
  [methods.listTasks.name, immediate],
];

type FacadeServer = TasksServer & { readonly catalog: Pick<Catalog, 'addTool'> };

export class TaskService implements ServerTasks {
  readonly #server: FacadeServer;
  readonly #options: TasksOptions;
  #loading: Promise<Tasks> | undefined;
  loaded: Tasks | undefined;
  #lists: FacadeLists | undefined;

  constructor(server: FacadeServer & { readonly features: Map<string, Feature> }, options: TasksOptions) {
    this.#server = server;
    this.#options = options;
    for (const [method, info] of rows) {
      server.features.set(
        method,
        lazyFeature(server.features, info, async () => {
          const [{ taskFeatures }, tasks] = await Promise.all([import('../features/tasks.ts'), this.load()]);
          return taskFeatures(tasks)[method] as Feature;
        }),
      );
    }
  }

  /** Adds the tools for clients without tasks, once. */
  addFacade(): void {
    if (this.#lists !== undefined) return;
    this.#lists = facadeLists(this.#options);
    addFacadeTools(this.#server.catalog, this.#options);
  }

  listVariant(call: Call): ListVariant<'tools'> | undefined {
    return this.#lists?.variantFor(call);
  }

  load(): Promise<Tasks> {
    this.#loading ??= import('./tasks.ts').then((module) => {
      this.loaded = new module.Tasks(this.#server, this.#options);
      return this.loaded;
    });
    return this.#loading;
  }

  async close(): Promise<void> {
    await (await this.#loading)?.close();
  }
}
