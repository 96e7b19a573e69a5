// The type of a setting. Its rows are in options.ts.

/** How a value is written on the command line and in the environment. */
export type OptionKind =
  | 'text'
  | 'path'
  | 'path-or-url'
  | 'number'
  | 'count'
  | 'integer'
  | 'bytes'
  | 'switch'
  | 'texts'
  | 'paths'
  | 'tree';

export interface Option {
  /** Key in the configuration file, with dots. */
  readonly key: string;
  readonly kind: OptionKind;
  readonly about: string;
  readonly section: 'what' | 'http' | 'auth' | 'console' | 'log' | 'file';
  readonly flag?: string;
  /** Placeholder of the value in the help: `--port N`. */
  readonly metavar?: string;
  readonly env?: string;
  /** Allowed values. */
  readonly oneOf?: readonly string[];
  /** What each value must be; addresses.ts checks it. */
  readonly format?: 'public-url' | 'url' | 'host' | 'origin' | 'proxy' | 'server-card';
  /** Never printed. */
  readonly secret?: boolean;
  readonly default?: unknown;
  /** A setting of HTTP or authentication that also has an effect on stdio. */
  readonly onStdio?: boolean;
  /** A security setting: an empty value is a usage error and never means "off". */
  readonly security?: boolean;
}
