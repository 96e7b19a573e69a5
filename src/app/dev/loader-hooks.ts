// Module hooks of a server that `mooring dev` runs: reports each file that is loaded, so that changes of it restart the
// server, compiles TypeScript on versions of Node that cannot, and ends the process when `mooring dev` has ended. Runs in
// the thread that Node starts for hooks, so that it works while the server computes.

import { readFileSync } from 'node:fs';
import type { InitializeHook, LoadHook, ResolveHook } from 'node:module';
import { Socket } from 'node:net';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * The pipe to `mooring dev`; each line is the path of a file. Written at once as long as the pipe has space, so that a crash
 * loses nothing.
 */
const reports = new Socket({ fd: 3 });

/** How long a server may take to end by itself after `mooring dev` was killed. */
const orphanMs = 1_000;

reports.on('error', () => {}); // It closes then.
reports.once('close', () => setTimeout(() => process.kill(process.pid, 'SIGKILL'), orphanMs).unref());
reports.resume().unref();

const report = (path: string): boolean => reports.write(`${path}\n`);

export interface HookData {
  /** The file of esbuild; undefined where Node runs TypeScript itself, or there is none to run. */
  readonly esbuild: string | undefined;
}

interface Esbuild {
  transform(source: string, options: object): Promise<{ readonly code: string }>;
}

let esbuild: Esbuild | undefined;

export const initialize: InitializeHook<HookData> = async (data) => {
  if (data.esbuild === undefined) return;
  const loaded = await import(pathToFileURL(data.esbuild).href);
  esbuild = loaded.default ?? loaded;
};

/** TypeScript projects import `./tools.js` where the file is `tools.ts`. */
export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  try {
    return await nextResolve(specifier, context);
  } catch (error) {
    const source = specifier.replace(/\.([cm]?)js$/, '.$1ts');
    if (source === specifier || !/\.[cm]?ts$/.test(context.parentURL ?? '')) throw reported(error);
    return Promise.resolve(nextResolve(source, context)).catch((second) => {
      throw reported(second);
    });
  }
};

/** Reports a file that is imported and does not exist: when it is created, the server is started again. */
function reported(error: unknown): unknown {
  const { url } = error as { url?: unknown };
  if (typeof url === 'string' && url.startsWith('file:')) report(fileURLToPath(url));
  return error;
}

export const load: LoadHook = async (url, context, nextLoad) => {
  if (!url.startsWith('file:') || url.includes('/node_modules/')) return nextLoad(url, context);
  const path = fileURLToPath(url);
  report(path);
  if (esbuild === undefined || !/\.m?ts$/.test(path)) return nextLoad(url, context);
  const { code } = await esbuild.transform(readFileSync(path, 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    sourcefile: path,
  });
  return { format: 'module', source: code, shortCircuit: true };
};
