// Functions of node:fs and node:path for the start-up path, loaded by name: an ES import would first build a namespace
// of all exports, which takes longer than all calls at start-up.

export const { existsSync, mkdirSync, statSync } = process.getBuiltinModule('node:fs');
export const { basename, dirname, isAbsolute, join, posix, resolve, win32 } = process.getBuiltinModule('node:path');
