// Whether the mode of a file says anything about other users.

/**
 * Windows has access lists instead: there, the mode of every file that is not read-only says that all users can write it. The
 * folder of a user's profile is private.
 */
export const hasModes = process.platform !== 'win32';
