// Loads a policy from its file. It constrains tools and other users, so neither may be able to write the file.

import { realpathSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { decodeText } from '../../common/decode-text.ts';
import { errnoText } from '../../common/errno-text.ts';
import { hasModes } from '../../common/file-modes.ts';
import { assertKnownOptions } from '../../common/known-options.ts';
import { parseYaml } from '../../common/parse-yaml.ts';
import { isInside } from '../files/is-inside.ts';
import { type CompiledPolicy, compilePolicy } from './compile.ts';
import { PolicyError } from './contract.ts';

/** A policy is written by hand; a longer file is not a policy. */
const maxBytes = 1024 * 1024;

/** How a policy is loaded. */
export interface LoadOptions {
  /** The profile that it is compiled for. Default: none; rules with `profiles` do not apply then. */
  readonly profile?: string;
  /** Other files that no tool may write: logs, token files, configuration. */
  readonly guarded?: readonly string[];
}

const known: Record<keyof LoadOptions, true> = { profile: true, guarded: true };

/** Loads and compiles a policy in YAML or JSON. Throws a `PolicyError` that says what to fix. */
export async function loadPolicy(path: string, options: LoadOptions = {}): Promise<CompiledPolicy> {
  assertKnownOptions('loadPolicy', options, known);
  const source = await readSource(path);
  const policy = compilePolicy(source, options.profile === undefined ? {} : { profile: options.profile });
  const writable = [...(policy.files?.write ?? []), ...(policy.sandbox?.writable ?? [])];
  for (const guarded of [path, ...(options.guarded ?? [])]) {
    const within = writable.find((directory) => isInside(realPath(guarded), realPath(directory)));
    if (within !== undefined) {
      throw new PolicyError(
        `${guarded} is in ${within}, where tools may write: move it to a folder that tools cannot write to`,
      );
    }
  }
  return policy;
}

async function readSource(path: string): Promise<unknown> {
  try {
    const found = statSync(path);
    const { mode, size } = found;
    // A pipe would be waited for without end.
    if (!found.isFile() && !found.isDirectory()) throw new PolicyError(`${path} is not a regular file`);
    if (hasModes && (mode & 0o022) !== 0)
      throw new PolicyError(`${path} can be written by other users; run: chmod go-w ${path}`);
    if (size > maxBytes) throw new PolicyError(`${path} is larger than ${maxBytes} bytes`);
    const text = decodeText(await readFile(path));
    return path.endsWith('.json') ? JSON.parse(text) : await parseYaml(text);
  } catch (error) {
    if (error instanceof PolicyError) throw error;
    const reason = errnoText(error, 'file');
    if (reason !== undefined) throw new PolicyError(`${path} cannot be read: ${reason}`, error);
    throw new PolicyError(`${path} cannot be parsed: ${(error as Error).message.trimEnd()}`, error);
  }
}

/** The real path; for what does not exist yet, the path it would have. */
function realPath(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch {
    const parent = dirname(absolute);
    return parent === absolute ? absolute : resolve(realPath(parent), relative(parent, absolute));
  }
}
