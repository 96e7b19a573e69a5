// The environment of a sandboxed program: starts empty, and variables are added by name. Nothing is inherited, because
// our own environment contains tokens.

import { sandboxErrors } from './errors.ts';

/** What every program gets; the policy may add to it and replace it. */
export const baseEnvironment: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/tmp',
  TMPDIR: '/tmp',
  USER: 'sandbox',
  LOGNAME: 'sandbox',
  LANG: 'C.UTF-8',
};

const wellFormedName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Names that decide which code runs, so that `ls` with one of them is no longer `ls`. A request may not set them, even if
 * a policy allows the name; the policy itself may, in `set`.
 */
const loaderNames =
  /^(LD_|DYLD_|GLIBC_TUNABLES$|GCONV_PATH$|BASH_|ENV$|IFS$|PS4$|SHELLOPTS$|PROMPT_COMMAND$|PATH$|PERL|PYTHON|RUBY|NODE_|JAVA_TOOL_OPTIONS$|_JAVA_OPTIONS$|GIT_|PAGER$|EDITOR$|VISUAL$|BROWSER$)/;

/** The names and values for one run: base, then policy, then what the request may add. */
export function buildEnvironment(
  policy: { readonly set?: Readonly<Record<string, string>>; readonly allow?: readonly string[] } = {},
  requested: Readonly<Record<string, string>> = {},
): Map<string, string> {
  const environment = new Map(Object.entries(baseEnvironment));
  for (const [name, value] of Object.entries(policy.set ?? {})) environment.set(name, checked(name, value));
  for (const [name, value] of Object.entries(requested)) {
    if (!policy.allow?.includes(name) || loaderNames.test(name)) throw sandboxErrors.variableNotAllowed(name);
    environment.set(name, checked(name, value));
  }
  return environment;
}

function checked(name: string, value: string): string {
  if (!wellFormedName.test(name) || typeof value !== 'string' || value.includes('\0')) {
    throw sandboxErrors.variableNotAllowed(name);
  }
  return value;
}
