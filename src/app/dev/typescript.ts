// How a TypeScript file is run: by Node itself, or with the esbuild of the project.

import { createRequire } from 'node:module';
import { UsageError } from '../usage-error.ts';

/** The file of esbuild if this version of Node needs it for a server file, otherwise undefined. */
export function findEsbuild(file: string): string | undefined {
  // Node 22.18 and later remove types; `@types/node` for Node 20 does not have the property.
  if ((process.features as { readonly typescript?: unknown }).typescript) return undefined;
  const require = createRequire(file);
  // tsx depends on esbuild; package managers with strict folders show it only to tsx.
  const found = resolveFrom(require, 'esbuild') ?? resolveFrom(requireOf(resolveFrom(require, 'tsx')), 'esbuild');
  if (found === undefined && /\.[cm]?ts$/.test(file)) {
    throw new UsageError(
      `Node ${process.versions.node} does not run TypeScript. Use Node 22.18 or later, or run: npm install --save-dev esbuild`,
    );
  }
  return found;
}

function requireOf(file: string | undefined): NodeJS.Require | undefined {
  return file === undefined ? undefined : createRequire(file);
}

function resolveFrom(require: NodeJS.Require | undefined, name: string): string | undefined {
  try {
    return require?.resolve(name);
  } catch {
    return undefined; // Not installed.
  }
}
