// Finds a plugin's folder and reads its manifest.

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { compileSchema, formatIssues } from '../../schema/index.ts';
import { ownershipProblem } from '../config/ownership.ts';
import { dataOf, JsoncError, parseJsonc, positionOf } from '../text/jsonc.ts';
import type { PluginManifest } from './contract.ts';

/** Why a plugin cannot be loaded, for the log and for health_check. */
export class PluginError extends Error {}

const manifestSchema = {
  type: 'object',
  properties: {
    $schema: { type: 'string' },
    name: { type: 'string', pattern: '^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$', maxLength: 128 },
    version: { type: 'string', minLength: 1, maxLength: 64 },
    description: { type: 'string' },
    main: { type: 'string', minLength: 1 },
    needs: { type: 'array', items: { type: 'string' } },
    config: { type: 'object' },
  },
  required: ['name', 'version'],
  additionalProperties: false,
} as const;

/** The folder of a source: the folder itself, or a package in a node_modules folder of `from` or its parents. */
export function findPlugin(source: string, from: readonly string[]): string {
  if (isAbsolute(source)) {
    if (statSync(source, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new PluginError(`the folder ${source} does not exist`);
    }
    return realpathSync(source);
  }
  for (const start of from) {
    for (let folder = start; ; folder = dirname(folder)) {
      const found = join(folder, 'node_modules', source);
      if (existsSync(join(found, 'package.json'))) return realpathSync(found);
      if (dirname(folder) === folder) break;
    }
  }
  // The last place is the server itself, where packages are installed with it.
  const [home = process.cwd()] = from;
  if (statSync(join(home, source), { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new PluginError(
      `there is no package ${source}. For the folder ${join(home, source)}, write "source": "./${source}"`,
    );
  }
  throw new PluginError(
    `the package ${source} is not installed in ${home} or a folder above it. In ${home}, run: npm install ${source}`,
  );
}

/** Reads and validates the manifest of a folder. Throws a `PluginError` that says what to correct. */
export async function readManifest(folder: string): Promise<PluginManifest> {
  const problem = ownershipProblem(folder);
  if (problem !== undefined) throw new PluginError(`${folder}: ${problem}`);
  const { file, value } = manifestIn(folder);
  const { validator } = compileSchema(manifestSchema, { direction: 'input', where: file });
  const checked = await validator.validate(value);
  if (!checked.ok) throw new PluginError(`${file}: ${formatIssues(checked.issues)}`);
  const manifest = value as Partial<PluginManifest> & Pick<PluginManifest, 'name' | 'version'>;
  return { ...manifest, main: manifest.main ?? 'index.js', needs: manifest.needs ?? [] };
}

/** The module of a plugin; never outside its folder. */
export function modulePath(folder: string, { main }: PluginManifest): string {
  const path = join(folder, main);
  if (!existsSync(path)) throw new PluginError(`${path} is missing; "main" in the manifest names the module`);
  const real = realpathSync(path);
  if (!real.startsWith(folder + sep)) throw new PluginError(`"main" points outside of ${folder}`);
  return real;
}

function manifestIn(folder: string): { readonly file: string; readonly value: unknown } {
  const own = join(folder, 'mooring-plugin.json');
  if (existsSync(own)) return { file: own, value: parse(own) };
  const file = join(folder, 'package.json');
  if (existsSync(file)) {
    const { name, version, description, main, mooring } = parse(file) as Record<string, unknown>;
    if (typeof mooring === 'object' && mooring !== null) {
      const known = { name, version, description, main };
      const given = Object.entries(known).filter(([, value]) => value !== undefined);
      return { file, value: { ...Object.fromEntries(given), ...mooring } };
    }
  }
  throw new PluginError(`${folder} has no manifest; add mooring-plugin.json, or "mooring" in package.json`);
}

function parse(file: string): unknown {
  const text = readFileSync(file, 'utf8');
  try {
    return dataOf(parseJsonc(text));
  } catch (error) {
    if (!(error instanceof JsoncError)) throw error;
    const { line, column } = positionOf(text, error.offset);
    throw new PluginError(`${file}:${line}:${column}: ${error.message}`);
  }
}
