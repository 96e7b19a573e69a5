// What a run of Mooring is told to do, after defaults, configuration file and flags are put together. Contract only.

/** Everything a profile may need to know. Paths are absolute. */
export interface Settings {
  readonly profile: string;
  /** Where notes, counters, audit files and the worker registry live. */
  readonly dataDir: string;
  /** Folders whose files become `file://` resources; none = no files. */
  readonly roots: readonly string[];
  /** Programs `execute_command` may run; undefined = what the profile documents. */
  readonly allowedCommands: readonly string[] | undefined;
  /** Commands and workers in the default profile, which leaves them out unless asked. */
  readonly enable: { readonly commands: boolean; readonly workers: boolean };
  readonly audit: { readonly file: string; readonly fsync: 'always' | 'interval' | 'never' } | undefined;
  /** Options of packs by pack name, validated by the pack. */
  readonly packs: Readonly<Record<string, unknown>>;
  readonly plugins: readonly { readonly source: string; readonly config?: unknown }[];
}
