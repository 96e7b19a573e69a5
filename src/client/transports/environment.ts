// What a child process gets to see of our environment.

type Environment = Readonly<Record<string, string | undefined>>;

/** Enough to find programs, a home and a language. Tokens and keys of ours are none of a server's business. */
const allowed = (platform: NodeJS.Platform): readonly string[] =>
  platform === 'win32'
    ? [
        'APPDATA',
        'COMSPEC',
        'HOMEDRIVE',
        'HOMEPATH',
        'LOCALAPPDATA',
        'PATH',
        'PATHEXT',
        'PROCESSOR_ARCHITECTURE',
        'PROGRAMDATA',
        'PROGRAMFILES',
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'TMP',
        'USERNAME',
        'USERPROFILE',
        'WINDIR',
      ]
    : ['HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'];

/** The environment of a child: the allow-list, what is named besides, and what is given. */
export function childEnvironment(
  given: Readonly<Record<string, string>> = {},
  inherit: readonly string[] | true = [],
  own: Environment = process.env,
  platform = process.platform,
): Record<string, string> {
  const names = inherit === true ? Object.keys(own) : [...allowed(platform), ...inherit];
  const env: Record<string, string> = {};
  for (const name of names) {
    const value = own[name];
    // A value that begins so is a function for some shells: code, not data.
    if (value !== undefined && !value.startsWith('()')) env[name] = value;
  }
  // Of two names that differ only in case, Windows would take one, and not always the given one.
  const isGiven = new Set(Object.keys(given).map((name) => name.toUpperCase()));
  if (platform === 'win32') for (const name of Object.keys(env)) if (isGiven.has(name.toUpperCase())) delete env[name];
  return { ...env, ...given };
}
