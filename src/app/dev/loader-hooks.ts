// Module hooks of a server that `mooring dev` runs: reports each file that is loaded, so that changes of it restart the
// server, and compiles TypeScript on versions of Node that cannot. Runs in the thread that Node starts for hooks.

import { readFileSync, writeSync } from 'node:fs';
import type { InitializeHook, LoadHook, ResolveHook } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The pipe to `mooring dev`; each line is the path of a file. Written synchronously, so that a crash loses nothing. */
const reportFd = 3;

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
    if (source === specifier || !/\.[cm]?ts$/.test(context.parentURL ?? '')) throw error;
    return nextResolve(source, context);
  }
};

export const load: LoadHook = async (url, context, nextLoad) => {
  if (!url.startsWith('file:') || url.includes('/node_modules/')) return nextLoad(url, context);
  const path = fileURLToPath(url);
  writeSync(reportFd, `${path}\n`);
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
