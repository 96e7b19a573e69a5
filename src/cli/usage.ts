// Mistakes in how a command was called.

/** Shown as one sentence, exit code 2. */
export class UsageError extends Error {}
