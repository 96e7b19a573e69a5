// Errors in flags, settings and files of the user, as opposed to failures of the program or its environment.

/** A usage error. Printed without a stack trace; exit code 2. */
export class UsageError extends Error {}
