// What `serve` accepts besides the settings, whose flags are rows of app/config/options.ts.

/** A program that serves one fixed profile. */
export interface FixedProfile {
  readonly program: string;
  readonly profile: string;
}

/** A flag that is not a setting. */
export interface ServeFlag {
  readonly type: 'string' | 'boolean';
  readonly about: string;
  readonly short?: string;
  readonly multiple?: boolean;
  /** Placeholder of the value in the help: `--config FILE`. */
  readonly metavar?: string;
}

export const serveFlags = {
  config: {
    type: 'string',
    metavar: 'FILE',
    about: 'read settings from this file (default: MOORING_CONFIG, otherwise your user configuration)',
  },
  gateway: {
    type: 'string',
    multiple: true,
    metavar: 'FILE',
    about: 'offer the servers of this file as well: the file of any client, or mooring.json; repeatable',
  },
  'show-setup': { type: 'boolean', about: 'print how to connect clients once the server listens' },
  help: { type: 'boolean', short: 'h', about: 'show this help' },
} as const satisfies Readonly<Record<string, ServeFlag>>;
