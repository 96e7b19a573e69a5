// The pack `system`: access to this machine. Sandboxed commands, files, a prompt, and a tool that uses the client's
// model. Each part can be left out; the log says why a part is absent.

import { assertKnownOptions } from '../../common/known-options.ts';
import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { OwnFiles } from '../../security/files/tree.ts';
import { Workspace } from '../workspace/workspace.ts';
import { installAnalysis } from './analysis.ts';
import type { CommandOptions } from './commands.ts';
import { type FileOptions, installFiles, type NamedFile } from './files.ts';

export type { CommandOptions } from './commands.ts';
export type { FileOptions, NamedFile } from './files.ts';
export { type CommandRule, defaultPrograms } from './programs.ts';

export interface SystemOptions {
  /** Folders or single files: their content becomes `file://` resources, and sandboxed commands can read the folders. */
  readonly roots?: readonly string[];
  /** The server's own files: hidden in all folders, from resources and from commands. */
  readonly own?: OwnFiles | undefined;
  /** `bound` (default): file access stays inside the client's roots, if it has any. `ignore`: only `roots` decides. */
  readonly clientRoots?: 'bound' | 'ignore';
  /** Files with their own names and descriptions. */
  readonly files?: readonly NamedFile[];
  readonly watch?: FileOptions['watch'];
  readonly maxWatchedFolders?: number;
  /** False: no `execute_command`. */
  readonly commands?: CommandOptions | false;
  /** False: no prompt `analyze_system`. */
  readonly analysis?: boolean;
  /** False: no tool `ask_model`. */
  readonly askModel?: boolean;
}

const texts = { type: 'array', items: { type: 'string', minLength: 1 } } as const;

/** The options of this pack in a configuration file. */
export const systemSchema = {
  type: 'object',
  properties: {
    clientRoots: { type: 'string', enum: ['bound', 'ignore'] },
    files: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          path: { type: 'string', minLength: 1 },
          name: { type: 'string', minLength: 1 },
          description: { type: 'string' },
          mimeType: { type: 'string' },
        },
        required: ['path', 'name'],
        additionalProperties: false,
      },
    },
    watch: { type: 'boolean' },
    maxWatchedFolders: { type: 'integer', minimum: 1 },
    commands: {
      type: 'object',
      properties: {
        programs: texts,
        level: { type: 'string', enum: ['kernel', 'limits', 'none'] },
        limits: { type: 'object', additionalProperties: { type: 'number', exclusiveMinimum: 0 } },
        runAs: {
          type: 'object',
          properties: { uid: { type: 'integer', minimum: 1 }, gid: { type: 'integer', minimum: 1 } },
          required: ['uid', 'gid'],
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
    askModel: { type: 'boolean' },
  },
  additionalProperties: false,
} as const;

const known: Record<keyof SystemOptions, true> = {
  roots: true,
  own: true,
  clientRoots: true,
  files: true,
  watch: true,
  maxWatchedFolders: true,
  commands: true,
  analysis: true,
  askModel: true,
};

/** Adds the parts to a server. Await `server.use(system(…))`: it checks the sandbox before it resolves. */
export function system(options: SystemOptions = {}): Pack<Server> {
  assertKnownOptions('system', options, known);
  const undo: (() => void | Promise<void>)[] = [];
  return {
    name: 'system',
    async install(server) {
      const { roots = [], clientRoots = 'bound', files, watch, maxWatchedFolders, commands } = options;
      const { own } = options;
      const workspace = new Workspace({ roots, clientRoots, own });
      const keep = (close: (() => void | Promise<void>) | undefined): void => {
        if (close !== undefined) undo.push(close);
      };
      // Loaded only if enabled: a server that only has files starts without the sandbox.
      if (commands !== false)
        keep(await (await import('./commands.ts')).installCommands(server, workspace, { ...commands, own }));
      keep(
        await installFiles(server, workspace, {
          own,
          ...(files === undefined ? {} : { named: files }),
          ...(watch === undefined ? {} : { watch }),
          ...(maxWatchedFolders === undefined ? {} : { maxWatchedFolders }),
        }),
      );
      if (options.analysis !== false) installAnalysis(server);
      if (options.askModel !== false) (await import('./ask-model.ts')).installAskModel(server, workspace);
    },
    async close() {
      for (const close of undo.splice(0).reverse()) await close();
    },
  };
}
